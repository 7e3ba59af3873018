"""What one row changes in figures of predicted numbers; medians use ranks instead.

A figure is a function of the means of a few terms of a row (``tallies/error_variation.py``). Where rows or sums of each
cluster were kept, these means are computed without each of them. Where only sums were kept, the delta method gives the
standard error from the slopes of the figure and the covariances of the means; for many rows leaving rows out comes to
the same. The few rows that can carry a figure are kept, and give its degrees of freedom.
"""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial, reduce

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array, weighted_sum
from stakes.tallies.error_sums import ErrorRows
from stakes.tallies.error_terms import MOMENTS, OWN, TERMS, Origin, terms_of, weighed_terms
from stakes.tallies.error_variation import HEAVY, ErrorVariation, MedianSides, SizeCounts, centred, without
from stakes.tallies.on_demand import OnDemand
from stakes.tallies.parallel import run_all
from stakes.uncertainty.influence import NO_DIFFERENCE, NOT_KEPT, Found, Influence, kish, kish_of, steps_of
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling, normal

_EXACT_RANKS = 1000
"""Above this many rows the ranks around the median are taken as normal."""

_BLOCK, _SPAN = 1 << 16, 1 << 20
"""Rows that are handled at a time, and rows that a thread adds up in one task."""

MOST_GROUPS = 20_000
"""More rows of predicted numbers are left out in random groups: accurate to half a per cent of the spread."""

BEYOND_FLOATS = "the squares of these numbers lose too many digits; scale or shift them"
_ROUNDING, _NEAR = 1e-13, 1e-6
_STEP = 1e-5
"""Step of a mean, in standard deviations, for the slope of a figure."""


def of_errors(metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, sampling: Sampling) -> list[Found]:
    """Leave out one row, or one cluster, of the sums; where no rows were kept, use the covariances of their terms."""
    if (rows := sums.rows) is not None:
        groups, count = group_rows(len(rows.truth), sampling)
        weight = np.ones(len(groups)) if rows.weight is None else rows.weight
        units = kish(np.bincount(groups, weight, count))
        changes = error_changes(metrics, values, sums, groups, count + 1)  # the last group has no rows
        each = [_of_groups(one, units, value) for one, value in zip(changes, values, strict=True)]
        return resembling(each, len(groups), sampling)
    known = [i for i, metric in enumerate(metrics) if not from_rows(metric)]
    found = _of_sums([metrics[i] for i in known], [values[i] for i in known], sums, sampling)
    of_place = dict(zip(known, found, strict=True))
    return [of_place.get(i, NOT_KEPT) for i in range(len(metrics))]


def _of_groups(changes: Array, units: float, value: float) -> Found:
    """What each group changes; leaving out none but the last, which is empty, would change something by rounding."""
    scale = max(abs(value), float(np.abs(changes[:-1]).max()))
    return Influence.of_units(changes[:-1], units) if abs(changes[-1]) <= _NEAR * scale else BEYOND_FLOATS


def from_rows(metric: Metric) -> bool:
    """Whether a figure is a mean over rows that no sums of the tally give."""
    return (metric.loss is not None or metric.changes is not None) and "rows" in metric.parts


# ── figures at other means of the terms ──────────────────────────────────────────────────────────────────────────
Mean = Callable[[str], Array]
"""The means of a term, by its name, along a leading axis."""

_TERM_OF = {power: name for name, power in MOMENTS.items()}

_OF_PREDICTIONS: dict[str, Callable[[Mean], Array]] = {
    "prediction": lambda mean: mean("truth") - mean("error"),
    "prediction2": lambda mean: mean("truth2") - 2 * mean("cross") + mean("square"),
    "product": lambda mean: mean("truth2") - mean("cross"),
}
"""Means of predictions from other means; those from rows are better, they lose no digits where errors are large."""


def sums_at(sums: ErrorSums, varied: ErrorVariation, total: Array, mean: Mean, parts: Iterable[str]) -> ErrorSums:
    """Return sums with these means of the terms, along a leading axis: what figures are functions of.

    A baseline that predicts the mean moves with the truths; its absolute errors follow to first order.
    """
    wanted = {part for part in parts if sums.has(part)}
    logs = total * mean("logs") if "logs" in wanted else None
    shares = total * mean("share") if "percentages" in wanted else None

    def sums_of(mean: Mean) -> ErrorSums:
        moments = OnDemand(_TERM_OF, lambda power: total * mean(_TERM_OF[power]) if any(power) else total)
        return ErrorSums(moments, math.nan, logs, shares, weighted=True)

    if sums.baseline is None or "baseline" not in wanted:
        return sums_of(mean)
    before, pull = np.float64(sums.baseline - varied.centre), varied.balance / float(sums.total)

    def of_baseline(name: str) -> Array:
        prediction = before if sums.baseline_given else mean("truth")
        if name == "size":
            return np.asarray(mean("away") - pull * (prediction - before))
        if name == "error":
            return np.asarray(mean("truth") - prediction)
        return mean("truth2") - 2 * prediction * mean("truth") + prediction**2 if name == "square" else mean(name)

    own, constant = sums_of(mean), sums_of(of_baseline)
    return replace(own, baseline=sums.baseline, baseline_given=sums.baseline_given, constant=constant)


def _figures(
    metrics: Sequence[Metric], sums: ErrorSums, varied: ErrorVariation, total: Array, means: Mean | Array
) -> list[Array]:
    """The figures at these means; terms are the columns of a matrix."""
    mean = means if callable(means) else partial(_mean_of_term, means)
    parts = {part for metric in metrics for part in metric.parts}
    found = measure(list(metrics), sums_at(sums, varied, total, mean, parts)) if metrics else []
    return [np.broadcast_to(np.asarray(one, np.float64), len(total)) for one in found]


def _mean_of_term(means: Array, name: str) -> Array:
    found = _OF_PREDICTIONS.get(name)
    return np.asarray(means[:, TERMS.index(name)]) if found is None else found(partial(_mean_of_term, means))


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def error_changes(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, groups: Array, count: int
) -> list[Array]:
    """What figures of predicted numbers lose without each group of rows."""
    assert sums.rows is not None
    rows = sums.rows
    summed = [metric for metric in metrics if not from_rows(metric) and metric.changes is None]
    parts = {part for metric in summed for part in metric.parts}
    without = iter(measure(summed, without_each(sums, groups, count, parts)) if summed else [])
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


def without_each(sums: ErrorSums, groups: Array, count: int, parts: Iterable[str] = ()) -> ErrorSums:
    """Return the sums without each group of rows, along a leading axis; terms are added up when a figure asks.

    Truth and prediction are counted from their means, which changes no figure and keeps their digits.
    """
    assert sums.rows is not None
    rows, (varied, at) = sums.rows, variation_about_mean(sums, sums.rows)

    @cache
    def rest(name: str) -> Array:
        found = _sums_by(rows, groups, count, at, name)
        return np.asarray(found.sum() - found)

    def mean(name: str) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(rest(name) / rest("one"))

    return sums_at(sums, varied, rest("one"), mean, parts)


def without_groups(sums: ErrorSums, parts: Iterable[str] = ()) -> ErrorSums:
    """The same of sums that were kept by group."""
    varied = sums.variation
    assert varied is not None
    assert varied.clusters is not None
    total, means = without(varied.clusters.sum(axis=0), varied.clusters)
    return sums_at(sums, varied, total, partial(_mean_of_term, means), parts)


def variation_about_mean(sums: ErrorSums, rows: ErrorRows) -> tuple[ErrorVariation, Origin]:
    """The means of rows and their baseline, and how many more of them (by weight) lie above it than below."""
    centre, predicted = (float(np.average(one, weights=rows.weight)) for one in (rows.truth, rows.prediction))
    baseline = centre if sums.baseline is None else float(sums.baseline)
    balance = weighted_sum(np.sign(rows.truth - baseline), rows.weight)
    return ErrorVariation(centre, baseline, balance, None), Origin(centre, baseline, predicted)


def group_rows(n: int, sampling: Sampling) -> tuple[Array, int]:
    """Rows in their clusters, each row by itself, or very many rows in random groups."""
    if sampling.clusters is not None:
        return sampling.clusters.groups, sampling.clusters.size
    if n <= MOST_GROUPS:
        return np.arange(n), n
    if sampling.in_time:  # rows that follow each other stay together
        return np.arange(n) * MOST_GROUPS // n, MOST_GROUPS
    generator, groups = sampling.generator(), np.empty(n, np.uint16)
    for start in range(0, n, _BLOCK):
        groups[start : start + _BLOCK] = generator.integers(0, MOST_GROUPS, min(_BLOCK, n - start))
    return groups, MOST_GROUPS


def resembling(found: Sequence[Found], rows: int, sampling: Sampling) -> list[Found]:
    """The same influences, allowing for autocorrelation where rows are in time order; ``rows`` is their number."""
    if not sampling.in_time:
        return list(found)
    return [
        one if isinstance(one, str) else one.in_time(steps_of(one.changes, rows, sampling.horizon)) for one in found
    ]


def _sums_by(rows: ErrorRows, groups: Array, count: int, at: Origin, name: str) -> Array:
    """The (weighted) sum of a term over the rows of each group."""

    def of_span(start: int) -> Array:
        found = np.zeros(count)
        for first in range(start, min(start + _SPAN, len(groups)), _BLOCK):
            here = slice(first, first + _BLOCK)
            values = terms_of(rows.truth[here], rows.prediction[here], at)[name]
            found += np.bincount(groups[here], values if rows.weight is None else values * rows.weight[here], count)
        return found

    spans = run_all([partial(of_span, start) for start in range(0, len(groups), _SPAN)], len(groups))
    return np.asarray(reduce(np.add, spans))


# ── sums ─────────────────────────────────────────────────────────────────────────────────────────────────────────
@np.errstate(over="ignore", invalid="ignore")  # such figures have no interval
def _of_sums(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, sampling: Sampling
) -> Sequence[Found]:
    """What one row, or one cluster, changes in each figure of sums."""
    varied = sums.variation
    if varied is not None and varied.clusters is not None:
        units, parts = kish(varied.clusters[:, 0]), np.pad(varied.clusters, ((0, 1), (0, 0)))  # the last has no rows
        each = _figures(metrics, sums, varied, *without(varied.clusters.sum(axis=0), parts))
        return [_of_groups(value - one, units, value) for value, one in zip(values, each, strict=True)]
    if sampling.clusters is not None:
        return [NOT_KEPT] * len(metrics)
    if varied is not None and varied.products is not None:
        return [*_of_products(metrics, values, sums, varied, _means(sums, varied))]
    if sums.weighted or not sums.has("order 4"):
        return [NOT_KEPT] * len(metrics)
    varied, means = _from_moments(sums)
    found = _of_products(metrics, values, sums, varied, means)
    return [NOT_KEPT if metric.parts else one for metric, one in zip(metrics, found, strict=True)]


def _from_moments(sums: ErrorSums) -> tuple[ErrorVariation, Array]:
    """How the first terms vary together, from moments of order 4, and their means; the others are not known."""
    n, centre = float(sums.total), float(sums.mean(t=1))
    powers = [MOMENTS[name][:3] for name in TERMS if name in MOMENTS]

    def mean(a: int, e: int, t: int) -> float:  # of |error|ᵃ·errorᵉ·(truth − mean)ᵗ
        a, e = a % 2, e + a - a % 2  # |error|² is error²
        try:
            found = sum(math.comb(t, i) * (-centre) ** (t - i) * float(sums.mean(a=a, e=e, t=i)) for i in range(t + 1))
        except OverflowError:
            return math.inf
        return found if math.isfinite(found) else math.inf

    known = len(powers)
    means, products = np.full(len(TERMS), math.nan), np.full((len(TERMS), len(TERMS)), math.nan)
    means[:known] = [mean(*power) for power in powers]
    products[:known, :known] = [[n * mean(*map(int.__add__, one, other)) for one in powers] for other in powers]
    return ErrorVariation(centre, centre, 0.0, products), means


def _of_products(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, varied: ErrorVariation, means: Array
) -> Iterator[Found]:
    """The delta method; rows that were kept are left out one by one."""
    assert varied.products is not None
    covariance, total = centred(varied.products, means), float(sums.total)
    slopes = _slopes(metrics, sums, varied, means)
    terms, exact, many = np.zeros((len(means), 0)), [np.zeros(0)] * len(metrics), np.zeros(0)
    if sums.heavy is not None:
        t, p, weight, many = sums.heavy.rows
        terms, _ = weighed_terms(t, p, weight, Origin(varied.centre, varied.baseline))
        each = _figures(metrics, sums, varied, *without(total * means, terms.T))
        exact = [value - one for value, one in zip(values, each, strict=True)]
    for slope, changes, value in zip(slopes, exact, values, strict=True):
        moving = np.flatnonzero(slope)  # a term that was not counted must not matter
        slope = slope[moving] / total
        counted = varied.products[np.ix_(moving, moving)]
        square = float(slope @ covariance[np.ix_(moving, moving)] @ slope)
        linear = slope @ (terms[moving] - np.outer(means[moving], terms[0]))
        rest, balance = square - float(many @ linear**2), -float(many @ linear)
        if not np.isfinite(counted).all():
            yield BEYOND_FLOATS if np.isinf(counted).any() else NOT_KEPT
        elif square and not square > _ROUNDING * float(abs(slope) @ abs(counted) @ abs(slope)):
            yield BEYOND_FLOATS  # what is left of products that nearly cancel is their rounding
        elif not square and np.abs(changes).max(initial=0.0) > _ROUNDING * abs(value):
            yield BEYOND_FLOATS  # by chance nothing is left, and yet rows differ
        else:
            yield _influence(changes, many, max(rest, 0.0), balance, sums)


def _influence(changes: Array, many: Array, rest: float, balance: float, sums: ErrorSums) -> Influence:
    """The changes of kept rows, and of all others what is left of the variance and of the balance.

    The others were not kept because none is among the heaviest, so none is taken to change more than the last of the
    heaviest. As few of them as possible make up the rest, which errs towards too few degrees of freedom.
    """
    units = sums.equal_rows
    if sums.heavy is None:
        return Influence.of_error(math.sqrt(rest), units, units - 1)
    most, own = float(np.sort(np.abs(changes))[-min(HEAVY, len(changes))]), many > 0
    others = max(sums.heavy.all_rows - float(many.sum()), 0.0)
    few = min(math.sqrt(rest) / most, math.sqrt(others)) ** 2 if most > 0 else others
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


def _slopes(metrics: Sequence[Metric], sums: ErrorSums, varied: ErrorVariation, means: Array) -> list[Array]:
    """How each figure moves with the mean of each term; not at all with one that never varies, as the first."""
    assert varied.products is not None
    spread = np.diagonal(centred(varied.products, means)) / varied.products[0, 0]
    scale = np.where(spread < 0, means**2, 1.0)  # a variance below 0 is the rounding of a term that is the same in all
    steps = np.diag(_STEP * np.sqrt(np.where(spread > 0, spread, scale)))
    moved = means + np.concatenate([steps, -steps])
    moved[:, 0] = 1.0
    found = _figures(metrics, sums, varied, np.full(len(moved), float(sums.total)), moved)
    each = ((up - down) / (2 * np.diagonal(steps)) for up, down in (np.split(one, 2) for one in found))
    lost = np.where(spread == 0, 0.0, math.nan)
    return [np.where((np.abs(spread) > 0) | (slopes == 0), slopes, lost) for slopes in each]


# ── two models ───────────────────────────────────────────────────────────────────────────────────────────────────
def of_two_sums(
    metric: Metric, values: Sequence[float], both: Sequence[ErrorSums], own: Array | None, sampling: Sampling
) -> Found:
    """Return what one row, or one cluster, changes in the difference of a figure between two models.

    ``own`` are the sums of products of the terms that depend on what the two predict; of clusters it needs none.
    """
    found = [of_errors([metric], [value], sums, sampling)[0] for value, sums in zip(values, both, strict=True)]
    one, other = found
    if isinstance(one, str) or isinstance(other, str):
        return one if isinstance(one, str) else other
    if own is None:
        return replace(one, changes=one.changes - other.changes)
    square, apart = _squared_changes(metric, both, own)
    units, total = both[0].equal_rows, float(one.counts.sum())
    if square <= _ROUNDING * apart:
        return Influence(np.zeros(1), np.array([total]), total, units - 1)
    # as few rows make up the variance as in the figure with fewer; one that no row changes has a variance of rounding
    least = _NEAR * max(one.error, other.error)
    few = total / (1 + 2 * total / min(side.degrees for side in (one, other) if side.error > least))
    change = math.sqrt(square / few)
    return Influence(np.array([change, -change, 0.0]), np.array([few / 2, few / 2, total - few]), total, units - 1)


def _squared_changes(metric: Metric, both: Sequence[ErrorSums], own: Array) -> tuple[float, float]:
    """The sum of squared changes of a difference, and what it would be for independent rows."""
    slopes, means, products = [], [], []
    for sums in both:
        varied = sums.variation
        assert varied is not None
        assert varied.products is not None
        means.append(_means(sums, varied))
        slopes.append(_slopes([metric], sums, varied, means[-1])[0] / float(sums.total))
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


# ── medians ──────────────────────────────────────────────────────────────────────────────────────────────────────
def median_interval(metric: Metric, value: float, sums: ErrorSums, sampling: Sampling) -> Interval:
    """Return the limits of the median |error|."""
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
        if sizes.lower[0] == sizes.upper[-1]:
            return none(NO_DIFFERENCE)
        around = sizes.around_median
        note = "" if around[0] == around[1] else f"it lies between {around[0]:.8g} and {around[1]:.8g}"
        return Interval(sizes.at_rank(low)[0], sizes.at_rank(high)[1], "order statistics, in bins", note)
    places = rows.ranked(low, high)
    if places[0] == places[-1] and rows.sizes.min() == rows.sizes.max():
        return none(NO_DIFFERENCE)
    return Interval(float(places[0]), float(places[-1]), "order statistics")


def median_changes(rows: ErrorRows, median: float) -> Array:
    """What each row changes in the median |error|, scaled so that it agrees with the interval of the median."""
    signs = np.sign(rows.sizes - median)
    if rows.weight is None:
        n = len(signs)
        low = max(_rank_below(n, 0.025), 0)
        places = rows.ranked(low, n - 1 - low)
        return np.asarray(signs * _change_of_median(n, low, float(places[-1] - places[0])))
    order = np.argsort(rows.sizes)
    sizes, weight = rows.sizes[order], rows.weight.astype(np.float64)
    return signs * weight * _weighted_change(SizeCounts(sizes, sizes, weight[order]), weight, weight**2)


def _weighted_change(sizes: SizeCounts, weight: Array, squares: Array) -> float:
    """By how much a row moves the median |error| for each unit of weight; from sums of weights and of their squares."""
    units, unit = kish_of(weight, squares), float(squares.sum() / weight.sum())
    low = max(_rank_below(units, 0.025), 0)
    ends = (sizes.near_rank(rank * unit, unit) for rank in (low, units - 1 - low))
    return _change_of_median(units, low, -reduce(operator.sub, ends)) / unit


def _change_of_median(units: float, low: int, apart: float) -> float:
    """By how much a row moves the median of so many, if sizes lie so far apart between this rank and that from the end.

    Price & Bonett (2001), Journal of Statistical Computation and Simulation 68.
    """
    reach = (units / 2 - low) / (math.sqrt(units) / 2)  # how many standard errors these ranks lie away
    return apart / (2 * reach * math.sqrt(units)) if reach > 0 else 0.0


def of_two_medians(both: Sequence[ErrorSums], sides: MedianSides) -> Found:
    """What one row, or one cluster, changes in the difference of the median |errors| of two models."""
    moved = 0.0
    for sums, signs, way in zip(both, sides.signs, (1.0, -1.0), strict=True):
        if sums.sizes is None:
            return NOT_KEPT
        moved = moved + way * signs * _weighted_change(sums.sizes, sides.weight, sides.squares)
    if sides.clusters is not None:
        weight = np.bincount(sides.clusters, sides.weight)
        return Influence.of_units(np.bincount(sides.clusters, moved * sides.weight), kish(weight))
    unit, units = sides.squares / sides.weight, kish_of(sides.weight, sides.squares)
    return Influence(moved * unit, sides.weight / unit, units, units - 1)


def _rank_below(n: float, tail: float) -> int:
    """The largest rank, counting from 0, below which the median lies with at most this probability; −1 if none."""
    if n > _EXACT_RANKS:
        return math.floor(n / 2 - normal(1 - tail) * math.sqrt(n) / 2) - 1
    from scipy.special import bdtr

    return int(np.searchsorted(bdtr(np.arange(int(n) // 2 + 1), int(n), 0.5), tail, "right")) - 1
