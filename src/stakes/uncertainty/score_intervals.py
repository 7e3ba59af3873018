"""Intervals of figures of scores: areas under the ROC curve, rates at a place of it, and the calibration line."""

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from stakes.metrics import Metric, logistic
from stakes.metrics.calibration import Coefficient, FittedLine, line_of
from stakes.metrics.folds import Fold, fold_all, largest
from stakes.metrics.prior import base_of
from stakes.tallies import ScoreTable, Steps
from stakes.tallies.arithmetic import Array, Number
from stakes.tallies.clusters import Clusters
from stakes.tallies.on_demand import remembered
from stakes.tallies.population import Population
from stakes.uncertainty.influence import SINGLE_CLUSTER, SINGLE_ROW, Found, Influence, few_alike, kish, limits
from stakes.uncertainty.interval import Interval, none, wilson
from stakes.uncertainty.sampling import Sampling, normal
from stakes.uncertainty.scores import LossRows, score_counts

TEXTBOOK = ("plain delong", "logit delong")
METHODS = ("delong", "newcombe", *TEXTBOOK)

_TINY = math.nextafter(0, 1)
"""The least number above 0."""

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
        if found.low is not None:
            alone = sampling.clusters is None
            words = "DeLong's variance, Wilson's limits" if alone else f"influence of clusters, {found.method}"
            found = replace(found, method=words, note=few_alike(influence, sampling))
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
    """The effective numbers of positive and negative rows, or clusters."""
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

    # bisection, because every auc needs it, and importing SciPy's roots takes longer than a million scores
    ends = []
    for sign, far, near in ((1, 0.0, auc), (-1, 1.0, auc)):
        for _ in range(60):
            middle = (far + near) / 2
            far, near = (middle, near) if below(middle, sign) else (far, middle)
        ends.append((far + near) / 2)
    return (0.0 if auc == 0 else ends[0]), (1.0 if auc == 1 else ends[1])


# ── rates at a place ─────────────────────────────────────────────────────────────────────────────────────────────
# A rate at the threshold where the other class reaches its own: the threshold varies, and so do the rows. Both parts
# are put together as the ends of independent intervals are (Zou & Donner 2008, Statistics in Medicine 27): the rate at
# thresholds between which the true one lies (order statistics of the other class, a row beyond them unseen), and
# Wilson's limits of the rate itself.


def rate_interval(metric: Metric, value: float, table: ScoreTable, sampling: Sampling) -> Interval:
    """Return the limits of a rate."""
    assert metric.one_row is not None
    assert metric.one_row.rate is not None
    ((_, wanted),) = metric.parameters.items()
    (own, other), sizes, whole = metric.one_row.rate, table.effective_rows, (float(table.P), float(table.N))
    if own == "tn":
        sizes, whole = sizes[::-1], whole[::-1]
    ends = np.asarray(wilson(1 - wanted, sizes[1], sampling.confidence)) * sizes[1]
    # as many of the other class as may lie before the threshold, a row of them at least and at most
    least, most = (number * whole[1] / sizes[1] for number in (math.floor(ends[0]), math.ceil(ends[1])))

    def reached(steps: Steps, bound: float, inside: bool) -> Number:
        taken = getattr(steps, other)
        within = taken <= bound * (1 + 1e-12) if inside else taken < bound * (1 - 1e-12)
        return largest(np.where(within, getattr(steps, own), 0))

    both = (partial(reached, bound=least, inside=False), partial(reached, bound=most, inside=True))
    folds = [Fold(one, lambda found, table: found, "max") for one in both]
    low, high = (float(one) / whole[0] for one in fold_all([(fold, {}) for fold in folds], table))
    high = 1.0 if most >= whole[1] * (1 - 1e-12) else high
    limits = wilson(value, sizes[0], sampling.confidence)
    low = value - math.hypot(value - limits[0], max(value - low, 0.0))
    high = value + math.hypot(limits[1] - value, max(high - value, 0.0))
    return Interval(max(low, 0.0), min(high, 1.0), "order statistics of the threshold and Wilson (MOVER)")


# ── the calibration line ─────────────────────────────────────────────────────────────────────────────────────────
# Wald's intervals; of weights, clusters or a prior by what one row or cluster changes.


Pulls = Callable[[FittedLine, Population | None], Sequence[Influence]]
"""What each number of a line loses without each row, or cluster."""


def line_intervals(
    metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling
) -> list[Interval]:
    """Return the limits of some numbers of the line; what rows pull at a line is worked out once for all of them."""
    rows = functools.cache(lambda: _rows(table, sampling.clusters))
    known: dict[tuple[int, int], Sequence[Influence]] = {}

    def pulls(line: FittedLine, there: Population | None) -> Sequence[Influence]:
        of = len(line.at), id(there)
        if of not in known:
            known[of] = _influences(line, rows(), table, sampling, there)
        return known[of]

    return [_line_interval(metric, table, sampling, pulls) for metric in metrics]


def _line_interval(metric: Metric, table: ScoreTable, sampling: Sampling, pulls: Pulls) -> Interval:
    if sampling.clusters is not None and sampling.clusters.count < 2:
        return none(SINGLE_CLUSTER)
    if table.weighted and min(table.effective_rows) < 1.5:  # as of all other figures
        return none(SINGLE_ROW)
    one, there = (metric if metric.population is None else base_of(metric)).function, metric.population
    assert isinstance(one, Coefficient)
    if sampling.fixed and not one.place and there is None:
        return none("the design fixes the class counts, on which it hangs")
    line = line_of(there.of(table) if there else table, one.held)
    value, note = float(line.at[one.place]), _note(table, line.least)
    if there is None and sampling.clusters is None and not table.weighted:
        reach = sampling.width * math.sqrt(max(line.covariances[one.place, one.place], 0.0))
        return Interval(value - reach, value + reach, "Wald, observed information", note)
    influence = pulls(line, there)[one.place]
    found = limits(value, influence, metric.range, sampling.confidence)
    if found.low is None:
        return found
    notes = "; ".join(filter(None, [note, few_alike(influence, sampling)]))
    return replace(found, method=f"influence of {sampling.units}, {found.method}", note=notes)


# ── what a row pulls at the line ─────────────────────────────────────────────────────────────────────────────────
def _influences(
    line: FittedLine, rows: LossRows, table: ScoreTable, sampling: Sampling, there: Population | None
) -> list[Influence]:
    """What each coefficient loses without each row, or cluster: by one Newton step.

    In a population with other class frequencies only deviations from the mean of the class count.
    """
    clusters = sampling.clusters
    x = logistic.logit(rows.outputs if there is None else there.correct(rows.outputs), line.least)
    truth = 1 - rows.classes
    p = logistic.probability(line.at[0] + (line.at[1] if len(line.at) == 2 else 1.0) * x)
    k, off = len(line.at), truth - p
    pulls = np.stack([off, off * x][:k])
    often: Array | float = 1.0
    if there is not None:
        means = np.stack([np.bincount(rows.classes, rows.weight * one) / rows.sizes for one in pulls])
        pulls = pulls - means[:, rows.classes]
        often = there.weights(truth, rows.weight, (table.negative, table.positive))
    bends = [often * p * (1 - p)]
    bends += [bends[0] * x**power for power in range(1, 2 * k - 1)]

    def units(columns: Iterable[Array]) -> list[Array]:
        return [rows.unit * one if clusters is None else rows.by_cluster(one).sum(-1) for one in columns]

    def matrix(powers: Sequence[Array | float]) -> Array:
        return np.array([powers[place : place + k] for place in range(k)])

    whole = matrix([float((rows.weight * one).sum()) for one in bends])
    changes = _step(whole, np.stack(units(often * one for one in pulls)), matrix(units(bends)))
    if clusters is not None:
        return [Influence.of_units(one, rows.equal_units) for one in changes]
    sizes = np.bincount(rows.classes, rows.number)[rows.classes] if there is not None else rows.equal_units
    return [Influence(one, rows.number, sizes, rows.equal_units - 1) for one in changes]


def _rows(table: ScoreTable, clusters: Clusters | None) -> LossRows:
    """The rows in their clusters, or those of each class and score."""
    if clusters is not None:
        return LossRows.of_clusters(clusters, 1 - np.asarray(clusters.truth, np.int64))
    store = table.as_columns()
    counts, unit = score_counts(store)
    classes, places = np.nonzero(counts)
    weight = counts[classes, places]
    return LossRows(classes, store.scores[places].astype(np.float64), weight, weight * unit[classes, places])


def _step(bend: Array, pulls: Array, bends: Array) -> Array:
    """Solve (bend − bends) · step = pulls for each unit; where a unit alone fixes the line, bend · step = pulls."""
    rest = bend[..., None] - bends
    if len(bend) == 1:
        return np.asarray(pulls / np.where(rest[0] > 0, rest[0], bend[0, 0]))
    (a, b), (_, d) = rest
    alone = a * d - b * b <= 1e-9 * bend[0, 0] * bend[1, 1]
    a, b, d = (np.where(alone, whole, one) for one, whole in ((a, bend[0, 0]), (b, bend[0, 1]), (d, bend[1, 1])))
    return np.asarray(np.stack([d * pulls[0] - b * pulls[1], a * pulls[1] - b * pulls[0]]) / (a * d - b * b))


def _note(table: ScoreTable, least: float) -> str:
    """A note on rows with a probability of exactly 0 or 1."""
    seen, total = certain_rows(table)[0], float(table.total)
    if not seen:
        return ""
    rows = f"{seen:,.0f} of {total:,.0f} rows"
    if table.weighted:
        rows = f"rows with {seen:,.6g} of the weight {total:,.6g}"
    return f"in {rows} the probability is exactly 0 or 1, which has no log odds; it is read as {least:.3g} from there"


@remembered
def certain_rows(table: ScoreTable) -> tuple[float, float]:
    """The (weight of) rows with a probability of exactly 0 or 1, and of those among them that came out otherwise."""
    one, above = table.at(1.0), table.at(_TINY)
    rows = float(table.total) - float(above.PP) + float(one.PP)
    return rows, rows_at_0(table) + float(one.fp)


def rows_at_0(table: ScoreTable) -> float:
    """The (weight of) positive rows whose probability was exactly 0."""
    return float(table.P) - float(table.at(_TINY).tp)
