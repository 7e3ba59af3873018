"""What one row changes in figures of predicted numbers; of medians the ranks tell more."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array, weighted_sum
from stakes.tallies.error_sums import ErrorRows, Power, percentage
from stakes.tallies.error_variation import HEAVY, OWN, ErrorVariation, centred, terms_of_rows, without
from stakes.tallies.moments import differences
from stakes.tallies.on_demand import OnDemand
from stakes.tallies.parallel import run_all
from stakes.uncertainty.influence import NO_DIFFERENCE, NOT_KEPT, Found, Influence, kish
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling, normal

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
    summed = [metric for metric in metrics if not from_rows(metric)]
    parts = {part for metric in summed for part in metric.parts}
    without = iter(measure(summed, without_each(sums, rows, groups, count, parts)) if summed else [])
    found = []
    for metric, value in zip(metrics, values, strict=True):
        if from_rows(metric):
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


# ── number_sums: What one row changes in figures of predicted numbers of which only sums were kept.

_ROUNDING = 1e-13
_STEP = 1e-5
"""By so many standard deviations a mean is moved to see how a figure follows."""


def of_sums(metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, sampling: Sampling) -> list[Found]:
    """Return what one row, or one cluster, changes in each figure."""
    varied = sums.variation
    assert varied is not None
    known = [metric for metric in metrics if not from_rows(metric)]
    here = [value for metric, value in zip(metrics, values, strict=True) if not from_rows(metric)]
    if varied.clusters is not None:
        units = kish(varied.clusters[:, 0])
        each = _without(known, here, sums, varied.clusters.sum(axis=0), varied.clusters)
        found: Iterator[Found] = iter([Influence.of_units(changes, units) for changes in each])
    elif sampling.clusters is None and varied.products is not None:
        found = iter([*_of_rows(known, here, sums, varied, varied.products)])
    else:
        return [NOT_KEPT] * len(metrics)
    return [NOT_KEPT if from_rows(metric) else next(found) for metric in metrics]


def of_two_sums(
    metric: Metric, values: Sequence[float], both: Sequence[ErrorSums], own: Array | None, sampling: Sampling
) -> Found:
    """Return what one row, or one cluster, changes in the difference of a figure between two models.

    ``own`` are the sums of products of the terms that depend on what the two predict; of clusters it needs none.
    """
    found = [of_sums([metric], [value], sums, sampling)[0] for value, sums in zip(values, both, strict=True)]
    one, other = found
    if isinstance(one, str) or isinstance(other, str) or metric.interval == "median":
        return NOT_KEPT
    if own is None:
        return replace(one, changes=one.changes - other.changes)
    square, apart = _squared_changes(metric, both, own)
    units, total = both[0].equal_rows, float(one.counts.sum())
    if square <= _ROUNDING * apart:
        return Influence(np.zeros(1), np.array([total]), total, units - 1)
    # as few rows make most of the variance as make it in either figure
    few = total / (1 + 2 * total / min(one.degrees, other.degrees))
    change = math.sqrt(square / few)
    return Influence(np.array([change, -change, 0.0]), np.array([few / 2, few / 2, total - few]), total, units - 1)


def _squared_changes(metric: Metric, both: Sequence[ErrorSums], own: Array) -> tuple[float, float]:
    """What rows change in a difference, squared and added up; and the same were the two not of the same rows."""
    slopes, means, products = [], [], []
    for sums in both:
        varied = sums.variation
        assert varied is not None
        assert varied.products is not None
        mean = _means(sums, varied)
        scale = np.sqrt(np.maximum(np.diagonal(centred(varied.products, mean)), 0.0) / varied.products[0, 0])
        slopes.append(np.append(0.0, _slopes([metric], sums, mean, scale)[0]) / float(sums.total))
        means.append(mean)
        products.append(varied.products)
    one, other = products
    cross = one.copy()  # terms of the truth are the same of both models
    cross[:, [*OWN]] = other[:, [*OWN]]
    cross[[*OWN]] = one[[*OWN]]
    cross[np.ix_(OWN, OWN)] = own
    parts = [one, other, cross]
    sides = [(0, 0), (1, 1), (0, 1)]
    found = [
        _bilinear(product, means[a], means[b], slopes[a], slopes[b])
        for product, (a, b) in zip(parts, sides, strict=True)
    ]
    return found[0] + found[1] - 2 * found[2], found[0] + found[1]


def _bilinear(products: Array, mean: Array, other: Array, slope: Array, tilt: Array) -> float:
    """How two sums of terms, each times a slope and about their means, vary together."""
    rows, columns = np.flatnonzero(slope), np.flatnonzero(tilt)  # a term that was not counted must not matter
    about = products - np.outer(mean, products[0]) - np.outer(products[:, 0], other)
    about = about + np.outer(mean, other) * products[0, 0]
    return float(slope[rows] @ about[np.ix_(rows, columns)] @ tilt[columns])


def from_rows(metric: Metric) -> bool:
    """Whether a figure is a mean over rows that no sums of the tally give."""
    return metric.loss is not None and "rows" in metric.parts


def _of_rows(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, varied: ErrorVariation, products: Array
) -> Iterator[Found]:
    """By the delta method; rows that were kept are left out one by one."""
    means, total = _means(sums, varied), float(sums.total)
    covariance = centred(products, means)
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 0.0) / products[0, 0])
    slopes = _slopes(metrics, sums, means, scale)
    terms, exact, many = np.zeros((len(means), 0)), [np.zeros(0)] * len(metrics), np.zeros(0)
    if sums.heavy is not None:
        t, p, weight, many = sums.heavy.rows
        terms, _ = terms_of_rows(t, p, weight, varied.centre, varied.baseline)
        exact = _without(metrics, values, sums, total * means, terms.T)
    for slope, changes in zip(slopes, exact, strict=True):
        moving = np.flatnonzero(slope) + 1  # a term that was not counted must not matter
        slope = slope[moving - 1] / total
        square = float(slope @ covariance[np.ix_(moving, moving)] @ slope)
        linear = slope @ (terms[moving] - np.outer(means[moving], terms[0]))
        rest, balance = square - float(many @ linear**2), -float(many @ linear)
        yield _influence(changes, many, max(rest, 0.0), balance, sums) if math.isfinite(rest) else NOT_KEPT


def _without(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, totals: Array, parts: Array
) -> list[Array]:
    """What figures lose without each of these rows or clusters, whose terms are given."""
    found = measure(list(metrics), sums_at(sums, *without(totals, parts)))
    each = [np.broadcast_to(np.asarray(one, np.float64), len(parts)) for one in found]
    return [value - figures for value, figures in zip(values, each, strict=True)]


def _influence(changes: Array, many: Array, rest: float, balance: float, sums: ErrorSums) -> Influence:
    """Rows that were kept change what they change, all others together the rest of the variance and of the balance.

    Those were not kept since they are not among the heaviest in any way, so none of them is taken to change more than
    the last of the heaviest; as few as can make up the rest make it up, so that degrees of freedom are rather too few.
    """
    units = sums.equal_rows
    if sums.heavy is None:
        return Influence.of_error(math.sqrt(rest), units, units - 1)
    most, own = float(np.sort(np.abs(changes))[-min(HEAVY, len(changes))]), many > 0
    others = max(sums.heavy.all_rows - float(many.sum()), 0.0)
    few = min(rest / most**2, others) if most > 0 else others
    size = math.sqrt(rest / few) if few > 0 else 0.0
    shift = balance / others if others else 0.0  # to first order all changes add up to nothing
    each = np.concatenate([changes[own], np.array([size, -size, 0.0]) + shift])
    counts = np.concatenate([many[own], [few / 2, few / 2, others - few]])
    return Influence(each, counts, float(sums.heavy.all_rows), units - 1)


def _means(sums: ErrorSums, varied: ErrorVariation) -> Array:
    """The means of the terms, from the sums of a tally."""
    total, centre = float(sums.total), varied.centre
    away = math.nan if sums.constant is None else float(sums.constant.mean(a=1))
    logs, shares = (math.nan if part is None else float(part) / total for part in (sums.squared_logs, sums.percentages))
    t, e = float(sums.mean(t=1) - Fraction(centre)), float(sums.mean(e=1))
    cross = (float(sums.spread("t", "t")) - float(sums.spread("t", "p"))) / total + t * e
    square = float(sums.spread("t")) / total + t * t
    means = [1.0, float(sums.mean(a=1)), e, float(sums.mean(e=2)), t, square, cross, away, logs, shares]
    return np.array(means)


def _slopes(metrics: Sequence[Metric], sums: ErrorSums, means: Array, scale: Array) -> list[Array]:
    """How each figure moves with the mean of each term but the first."""
    steps = _STEP * np.where(scale > 0, scale, 1.0)[1:]
    moved = np.broadcast_to(means, (2 * len(steps), len(means))).copy()
    moved[: len(steps), 1:] += np.diag(steps)
    moved[len(steps) :, 1:] -= np.diag(steps)
    found = measure(list(metrics), sums_at(sums, np.full(len(moved), float(sums.total)), moved))
    each = [np.broadcast_to(np.asarray(one, np.float64), len(moved)) for one in found]
    return [(one[: len(steps)] - one[len(steps) :]) / (2 * steps) for one in each]


def sums_at(sums: ErrorSums, total: Array, means: Array) -> ErrorSums:
    """Return sums with these means of the terms, along a leading axis: what figures are functions of.

    The mean that a baseline says moves with the truths; what that does to its absolute errors is added to first order.
    """
    _, size, error, square, t, t2, cross, away, logs, share = means.T
    varied = sums.variation
    assert varied is not None
    n, one = total, np.ones(len(total))

    def moments(size: Array, error: Array, square: Array) -> dict[tuple[int, int, int, int], Array]:
        first = {(0, 0, 0, 0): one, (1, 0, 0, 0): size, (0, 1, 0, 0): error, (0, 2, 0, 0): square}
        others = {(0, 0, 1, 0): t, (0, 0, 2, 0): t2}
        return {power: n * mean for power, mean in {**first, **others}.items()}

    constant = None
    if sums.baseline is not None:
        before, pull = sums.baseline - varied.centre, varied.balance / float(sums.total)
        said = before if sums.baseline_given else t
        lost = moments(away - pull * (said - before), t - said, t2 - 2 * said * t + said**2)
        constant = ErrorSums(lost, math.nan, n * logs, n * share, weighted=True)
    own = moments(size, error, square)
    own |= {(0, 0, 0, 1): n * (t - error), (0, 0, 0, 2): n * (t2 - 2 * cross + square), (0, 0, 1, 1): n * (t2 - cross)}
    parts = {"baseline": sums.baseline, "baseline_given": sums.baseline_given, "constant": constant}
    return ErrorSums(own, math.nan, n * logs, n * share, weighted=True, **parts)  # type: ignore[arg-type]
