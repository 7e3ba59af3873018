"""Intervals of figures of the ROC curve: areas under it, the p-value of the rank sum, and rates at a place of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stakes.metrics import Metric, ranking
from stakes.metrics.folds import Fold, fold_all, largest, total
from stakes.tallies import ScoreTable, Steps
from stakes.tallies.arithmetic import Array, Number
from stakes.uncertainty.influence import Found, Influence, few_alike, kish, limits
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling, normal
from stakes.uncertainty.shares import wilson
from stakes.uncertainty.shuffles import every

TEXTBOOK = ("plain delong", "logit delong")
METHODS = ("delong", "newcombe", *TEXTBOOK)

_FEW_ORDERS = 10_000
"""Of so many orders of the truth each one is counted."""

ALL_TIED = "every row has the same score, so nothing varies"
"""Why a constant score has no interval."""


def auc_interval(
    metric: Metric, value: float, found: Found, table: ScoreTable, sampling: Sampling, method: str | None = None
) -> Interval:
    """Return the limits by what one row changes (DeLong's variance), together with Newcombe's.

    Newcombe's alone where the order is perfect.
    """
    if isinstance(found, str):
        return none(found)
    if method in TEXTBOOK:
        return _textbook(metric, value, found, sampling, logit=method == TEXTBOOK[1])
    return area_interval(metric, value, found, partial(_sizes, table, sampling), sampling, method)


def area_interval(
    metric: Metric,
    value: float,
    influence: Influence,
    sizes: Callable[[], tuple[float, float]],
    sampling: Sampling,
    method: str | None = None,
) -> Interval:
    """Return the interval of an area between classes of so many rows (or clusters)."""
    low, size = metric.range[0], metric.range[1] - metric.range[0]
    if influence.most_degrees < 1:
        return none("a class has a single row" if sampling.clusters is None else "a class lies in a single cluster")
    auc = (value - low) / size
    found = none("the order is perfect, so nothing varies")
    if influence.error > 1e-14 and 0 < auc < 1:
        found = limits(value, influence, metric.range, sampling.confidence, centred=True)
        words, note = "DeLong's variance, Wilson's limits", few_alike(influence, sampling)
        found = found if found.low is None else replace(found, method=words, note=note)
        method = method or ("delong" if sampling.clusters is not None or found.low is None else None)
    if method == "delong":
        return found
    below, above = (low + size * end for end in newcombe(auc, *sizes(), sampling.confidence))
    if method == "newcombe" or found.low is None or found.high is None:
        return Interval(below, above, "Newcombe's method 5")
    return Interval(min(found.low, below), max(found.high, above), f"{found.method}, and Newcombe's method 5")


def _textbook(metric: Metric, value: float, influence: Influence, sampling: Sampling, logit: bool) -> Interval:
    """DeLong's standard error times z to either side, cut off at the ends of the range, or on the logit scale."""
    (low, high), z = metric.range, normal((1 + sampling.confidence) / 2)
    error, share = influence.error / (high - low), (value - low) / (high - low)
    if not 0 < share < 1 or not error:
        return none("the order is perfect, so nothing varies")
    ends = [max(share - z * error, 0.0), min(share + z * error, 1.0)]
    if logit:
        reach = z * error / (share * (1 - share))
        ends = [1 / (1 + (1 - share) / share * math.exp(sign * reach)) for sign in (1, -1)]
    below, above = (low + (high - low) * end for end in ends)
    return Interval(below, above, f"DeLong's variance{' on the logit scale' if logit else ', plain limits'}")


def _sizes(table: ScoreTable, sampling: Sampling) -> tuple[float, float]:
    """How many equal rows, or clusters, of positives and of negatives would tell as much."""
    if sampling.clusters is None:
        return table.effective_rows
    clusters = sampling.clusters
    positive = np.asarray(clusters.truth) == 1
    weight = clusters.weights
    P, N = (kish(np.bincount(clusters.groups, np.where(here, weight, 0.0))) for here in (positive, ~positive))
    return P, N


# ── Newcombe ─────────────────────────────────────────────────────────────────────────────────────────────────────
def newcombe(auc: float, P: float, N: float, confidence: float) -> tuple[float, float]:
    """Return the limits of Newcombe (2006), method 5: those areas from which the observed one is z errors away.

    The error is Hanley and McNeil's for exponential scores, with both class sizes replaced by their mean.
    """
    z, size = normal((1 + confidence) / 2), (P + N) / 2 - 1

    def below(area: float, sign: int) -> bool:
        """Whether the observed area lies more than z errors away from this one."""
        spread = 1 + size * ((1 - area) / (2 - area) + area / (1 + area))
        return sign * (auc - area) > z * math.sqrt(area * (1 - area) * spread / (P * N))

    # halving, because every auc asks, and loading SciPy's roots takes longer and more memory than a million scores
    ends = []
    for sign, far, near in ((1, 0.0, auc), (-1, 1.0, auc)):
        for _ in range(60):
            middle = (far + near) / 2
            far, near = (middle, near) if below(middle, sign) else (far, middle)
        ends.append((far + near) / 2)
    return (0.0 if auc == 0 else ends[0]), (1.0 if auc == 1 else ends[1])


# ── could it be chance? ──────────────────────────────────────────────────────────────────────────────────────────
def _tied(steps: Steps) -> Number:
    """Σ t³ − t over groups of t rows with the same score."""
    rows = np.asarray(steps.rows, np.float64)
    return total(rows**3 - rows)


def rank_sum_p_value(table: ScoreTable, auc: float) -> float | None:
    """Return how often shuffled labels would give an auc at least this far from ½, on either side.

    Few rows are counted in every order, many are nearly normal (ties counted).
    None for weighted rows, whose ranks have no such law.
    """
    if table.weighted or not table.P or not table.N:
        return None
    if (listed := every(table, ranking.auc, _FEW_ORDERS)) is not None:
        return float((np.abs(listed - 0.5) >= abs(auc - 0.5) - 1e-12).mean())
    P, N = float(table.P), float(table.N)
    rows = P + N
    (ties,) = fold_all([(Fold(_tied, lambda whole, _: whole), {})], table)
    variance = (rows + 1 - float(ties) / (rows * (rows - 1))) / (12 * P * N)
    if variance <= 0:  # every score is the same
        return 1.0
    return math.erfc(abs(auc - 0.5) / math.sqrt(2 * variance))


# ── the rest of segments ─────────────────────────────────────────────────────────────────────────────────────────
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
        columns = whole.as_columns()
        self.scores = columns.scores[::-1]
        self.P, self.N = float(whole.P), float(whole.N)
        positives, negatives = (columns.values[name][::-1].astype(np.float64) for name in ("positives", "negatives"))
        self.positives = _Ranked.of(positives, negatives)
        # what lies above a negative lies below it when the order is turned around
        self.negatives = _Ranked.of(negatives[::-1], positives[::-1])

    def without(self, segment: ScoreTable) -> tuple[float, float]:
        """Return the auc of the rest and its standard error; NaN where a class has fewer than two rows left."""
        columns = segment.as_columns()
        places = np.searchsorted(self.scores, columns.scores[::-1])
        mine, theirs = (columns.values[name][::-1].astype(np.float64) for name in ("positives", "negatives"))
        P, N = self.P - mine.sum(), self.N - theirs.sum()
        if min(P, N) < 2:
            return math.nan, math.nan
        first, squares = self.positives.without(places, mine, theirs)
        turned = len(self.scores) - 1 - places[::-1]
        _, others = self.negatives.without(turned, theirs[::-1], mine[::-1])
        auc = first / (P * N)
        return auc, placement_error(auc, P, N, squares, others)


def placement_error(auc: float, P: float, N: float, of_positives: float, of_negatives: float) -> float:
    """Return the standard error of an auc from sums of squares: what positives outrank, what outranks negatives.

    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44.
    """
    between_positives = (of_positives / N**2 - P * auc**2) / (P - 1)
    between_negatives = (of_negatives / P**2 - N * auc**2) / (N - 1)
    return math.sqrt(max(between_positives / P + between_negatives / N, 0.0))


# ── rates at a place ─────────────────────────────────────────────────────────────────────────────────────────────
# A rate at the threshold where the other class reaches its own: the threshold varies, and so do the rows. Both parts
# are put together as the ends of independent intervals are (Zou & Donner 2008, Statistics in Medicine 27): the rate at
# thresholds between which the true one lies (order statistics of the other class, a row beyond them unseen), and
# Wilson's limits of the rate itself.


def rate_intervals(
    metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling
) -> list[Interval]:
    """Return the limits of each rate."""
    return [_interval(metric, value, table, sampling.confidence) for metric, value in zip(metrics, values, strict=True)]


def _interval(metric: Metric, value: float, table: ScoreTable, confidence: float) -> Interval:
    assert metric.one_row is not None
    assert metric.one_row.rate is not None
    ((_, wanted),) = metric.parameters.items()
    (own, other), sizes, whole = metric.one_row.rate, table.effective_rows, (float(table.P), float(table.N))
    if own == "tn":
        sizes, whole = sizes[::-1], whole[::-1]
    ends = np.asarray(wilson(1 - wanted, sizes[1], confidence)) * sizes[1]
    # as many of the other class as may lie before the threshold, a row of them at least and at most
    least, most = (number * whole[1] / sizes[1] for number in (math.floor(ends[0]), math.ceil(ends[1])))

    def reached(steps: Steps, bound: float, inside: bool) -> Number:
        taken = getattr(steps, other)
        within = taken <= bound * (1 + 1e-12) if inside else taken < bound * (1 - 1e-12)
        return largest(np.where(within, getattr(steps, own), 0))

    both = [partial(reached, bound=least, inside=False), partial(reached, bound=most, inside=True)]
    low, high = (float(one) / whole[0] for one in fold_all([(Fold(one, _as_it_is, "max"), {}) for one in both], table))
    high = 1.0 if most >= whole[1] * (1 - 1e-12) else high
    limits = wilson(value, sizes[0], confidence)
    low = value - math.hypot(value - limits[0], max(value - low, 0.0))
    high = value + math.hypot(limits[1] - value, max(high - value, 0.0))
    return Interval(max(low, 0.0), min(high, 1.0), "order statistics of the threshold and Wilson (MOVER)")


def _as_it_is(found: Number, table: ScoreTable) -> Number:
    return found
