"""Segments against the rest: a figure of each segment, that of all other rows, and whether they differ."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import Confusion, ErrorSums, ScoreTable, Tally
from stakes.tallies.arithmetic import Array, weighted_sum
from stakes.tallies.error_terms import TERMS
from stakes.tallies.error_variation import HeavyRows
from stakes.tallies.on_demand import OnDemand
from stakes.uncertainty.bootstrap import limits_of_tables
from stakes.uncertainty.influence import Influence
from stakes.uncertainty.interval import Interval, wilson
from stakes.uncertainty.intervals import intervals, method_of
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.score_intervals import area_interval
from stakes.uncertainty.scores import LossRows
from stakes.uncertainty.two_samples import Differences, Side, agree, fisher, mover, of_shares, permuted_means

MOST_SUMMED = 50
"""Most segments for which the rest is added up from all other segments: more would take too long."""

_NARROW = 1.02
"""Bins of sizes are narrow where no sum of powers is larger by more than this at their upper ends."""

_MOVER = "intervals of both put together (MOVER)"


@dataclass(frozen=True, eq=False)
class AgainstRest:
    """Figures of the segments, of the rest of each, and the differences; ``note`` says why these are not known."""

    segments: Side
    rests: Side | None = None
    differences: Differences | None = None
    method: str = ""
    note: str = ""


@dataclass(frozen=True, eq=False)
class Parts:
    """The tallies of all rows and of each segment, and the rows that a figure of each, or of its rest, rests on."""

    whole: Tally
    tallies: Sequence[Tally]
    samplings: Sequence[Sampling]
    rows: Array
    rest_rows: Array

    @property
    def sampling(self) -> Sampling:
        """How intervals of the rest are made."""
        return replace(self.samplings[0], clusters=None)

    @property
    def clustered(self) -> bool:
        """Whether rows come in clusters."""
        return any(sampling.clusters is not None for sampling in self.samplings)


def against_rest(metric: Metric, parts: Parts) -> AgainstRest:
    """Compare the figure of every segment with that of all rows outside it."""
    method = method_of(metric, parts.whole, parts.sampling)
    if method == "share" and not parts.whole.weighted and not parts.clustered:
        return _shares(metric, parts)
    segments = _side(metric, parts.tallies, parts.samplings, parts.rows)
    if parts.clustered:
        return AgainstRest(segments, note="rows of a cluster may lie in several segments")
    if len(parts.tallies) < 2:
        return AgainstRest(segments, note="there are no other rows")
    rests = _rest_areas(metric, parts) if _simple_area(method, parts) else _rests(metric, parts)
    if rests is None:
        return AgainstRest(segments, note=f"{metric.name} of the rest is only worked out for {MOST_SUMMED} segments")
    found = mover(segments, rests, parts.sampling.confidence)
    powers = row_powers(metric, parts.whole)
    if powers is None:
        return AgainstRest(segments, rests, found, f"{_MOVER}, p-value on Student's t")
    totals = np.array([float(tally.total) for tally in parts.tallies])
    means = segments.value**2 if metric.root else segments.value  # roots are in the order of means
    found = agree(found, permuted_means(powers, means, totals), parts.sampling.confidence)
    return AgainstRest(segments, rests, found, f"{_MOVER}, p-value of dealing out all rows")


def row_powers(metric: Metric, whole: Tally) -> Array | None:
    """For a mean, or the root of one: the number of rows, and the sums of three powers of what it averages."""
    if whole.weighted or metric.loss is None or metric.relative_to is not None:
        return None
    if isinstance(whole, ScoreTable):
        alike = LossRows.of_table(whole)
        return _powers(alike.losses(metric)[0], alike.weight)
    if not isinstance(whole, ErrorSums):
        return None
    if whole.rows is not None:
        rows = whole.rows
        losses = metric.row_losses(rows.truth.astype(np.float64), rows.prediction)
        return _powers(losses, np.ones(len(losses)))
    return _powers_of_products(metric, whole)


def _powers_of_products(metric: Metric, whole: ErrorSums) -> Array | None:
    """The same of errors whose rows were not kept, by sums of products; the third power of squares by their sizes."""
    truth, error = np.array([1.0, 3.0, 5.0, 7.0]), np.array([2.0, -3.0, 0.5, -1e6])  # which mean is it?
    losses, square = metric.row_losses(truth, truth - error), TERMS.index("square")
    if whole.variation is None or (products := whole.variation.products) is None:
        return None
    for name, own in (("size", abs(error)), ("error", error)):
        if (losses == own).all():
            term = TERMS.index(name)
            return np.array([products[0, 0], products[0, term], products[term, term], products[term, square]])
    if whole.sizes is None or not (losses == error**2).all():
        return None
    low, high = (_powers(one**2, whole.sizes.counts) for one in (whole.sizes.lower, whole.sizes.upper))
    narrow = low is not None and high is not None and (high <= low * _NARROW).all()
    return (low + high) / 2 if narrow else None  # type: ignore[operator]


def _powers(losses: Array, count: Array) -> Array | None:
    """The number of rows, and the sums of three powers of what they lose; None of what no float holds."""
    with np.errstate(over="ignore"):
        powers = np.array([count.sum(), *(weighted_sum(losses**power, count) for power in (1, 2, 3))])
    return powers if np.isfinite(powers).all() else None


def _side(metric: Metric, tallies: Sequence[Tally], samplings: Sequence[Sampling], rows: Array) -> Side:
    """The figure of each tally, with its interval."""
    together = len(tallies) > MOST_SUMMED and _bootstrap_together(metric, tallies[0], samplings)
    if together and (tables := _stack(tallies)) is not None:
        return _side_of_tables(metric, tables, samplings[0], rows)
    values = [float(metric.of(tally)) for tally in tallies]
    found = [
        intervals([metric], [value], tally, sampling)[0]
        for value, tally, sampling in zip(values, tallies, samplings, strict=True)
    ]
    return _join(values, found, rows)


def _join(values: Sequence[float], found: Sequence[Interval], rows: Array) -> Side:
    low, high = (np.array(ends, np.float64) for ends in ([one.low for one in found], [one.high for one in found]))
    return Side(np.array(values, np.float64), low, high, rows)  # None has become NaN


# ── many tables of two classes ───────────────────────────────────────────────────────────────────────────────────
def _bootstrap_together(metric: Metric, table: Tally, samplings: Sequence[Sampling]) -> bool:
    """Whether thousands of tables can be resampled at once, rather than one after the other."""
    plain = all(sampling.clusters is None and not sampling.fixed for sampling in samplings)
    if not plain or not isinstance(table, Confusion) or table.weighted or table.counts.shape != (2, 2):
        return False
    return method_of(metric, table, samplings[0]) == "cells" and not metric.no_interval


def _side_of_tables(metric: Metric, tables: Confusion, sampling: Sampling, rows: Array) -> Side:
    """Percentiles of resampled tables, as single tables have them."""
    values = np.asarray(measure([metric], tables)[0], np.float64)
    low, high = limits_of_tables(metric, tables, sampling)
    return Side(values, np.minimum(low, values), np.maximum(high, values), rows)


# ── shares ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _shares(metric: Metric, parts: Parts) -> AgainstRest:
    """Shares are hits among rows, and those of the rest are what the segment leaves."""
    rows, values = _shares_of(metric, parts.tallies)
    hits = np.rint(np.where(rows > 0, values * rows, 0.0))
    whole = float(getattr(parts.whole, metric.share_of))
    rest_rows = whole - rows
    rest_hits = (np.rint(float(metric.of(parts.whole)) * whole) if whole else 0.0) - hits
    segments, rests = _share_side(hits, rows, parts.sampling), _share_side(rest_hits, rest_rows, parts.sampling)
    found = of_shares(segments, rests, parts.sampling.confidence)
    return AgainstRest(segments, rests, found, "Newcombe's interval from both Wilson intervals, Fisher's exact p-value")


def _shares_of(metric: Metric, tallies: Sequence[Tally]) -> tuple[Array, Array]:
    """The denominator of each share, and the share."""
    stacked = _stack(tallies)
    if stacked is not None:
        return getattr(stacked, metric.share_of), measure([metric], stacked)[0]
    rows = np.array([float(getattr(tally, metric.share_of)) for tally in tallies])
    return rows, np.array([float(metric.of(tally)) for tally in tallies])


def _stack(tallies: Sequence[Tally]) -> Confusion | None:
    """All tables along a leading axis, if these are tables."""
    tables = [tally for tally in tallies if isinstance(tally, Confusion)]
    return Confusion.stack(tables) if len(tables) == len(tallies) else None


def _share_side(hits: Array, rows: Array, sampling: Sampling) -> Side:
    with np.errstate(invalid="ignore", divide="ignore"):
        share = hits / rows  # no rows, no share
        return Side(share, *wilson(share, rows, sampling.confidence), rows)


# ── the rest of other tallies ────────────────────────────────────────────────────────────────────────────────────
def _rests(metric: Metric, parts: Parts) -> Side | None:
    """The figure of the rest of each segment, if the rest can be had."""
    whole, tallies, stacked = parts.whole, parts.tallies, _stack(parts.tallies)
    rests: Sequence[Tally]
    if isinstance(whole, Confusion) and stacked is not None:
        rests = _rest_tables(whole, stacked)
    elif isinstance(whole, ErrorSums) and not metric.parts and whole.has("order 4") and not whole.weighted:
        rests = _rest_sums(whole, [part for part in tallies if isinstance(part, ErrorSums)])
    elif len(tallies) > MOST_SUMMED:
        return None
    else:
        rests = [type(whole).sum([*tallies[:i], *tallies[i + 1 :]]) for i in range(len(tallies))]
    return _side(metric, rests, [parts.sampling] * len(rests), parts.rest_rows)


def _rest_tables(whole: Confusion, parts: Confusion) -> list[Confusion]:
    counts = np.maximum(whole.counts - parts.counts, 0)
    squares = None if whole.squares is None else np.maximum(whole.squares - parts.squares, 0)
    rests = whole.with_counts(counts, squares)
    return [rests[i] for i in range(len(counts))]


def _rest_sums(whole: ErrorSums, parts: Sequence[ErrorSums]) -> list[ErrorSums]:
    """The sums of the rest, each computed when it is asked for; of its rows those are kept that carry figures."""
    centre = float(whole.mean(t=1))
    rows = [part.rows for part in parts]
    each = [HeavyRows.of_rows(one.truth, one.prediction, centre) for one in rows if one is not None]
    heavy = HeavyRows.without_each(each) if len(each) == len(parts) else [None] * len(parts)

    def less(part: ErrorSums, kept: HeavyRows | None) -> ErrorSums:
        moments = OnDemand(whole.moments, lambda power: whole.moments[power] - part.moments[power])
        return ErrorSums(moments, whole.largest, heavy=kept)

    return [less(part, kept) for part, kept in zip(parts, heavy, strict=True)]


# ── areas ────────────────────────────────────────────────────────────────────────────────────────────────────────
def _score_tables(parts: Parts) -> list[ScoreTable]:
    """The table of the whole, then those of the segments; none of other tallies."""
    return [tally for tally in (parts.whole, *parts.tallies) if isinstance(tally, ScoreTable)]


def _simple_area(method: str, parts: Parts) -> bool:
    """Whether the scores of segments are among those of the whole; merged bins may not be."""
    return method == "area" and not parts.whole.weighted and not any(table.merged for table in _score_tables(parts))


def _rest_areas(metric: Metric, parts: Parts) -> Side:
    """The auc of the rest, or gini, which is the same one stretched."""
    whole, *tables = _score_tables(parts)
    rests, (low, high) = RestAreas(whole), metric.range

    def rest_of(part: ScoreTable) -> tuple[float, Interval]:
        area, error = rests.without(part)
        rows, value = (float(whole.P - part.P), float(whole.N - part.N)), low + (high - low) * area
        known = Influence.of_error((high - low) * error, sum(rows), min(rows) - 1)
        return value, area_interval(metric, value, known, lambda: rows, parts.sampling)

    values, found = zip(*map(rest_of, tables), strict=True)
    return _join(values, found, parts.rest_rows)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """One class among the other one, at ascending scores: how many of the other class lie below each row (ties half).

    ``rows_before`` and ``below_before`` are sums over this class at all lower scores: rows, and what lies below them.
    """

    rows: Array
    below: Array
    rows_before: Array
    below_before: Array
    squares: float

    @classmethod
    def of(cls, rows: Array, others: Array) -> "_Ranked":
        below = np.cumsum(others) - others / 2
        sums = [np.concatenate([[0.0], np.cumsum(column)]) for column in (rows, rows * below)]
        return cls(rows, below, sums[0], sums[1], float((rows * below**2).sum()))

    def without(self, places: Array, rows: Array, others: Array) -> tuple[float, float]:
        """Sum what lies below each row, and its square, over the rows that are not in the segment.

        ``places`` are where the segment's scores lie; it has that many ``rows`` and ``others`` there.
        """
        reached = np.cumsum(others)
        ends = np.append(places[1:], len(self.rows))
        # the steps of what the segment has below: at its own scores, and between each and the next one
        steps = np.concatenate([reached - others / 2, reached])
        count = np.concatenate([self.rows[places], self.rows_before[ends] - self.rows_before[places + 1]])
        below = np.concatenate(
            [(self.rows * self.below)[places], self.below_before[ends] - self.below_before[places + 1]]
        )
        first = self.below_before[-1] - float(steps @ count)
        second = self.squares - 2 * float(steps @ below) + float(steps**2 @ count)
        own = self.below[places] - steps[: len(places)]
        return first - float(rows @ own), second - float(rows @ own**2)


class RestAreas:
    """The auc of the rest of each segment, and its standard error by DeLong, for thousands of segments.

    Sorting the rest again for each would take as long as all rows times all segments. But a row of the rest is ranked
    among all rows already, and a segment changes that rank by a step function with as many steps as it has scores. So
    sums over the rest are sums over all rows, known once, corrected at the scores of the segment.
    """

    def __init__(self, whole: ScoreTable) -> None:
        self.scores, positives, negatives = whole.upwards()
        self.P, self.N = float(whole.P), float(whole.N)
        self.positives = _Ranked.of(positives, negatives)
        # what lies above a negative lies below it when the order is reversed
        self.negatives = _Ranked.of(negatives[::-1], positives[::-1])

    def without(self, segment: ScoreTable) -> tuple[float, float]:
        """Return the auc of the rest and its standard error; NaN where a class has fewer than two rows left."""
        scores, mine, theirs = segment.upwards()
        places = np.searchsorted(self.scores, scores)
        P, N = self.P - mine.sum(), self.N - theirs.sum()
        if min(P, N) < 2:
            return math.nan, math.nan
        first, squares = self.positives.without(places, mine, theirs)
        reversed_places = len(self.scores) - 1 - places[::-1]
        _, others = self.negatives.without(reversed_places, theirs[::-1], mine[::-1])
        auc = first / (P * N)
        return auc, placement_error(auc, P, N, squares, others)


def placement_error(auc: float, P: float, N: float, of_positives: float, of_negatives: float) -> float:
    """Return the standard error of an auc from sums of squares: what positives outrank, what outranks negatives.

    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44.
    """
    between_positives = (of_positives / N**2 - P * auc**2) / (P - 1)
    between_negatives = (of_negatives / P**2 - N * auc**2) / (N - 1)
    return math.sqrt(max(between_positives / P + between_negatives / N, 0.0))


# ── the largest gap ──────────────────────────────────────────────────────────────────────────────────────────────
# The largest of many noisy gaps is large even where the groups are equal in truth. So its interval holds for all pairs
# of groups at once (Tukey's range): where all groups are equal it leaves 0 out in 5 % of the files at most. The gap
# itself is taken between figures shrunk by as much as noise alone had spread them (Louis, 1984, JASA 79).

_NODES = np.linspace(-9, 9, 2001)


@dataclass(frozen=True)
class LargestGap:
    """The observed gap (``seen``), the gap without noise, its limits, and the groups it lies between."""

    seen: float
    value: float
    low: float
    high: float
    highest: int
    lowest: int


ONE_ERROR = math.erf(math.sqrt(0.5))
"""The confidence at which an interval reaches one standard error to either side."""


def confidence_of_pairs(groups: int, confidence: float) -> float:
    """Return the confidence of each pair at which the intervals of all pairs of so many groups hold at once.

    Tukey's range of independent standard normals; careful where groups differ in size (Hayter, 1984, Annals of
    Statistics 12).
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr

    if groups < 3:
        return confidence
    density = np.exp(-(_NODES**2) / 2) * (_NODES[1] - _NODES[0]) / math.sqrt(2 * math.pi)

    def surplus(width: float) -> float:
        between = (ndtr(_NODES) - ndtr(_NODES - width)) ** (groups - 1)
        return float(groups * density @ between) - confidence

    width = brentq(surplus, 1e-6, 60)
    return float(1 - 2 * ndtr(-width / math.sqrt(2)))


def largest_gap(
    groups: Side, errors: Array, confidence: float, shares: bool, correlations: Array | None = None
) -> LargestGap:
    """Return the largest gap of two groups or more; ``groups`` have intervals at the ``confidence`` of each pair.

    ``errors`` are the standard errors of the groups; their figures have ``correlations`` where rows of a cluster lie in
    several groups. ``shares`` of unweighted rows also have to pass Fisher's exact test, as segments beside the rest
    have to.
    """
    alike = np.eye(len(errors)) if correlations is None else correlations
    order = np.argsort(-groups.value, kind="stable")
    i, j = (order[places] for places in np.triu_indices(len(order), 1))
    pairs = _pairs(groups, i, j, confidence, shares, alike[i, j])
    low, high = max(float(pairs.low.max()), 0.0), float(pairs.high.max())
    seen = float(np.ptp(groups.value))
    unit = -int(np.frexp(np.abs(groups.value).max())[1])  # a power of two, so that floats hold squares
    values, errors = np.ldexp(groups.value, unit), np.ldexp(errors, unit)
    corrected = float(np.ldexp(_without_noise(values, alike * np.outer(errors, errors)), -unit))
    corrected = min(max(corrected, low), seen)
    return LargestGap(seen, corrected, low, high, int(order[0]), int(order[-1]))


def _pairs(groups: Side, i: Array, j: Array, confidence: float, shares: bool, alike: Array) -> Differences:
    """The higher minus the lower group of each pair."""
    one, other = (Side(*(getattr(groups, name)[k] for name in ("value", "low", "high", "rows"))) for k in (i, j))
    found = mover(one, other, confidence, alike)
    if not shares:
        return found
    p_value = found.p_value.copy()
    apart = np.flatnonzero(found.low > 0)  # an exact test can only take these back
    hits = [np.rint(side.value * side.rows)[apart] for side in (one, other)]
    p_value[apart] = fisher(hits[0], one.rows[apart], hits[1], other.rows[apart])
    return agree(found, p_value, confidence)


def _without_noise(values: Array, covariances: Array) -> float:
    """The gap of figures shrunk to the spread of the truth: the observed spread less that of noise.

    What moves all figures together adds no spread.
    """
    together = float(covariances[np.triu_indices(len(values), 1)].mean())
    variances = np.maximum(np.diag(covariances) - together, 0.0)
    spread = max(float(np.var(values, ddof=1)) - float(variances.mean()), 0.0)
    if not spread:
        return 0.0
    kept = np.sqrt(spread / (spread + variances))
    return float(np.ptp(kept * (values - values.mean())))
