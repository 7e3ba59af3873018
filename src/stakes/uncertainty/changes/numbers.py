"""What one row changes in figures of predicted numbers; of medians the ranks tell more."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array, weighted_sum
from stakes.tallies.error_sums import ErrorRows, Power, percentage
from stakes.tallies.moments import differences
from stakes.tallies.on_demand import OnDemand
from stakes.tallies.parallel import run_all
from stakes.uncertainty.changes.number_sums import from_rows, of_sums
from stakes.uncertainty.influence import NO_DIFFERENCE, NOT_KEPT, Found, Influence, kish
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.quantiles import normal
from stakes.uncertainty.sampling import Sampling

_EXACT_RANKS = 1000
"""Of more rows the ranks around the median are nearly normal."""

_BLOCK, _SPAN = 1 << 16, 1 << 20
"""Rows that are handled at a time, and that a thread adds up before it takes others."""

MOST_GROUPS = 20_000
"""More rows of predicted numbers are left out in random groups, which tell their spread to half a per cent."""


def of_errors(metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, sampling: Sampling) -> list[Found]:
    """Leave out one row, or one cluster, of the sums; where no rows were kept, ask the sums of higher powers."""
    rows = sums.rows
    if rows is None:
        if sums.variation is not None:
            return of_sums(metrics, values, sums, sampling)
        return [_of_moments(metric, value, sums, sampling) for metric, value in zip(metrics, values, strict=True)]
    groups, count = _groups(rows, sampling)
    units = kish(_sums_by(rows, groups, count, lambda truth, prediction, error: np.ones(len(truth))))
    found = error_changes(metrics, values, sums, groups, count)
    return [Influence.of_units(changes, units) for changes in found]


def error_changes(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, groups: Array, count: int
) -> list[Array]:
    """What figures of predicted numbers lose without each group of rows."""
    assert sums.rows is not None
    rows = sums.rows
    summed = [metric for metric in metrics if not from_rows(metric) and metric.changes is None]
    parts = {part for metric in summed for part in metric.parts}
    without = iter(measure(summed, without_each(sums, rows, groups, count, parts)) if summed else [])
    found = []
    for metric, value in zip(metrics, values, strict=True):
        if metric.changes is not None:
            found.append(metric.changes(sums, groups, count, **metric.parameters))
        elif from_rows(metric):
            loss = metric.row_losses(rows.truth.astype(np.float64), rows.prediction)
            weight = np.ones(len(loss)) if rows.weight is None else rows.weight.astype(np.float64)
            lost, gone = (np.bincount(groups, column, count) for column in (weight * loss, weight))
            found.append(value - (lost.sum() - lost) / (gone.sum() - gone))
        else:
            found.append(value - np.asarray(next(without), np.float64))
    return found


def _groups(rows: ErrorRows, sampling: Sampling) -> tuple[Array, int]:
    if sampling.clusters is not None:
        return sampling.clusters.groups, sampling.clusters.size
    return group_rows(len(rows.truth), sampling)


def group_rows(n: int, sampling: Sampling) -> tuple[Array, int]:
    """Each row by itself, or very many rows in random groups."""
    if n <= MOST_GROUPS:
        return np.arange(n), n
    generator, groups = sampling.generator(), np.empty(n, np.uint16)
    for start in range(0, n, _BLOCK):
        groups[start : start + _BLOCK] = generator.integers(0, MOST_GROUPS, min(_BLOCK, n - start))
    return groups, MOST_GROUPS


def without_each(sums: ErrorSums, rows: ErrorRows, groups: Array, count: int, parts: Collection[str]) -> ErrorSums:
    """Return the sums without each group of rows, along a leading axis, with the parts that figures ask for.

    Truth and prediction are moved by the mean truth, which changes no figure and keeps their digits. The mean that the
    baseline says moves with the rows, too: what that does to its absolute errors is added to first order.
    """
    centre = float(np.average(rows.truth, weights=rows.weight))

    def total(column: Column) -> Array:
        found = _sums_by(rows, groups, count, column)
        return np.asarray(found.sum() - found)

    logs = shares = constant = None
    if "logs" in parts and sums.squared_logs is not None and not math.isnan(sums.squared_logs):
        logs = total(lambda truth, prediction, error: (np.log1p(truth) - np.log1p(prediction)) ** 2)
    if "percentages" in parts and sums.percentages is not None:
        shares = total(lambda truth, prediction, error: percentage(np.abs(error), truth))

    def moments(power: Power) -> Array:
        return total(lambda truth, prediction, error: _PRODUCTS[power](truth - centre, error))

    def moments_of_baseline(power: Power) -> Array:
        return total(lambda truth, prediction, error: _PRODUCTS[power](truth - centre, truth - sums.baseline))

    own = OnDemand(_PRODUCTS, moments)
    if "baseline" in parts and sums.baseline is not None:
        others: Mapping[Power, Array] = OnDemand(_PRODUCTS, moments_of_baseline)
        if not sums.baseline_given:
            rest = own[0, 0, 0, 0]
            moved = own[0, 0, 1, 0] / rest
            squares = others[0, 2, 0, 0] - rest * moved**2
            sizes = others[1, 0, 0, 0] - _sum_of_signs(rows, centre) * moved
            others = {(0, 0, 0, 0): rest, (0, 2, 0, 0): squares, (1, 0, 0, 0): sizes}
        constant = ErrorSums(others, math.nan, logs, shares, weighted=True)
    whole = ErrorSums(own, math.nan, logs, shares, weighted=True)
    return replace(whole, baseline=sums.baseline, baseline_given=sums.baseline_given, constant=constant)


Column = Callable[[Array, Array, Array], Array]
"""What is made of truth, prediction and error of some rows."""


def _sums_by(rows: ErrorRows, groups: Array, count: int, column: Column) -> Array:
    """The (weighted) sum of a column over the rows of each group."""

    def of_span(start: int) -> Array:
        found = np.zeros(count)
        for first in range(start, min(start + _SPAN, len(groups)), _BLOCK):
            here = slice(first, first + _BLOCK)
            truth, prediction = rows.truth[here], rows.prediction[here]
            error = differences(truth, prediction)
            values = column(truth.astype(np.float64, copy=False), prediction.astype(np.float64, copy=False), error)
            found += np.bincount(groups[here], values if rows.weight is None else values * rows.weight[here], count)
        return found

    spans = run_all([partial(of_span, start) for start in range(0, len(groups), _SPAN)], len(groups))
    return np.asarray(reduce(np.add, spans))


def _sum_of_signs(rows: ErrorRows, centre: float) -> float:
    """How many more rows (by weight) lie above a number than below it."""
    if rows.weight is None:
        return float(np.count_nonzero(rows.truth > centre) - np.count_nonzero(rows.truth < centre))
    return weighted_sum(np.sign(rows.truth - centre), rows.weight)


_PRODUCTS: dict[Power, Callable[[Array, Array], Array]] = {
    (0, 0, 0, 0): lambda t, error: np.ones(t.shape),
    (1, 0, 0, 0): lambda t, error: np.abs(error),
    (0, 1, 0, 0): lambda t, error: error,
    (0, 2, 0, 0): lambda t, error: error**2,
    (0, 0, 1, 0): lambda t, error: t,
    (0, 0, 2, 0): lambda t, error: t**2,
    (0, 0, 0, 1): lambda t, error: t - error,
    (0, 0, 0, 2): lambda t, error: (t - error) ** 2,
    (0, 0, 1, 1): lambda t, error: t * (t - error),
}
"""The products of |error|, error, truth and prediction that figures need."""


def moments_of(t: Array, error: Array, total: Callable[[Array], Array]) -> Mapping[Power, Array]:
    """Return what ``total`` makes of each product, once it is asked for."""
    t = np.broadcast_to(t, error.shape)
    return OnDemand(_PRODUCTS, lambda power: total(_PRODUCTS[power](t, error)))


_MEANS: tuple[Power, ...] = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 2, 0, 0), (0, 0, 1, 0), (0, 0, 2, 0))
"""The sums whose products of two are among those of order 4."""


def _of_moments(metric: Metric, value: float, sums: ErrorSums, sampling: Sampling) -> Found:
    """By the delta method: how the figure moves with each mean, and how these vary together."""
    if sampling.clusters is not None or sums.weighted or metric.parts or not sums.has("order 4"):
        return NOT_KEPT
    n, centre = float(sums.total), float(sums.mean(t=1))

    def mean(a: int, e: int, t: int) -> float:  # of |error|ᵃ·errorᵉ·(truth − mean)ᵗ
        a, e = a % 2, e + a - a % 2  # |error|² is error²
        return float(
            sum(math.comb(t, i) * (-centre) ** (t - i) * float(sums.mean(a=a, e=e, t=i)) for i in range(t + 1))
        )

    means = np.array([mean(*power[:3]) for power in _MEANS])
    covariance = np.array([[mean(*map(int.__add__, one[:3], other[:3])) for one in _MEANS] for other in _MEANS])
    covariance -= np.outer(means, means)
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
    moved = np.broadcast_to(means, (2 * len(means), len(means))) + np.concatenate(
        [sign * 1e-5 * np.diag(scale) for sign in (1.0, -1.0)]
    )
    moments = {power: n * moved[:, i] for i, power in enumerate(_MEANS)}
    sums = ErrorSums({(0, 0, 0, 0): np.full(len(moved), n), **moments}, math.nan, weighted=True)
    up, down = np.split(np.asarray(measure([metric], sums)[0], np.float64), 2)
    slopes = (up - down) / (2e-5 * scale)
    variance = float(slopes @ covariance @ slopes)
    if not math.isfinite(variance):
        return NOT_KEPT
    return Influence.of_error(math.sqrt(max(variance, 0.0) / (n - 1)), n, n - 1)


# ── medians ──────────────────────────────────────────────────────────────────────────────────────────────────────
def median_intervals(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, sampling: Sampling
) -> list[Interval]:
    """Return the interval of the median |error|."""
    return [_median_interval(sums, sampling)] * len(metrics)


def _median_interval(sums: ErrorSums, sampling: Sampling) -> Interval:
    rows, sizes = sums.rows, sums.sizes
    if rows is None and sizes is None:
        return none(NOT_KEPT)
    if sums.weighted or sampling.clusters is not None:
        return none("ranks of weighted or clustered rows have no simple law")
    n = int(sums.total)
    low = _rank_below(n, sampling.tail)
    if low < 0:
        return none(f"{n} rows are too few for the ranks around the median")
    high = n - 1 - low
    if rows is None:
        assert sizes is not None
        around = sizes.around_median
        note = "" if around[0] == around[1] else f"it lies between {around[0]:.8g} and {around[1]:.8g}"
        return Interval(sizes.at_rank(low)[0], sizes.at_rank(high)[1], "order statistics, in bins", note)
    places = rows.ranked(low, high)
    if places[0] == places[-1] and rows.sizes.min() == rows.sizes.max():
        return none(NO_DIFFERENCE)
    return Interval(float(places[0]), float(places[-1]), "order statistics")


def median_changes(rows: ErrorRows, median: float) -> Array:
    """What each row changes in the median |error|, which ranks alone do not tell: by where its interval ends.

    A row on one side of the median moves it by as much as one on the other side; how much follows from the ranks
    between which the median lies (Price & Bonett, 2001, Journal of Statistical Computation and Simulation 68).
    """
    n = len(rows.sizes)
    low = max(_rank_below(n, 0.025), 0)
    high = n - 1 - low
    places = rows.ranked(low, high)
    reach = (n / 2 - low) / (math.sqrt(n) / 2)  # how many standard errors these ranks lie away
    error = float(places[-1] - places[0]) / (2 * reach) if reach > 0 else 0.0
    weight = np.ones(n) if rows.weight is None else rows.weight / rows.weight.mean()
    return np.asarray(weight * np.sign(rows.sizes - median) * error / math.sqrt(n))


def _rank_below(n: int, tail: float) -> int:
    """The largest rank, counting from 0, below which the median lies with at most this probability; −1 if none."""
    if n > _EXACT_RANKS:
        return math.floor(n / 2 - normal(1 - tail) * math.sqrt(n) / 2) - 1
    from scipy.special import bdtr

    return int(np.searchsorted(bdtr(np.arange(n // 2 + 1), n, 0.5), tail, "right")) - 1
