"""What one row changes in figures of predicted numbers; of medians the ranks tell more."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array, weighted_sum
from stakes.tallies.error_sums import ErrorRows, Power, percentage
from stakes.uncertainty.influence import NO_DIFFERENCE, NOT_KEPT, Found, Influence, kish
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.quantiles import normal
from stakes.uncertainty.sampling import Sampling

_EXACT_RANKS = 1000
"""Of more rows the ranks around the median are nearly normal."""

MOST_GROUPS = 20_000
"""More rows of predicted numbers are left out in random groups, which tell their spread to half a per cent."""


def of_errors(metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, sampling: Sampling) -> list[Found]:
    """Leave out one row, or one cluster, of the sums; where no rows were kept, ask the sums of higher powers."""
    rows = sums.rows
    if rows is None:
        return [_of_moments(metric, value, sums, sampling) for metric, value in zip(metrics, values, strict=True)]
    groups, count = _groups(rows, sampling)
    weight = np.ones(len(groups)) if rows.weight is None else rows.weight.astype(np.float64)
    units = kish(np.bincount(groups, weight))
    found = error_changes(metrics, values, sums, groups, count)
    return [Influence.of_units(changes, units) for changes in found]


def error_changes(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, groups: Array, count: int
) -> list[Array]:
    """What figures of predicted numbers lose without each group of rows."""
    assert sums.rows is not None
    rows = sums.rows
    summed = [metric for metric in metrics if not _from_rows(metric)]
    without = iter(measure(summed, without_each(sums, rows, groups, count)) if summed else [])
    found = []
    for metric, value in zip(metrics, values, strict=True):
        if _from_rows(metric):
            loss = metric.row_losses(rows.truth.astype(np.float64), rows.prediction)
            weight = np.ones(len(loss)) if rows.weight is None else rows.weight.astype(np.float64)
            lost, gone = (np.bincount(groups, column, count) for column in (weight * loss, weight))
            found.append(value - (lost.sum() - lost) / (gone.sum() - gone))
        else:
            found.append(value - np.asarray(next(without), np.float64))
    return found


def _from_rows(metric: Metric) -> bool:
    """Whether a figure is a mean over rows that no sums of the tally give."""
    return metric.loss is not None and "rows" in metric.parts


def _groups(rows: ErrorRows, sampling: Sampling) -> tuple[Array, int]:
    if sampling.clusters is not None:
        return sampling.clusters.groups, sampling.clusters.size
    return group_rows(len(rows.truth), sampling)


def group_rows(n: int, sampling: Sampling) -> tuple[Array, int]:
    """Each row by itself, or very many rows in random groups."""
    if n <= MOST_GROUPS:
        return np.arange(n), n
    return sampling.generator().integers(0, MOST_GROUPS, n), MOST_GROUPS


def without_each(sums: ErrorSums, rows: ErrorRows, groups: Array, count: int) -> ErrorSums:
    """Return the sums without each group of rows, along a leading axis.

    Truth and prediction are moved by the mean truth, which changes no figure and keeps their digits. The mean that the
    baseline says moves with the rows, too: what that does to its absolute errors is added to first order.
    """
    weight = np.ones(len(groups)) if rows.weight is None else rows.weight.astype(np.float64)

    def without(column: Array) -> Array:
        found = np.bincount(groups, weight * column, count)
        return np.asarray(found.sum() - found)

    truth, prediction = rows.truth.astype(np.float64), rows.prediction.astype(np.float64)
    centre = float(np.average(truth, weights=weight))
    size, error = rows.sizes, np.where(truth >= prediction, rows.sizes, -rows.sizes)
    t = truth - centre
    logs = None
    if sums.squared_logs is not None and not math.isnan(sums.squared_logs):
        logs = without((np.log1p(truth) - np.log1p(prediction)) ** 2)
    shares = None if sums.percentages is None else without(percentage(size, truth))
    constant = None
    if sums.baseline is not None:
        moments = moments_of(t, truth - sums.baseline, without)
        if not sums.baseline_given:
            rest = without(np.ones(len(t)))
            moved = without(t) / rest
            moments[0, 2, 0, 0] = moments[0, 2, 0, 0] - rest * moved**2
            moments[1, 0, 0, 0] = moments[1, 0, 0, 0] - weighted_sum(np.sign(t), weight) * moved
        constant = ErrorSums(moments, math.nan, logs, shares, weighted=True)
    whole = ErrorSums(moments_of(t, error, without), math.nan, logs, shares, weighted=True)
    return replace(whole, baseline=sums.baseline, baseline_given=sums.baseline_given, constant=constant)


def moments_of(t: Array, error: Array, total: Callable[[Array], Array]) -> dict[Power, Array]:
    """Return what ``total`` makes of the products of |error|, error, truth and prediction that figures need."""
    t = np.broadcast_to(t, error.shape)
    p = t - error
    products = {
        (0, 0, 0, 0): np.ones(t.shape),
        (1, 0, 0, 0): np.abs(error),
        (0, 1, 0, 0): error,
        (0, 2, 0, 0): error**2,
        (0, 0, 1, 0): t,
        (0, 0, 2, 0): t**2,
        (0, 0, 0, 1): p,
        (0, 0, 0, 2): p**2,
        (0, 0, 1, 1): t * p,
    }
    return {power: total(column) for power, column in products.items()}


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
    rows = sums.rows
    if rows is None:
        return [none(NOT_KEPT)] * len(metrics)
    if rows.weight is not None or sampling.clusters is not None:
        return [none("ranks of weighted or clustered rows have no simple law")] * len(metrics)
    if rows.sizes.min() == rows.sizes.max():
        return [none(NO_DIFFERENCE)] * len(metrics)
    n = len(rows.sizes)
    low = _rank_below(n, sampling.tail)
    if low < 0:
        return [none(f"{n} rows are too few for the ranks around the median")] * len(metrics)
    high = n - 1 - low
    places = np.partition(rows.sizes, (low, high))
    return [Interval(float(places[low]), float(places[high]), "order statistics")] * len(metrics)


def median_changes(rows: ErrorRows, median: float) -> Array:
    """What each row changes in the median |error|, which ranks alone do not tell: by where its interval ends.

    A row on one side of the median moves it by as much as one on the other side; how much follows from the ranks
    between which the median lies (Price & Bonett, 2001, Journal of Statistical Computation and Simulation 68).
    """
    n = len(rows.sizes)
    low = max(_rank_below(n, 0.025), 0)
    high = n - 1 - low
    places = np.partition(rows.sizes, (low, high))
    reach = (n / 2 - low) / (math.sqrt(n) / 2)  # how many standard errors these ranks lie away
    error = float(places[high] - places[low]) / (2 * reach) if reach > 0 else 0.0
    weight = np.ones(n) if rows.weight is None else rows.weight / rows.weight.mean()
    return np.asarray(weight * np.sign(rows.sizes - median) * error / math.sqrt(n))


def _rank_below(n: int, tail: float) -> int:
    """The largest rank, counting from 0, below which the median lies with at most this probability; −1 if none."""
    if n > _EXACT_RANKS:
        return math.floor(n / 2 - normal(1 - tail) * math.sqrt(n) / 2) - 1
    from scipy.special import bdtr

    return int(np.searchsorted(bdtr(np.arange(n // 2 + 1), n, 0.5), tail, "right")) - 1
