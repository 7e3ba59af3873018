"""Two models on the same rows: how far apart are their figures, how sure is that, and could it be chance?

auc: DeLong. accuracy: McNemar and Tango. Means of row losses: Student's interval. Everything else: rows (or the cells
of the joint table of decisions) are drawn again. Wherever no exact test is at hand the p-value comes from swapping the
two models' outputs. With clusters whole clusters are drawn and swapped, since their rows are not independent.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from stakes import metrics
from stakes.metrics import Metric
from stakes.records import Count
from stakes.tallies import ClassScores, Confusion, CostSums, ErrorSums, ScoreTable
from stakes.tallies.arithmetic import Array, Number
from stakes.tallies.cost_sums import numbers_of
from stakes.tallies.error_sums import Power
from stakes.uncertainty import delong, mcnemar, pools, resampling
from stakes.uncertainty.areas import FEW
from stakes.uncertainty.draws import lost_words
from stakes.uncertainty.regression import is_of_sums, moments_of
from stakes.uncertainty.row_losses import is_mean_of_losses, row_loss
from stakes.uncertainty.sampling import Sampling

AREAS = {"auc": 1, "gini": 2, "macro_auc": 1, "weighted_auc": 1, "macro_gini": 2, "weighted_gini": 2}
"""Figures that are an area or a mean of areas, times this."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that models are judged on; for classes ``truth`` are codes into ``classes``, otherwise numbers.

    Rows with the same number in ``cluster`` belong together. ``costs`` is what each decision costs in each row, where
    that differs from row to row.
    """

    truth: Array
    classes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    positive: str | None = None
    weight: Array | None = None
    cluster: Array | None = None
    costs: Array | None = None

    @property
    def hits(self) -> Array:
        """Whether a row is positive."""
        return np.asarray(self.truth == self.classes.index(str(self.positive)))

    def take(self, rows: Array) -> "Sample":
        """Return some rows, or all in another order."""
        weight, cluster, costs = (
            None if part is None else part[rows] for part in (self.weight, self.cluster, self.costs)
        )
        return replace(self, truth=self.truth[rows], weight=weight, cluster=cluster, costs=costs)


@dataclass(frozen=True)
class Difference:
    """How sure a difference is; what cannot be said is None, and ``note`` says why."""

    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    method: str = ""
    note: str = ""


def difference(metric: Metric, sample: Sample, first: Array, second: Array, sampling: Sampling) -> Difference:
    """Judge the difference of a figure between two models' outputs (decisions, scores or numbers) on the same rows."""
    if sample.cluster is not None and int(sample.cluster.max()) < 1:
        return Difference(note="there is a single cluster, so nothing can be drawn or swapped")
    if sample.cluster is None and metric.name in AREAS:
        return _of_areas(metric, (sample, first), (sample, second), sampling, paired=True)
    if sample.cluster is None and sample.weight is None and metric.name == "accuracy":
        return _of_hits(sample, first, second, sampling.confidence)
    if sample.cluster is None:
        sample, first, second = _in_order(sample, first, second)
    pool = _pool(metric, sample, first, second)
    interval, how, lost = _interval(metric, pool, sample, sampling)
    p_value = resampling.swap_p_value(pool, sampling.seed, sampling.replicates)
    units, swaps = ("rows", "swaps within rows") if sample.cluster is None else ("whole clusters", "swaps of clusters")
    method = f"{how.format(units=units)}; p from {sampling.replicates:,} {swaps}"
    if interval is None:
        return Difference(None, None, p_value, method, _why_no_interval(metric))
    return Difference(*interval, p_value, method, lost)


def difference_of_unpaired(
    metric: Metric, first: tuple[Sample, Array], second: tuple[Sample, Array], sampling: Sampling
) -> Difference:
    """Judge the difference of a figure between two models that saw different rows."""
    clustered = first[0].cluster is not None
    if metric.name in AREAS and not clustered:
        return _of_areas(metric, first, second, sampling, paired=False)
    ordered = [
        (sample, output) if clustered else _in_order(sample, output, output)[:2] for sample, output in (first, second)
    ]
    pairs = [_pool(metric, sample, output, output) for sample, output in ordered]
    differences = resampling.independent_differences(pairs[0], pairs[1], sampling.seed, sampling.replicates)
    method = f"{sampling.replicates:,} independent draws of {'whole clusters' if clustered else 'rows'}"
    interval = None if _why_none(metric) else resampling.percentile_interval(differences, sampling.confidence)
    if interval is None:
        return Difference(method=method, note=_why_no_interval(metric))
    return Difference(*interval, resampling.sign_p_value(differences), method, _lost(differences))


def _why_none(metric: Metric) -> str:
    """Why a figure, or the mean of such figures over classes, has no interval however it is drawn."""
    base = metric.name.removeprefix("macro_").removeprefix("weighted_").removeprefix("micro_")
    return metrics.find(base).no_interval


def _why_no_interval(metric: Metric) -> str:
    return _why_none(metric) or f"{metric.name} is infinite or undefined in too many draws for an interval"


def _lost(differences: Array) -> str:
    return lost_words(int(np.count_nonzero(~np.isfinite(differences))), len(differences))


def _in_order(sample: Sample, first: Array, second: Array) -> tuple[Sample, Array, Array]:
    """Sort the rows by what they hold, so that random numbers meet the same rows whatever order they came in."""
    held = (sample.truth, first, second, sample.weight, sample.costs)
    rows = np.lexsort([column for part in held if part is not None for column in np.atleast_2d(part.T)])
    return sample.take(rows), first[rows], second[rows]


# ── areas: DeLong ────────────────────────────────────────────────────────────────────────────────────────────────
def _of_areas(
    metric: Metric, first: tuple[Sample, Array], second: tuple[Sample, Array], sampling: Sampling, paired: bool
) -> Difference:
    """The difference of areas under ROC curves."""
    factor = AREAS[metric.name]
    areas = [_area(metric, sample, scores) for sample, scores in (first, second)]
    if paired:
        spread = delong.variance(areas[0].influence - areas[1].influence, first[0].truth)
    else:
        pairs = zip(areas, (first[0], second[0]), strict=True)
        spread = sum(delong.variance(area.influence, sample.truth) for area, sample in pairs)
    method = "DeLong, paired" if paired else "DeLong, independent rows"
    if math.isnan(spread):
        return Difference(method=method, note="a class has a single row, whose spread nobody knows")
    gap = areas[0].value - areas[1].value
    if paired and np.array_equal(areas[0].order, areas[1].order):
        return Difference(0.0, 0.0, 1.0, method)
    if spread < 1e-30:
        certain = 1.0 if abs(gap) < 1e-15 else None
        return Difference(None, None, certain, method, "every pair of rows agrees, so their spread is not known")
    low, high, p_value = delong.normal_interval(gap, math.sqrt(spread), sampling.confidence)
    fewest = min(int(np.unique(sample.truth, return_counts=True)[1].min()) for sample in (first[0], second[0]))
    note = f"a class has only {fewest} rows, so DeLong's interval may be too narrow" if fewest < FEW else ""
    if paired and fewest < FEW and first[1].ndim == 1:
        pool = _pool(metric, *_in_order(first[0], first[1], second[1]))
        p_value = resampling.swap_p_value(pool, sampling.seed, sampling.replicates)
        method += f"; with so few rows, p from {sampling.replicates:,} swaps within rows"
    return Difference(factor * max(low, -1.0), factor * min(high, 1.0), p_value, method, note)


def _area(metric: Metric, sample: Sample, scores: Array) -> delong.Area:
    if scores.ndim == 1:
        return delong.area(scores, sample.hits, sample.weight)
    k = len(sample.classes)
    shares = np.full(k, 1 / k)
    if metric.name.startswith("weighted"):
        sizes = np.bincount(sample.truth, sample.weight, k)
        shares = sizes / sizes.sum()
    return delong.mean_area(scores, sample.truth, shares, sample.weight)


# ── hits: McNemar and Tango ──────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Flipped:
    """On how many rows two models are both right, only one of them is, or both are wrong."""

    both_right: Count
    only_first_right: Count
    only_second_right: Count
    both_wrong: Count


def flipped(sample: Sample, first: Array, second: Array) -> Flipped:
    """Count the rows on which two columns of decisions are right."""
    places = {name: place for place, name in enumerate(sample.decisions)}
    right = np.array([places[name] for name in sample.classes])[sample.truth]
    a, b = first == right, second == right
    both, one, other = (int(np.count_nonzero(rows)) for rows in (a & b, a & ~b, b & ~a))
    return Flipped(both, one, other, len(a) - both - one - other)


def _of_hits(sample: Sample, first: Array, second: Array, confidence: float) -> Difference:
    """The difference of accuracies."""
    rows = flipped(sample, first, second)
    one, other = rows.only_first_right, rows.only_second_right
    low, high = mcnemar.tango_interval(one, other, len(first), confidence)
    return Difference(low, high, mcnemar.exact_p_value(one, other), "Tango's interval; McNemar's exact test")


# ── everything else: drawn again, and swapped ────────────────────────────────────────────────────────────────────
def _interval(
    metric: Metric, pool: pools.Pool, sample: Sample, sampling: Sampling
) -> tuple[tuple[float, float] | None, str, str]:
    """The interval, how it was made, and on how many draws there was no figure."""
    if _why_none(metric):
        return None, "no interval", ""
    if is_mean_of_losses(metric) and isinstance(pool, pools.Sums) and sample.cluster is None:
        weighted = (pool.first - pool.second)[:, 0] / pool.first[:, 1]
        interval = resampling.mean_interval(weighted, sample.weight, sampling.confidence)
        return interval, "Student's interval of the paired losses", ""
    differences = resampling.drawn_differences(pool, sampling.seed, sampling.replicates)
    how = f"{sampling.replicates:,} paired draws of {{units}}"
    return resampling.percentile_interval(differences, sampling.confidence), how, _lost(differences)


def _pool(metric: Metric, sample: Sample, first: Array, second: Array) -> pools.Pool:
    """Choose the cheapest way to draw and swap that gives this metric."""
    if is_mean_of_losses(metric):
        return _losses(metric, sample, first, second)
    if metric.tally is Confusion:
        names, columns = (sample.classes, sample.decisions, sample.positive), (sample.truth, first, second)
        if sample.cluster is None:
            return pools.decisions(metric.of, names, columns, sample.weight)
        return pools.clustered_decisions(metric.of, names, columns, sample.weight, sample.cluster)
    if metric.tally is CostSums:
        return _row_costs(metric, sample, first, second)
    units = pools.Alike(len(first), sample.cluster)
    if metric.tally is ScoreTable:
        ranked = metric.family == "ranking"
        to_swap = (_ranks(first), _ranks(second)) if ranked else (first, second)
        return pools.Scores(units, metric.of, sample.hits, first, second, to_swap, sample.weight, ranked)
    if is_of_sums(metric):
        return _moments(metric, sample, first, second)
    return pools.PooledRows(units, functools.partial(_recounted, metric, sample), first, second)


def _losses(metric: Metric, sample: Sample, first: Array, second: Array) -> pools.Sums:
    """Sums of losses and of weights."""
    loss = row_loss(metric)
    truth = sample.hits if metric.tally is ScoreTable else sample.truth
    if metric.tally is not ClassScores:  # codes of classes stay whole numbers
        truth = truth.astype(np.float64)
    unit = np.ones(len(truth)) if sample.weight is None else sample.weight
    sides = [np.stack([unit * loss(truth, side.astype(np.float64)), unit], axis=-1) for side in (first, second)]
    return _sums(sides, sample, lambda sums: sums[..., 0] / sums[..., 1])


def _moments(metric: Metric, sample: Sample, first: Array, second: Array) -> pools.Sums:
    """Moments about the mean of the truth, from which most figures of a regression follow."""
    truth = sample.truth.astype(np.float64)
    unit = np.ones(len(truth)) if sample.weight is None else sample.weight
    centre = np.average(truth, weights=unit)

    def moments(prediction: Array) -> dict[Power, Array]:
        return moments_of(truth - centre, truth - prediction, lambda column: unit * column)

    always = moments(np.full(len(truth), centre))  # what the mean of all these rows would do

    def side(prediction: Array) -> Array:
        columns = [*moments(prediction.astype(np.float64)).values(), *always.values()]
        return np.stack(columns, axis=-1)

    def finish(sums: Array) -> Array:
        model, constant = (
            ErrorSums(dict(zip(always, part.T, strict=True)), largest=math.nan, weighted=True)
            for part in np.split(sums, 2, axis=-1)
        )
        return np.asarray(metric.of(replace(model, constant=constant)))

    return _sums([side(first), side(second)], sample, finish)


def _row_costs(metric: Metric, sample: Sample, first: Array, second: Array) -> pools.Sums:
    """Sums over the rows of each class of what they cost: as decided, at best, and with each decision."""
    costs = np.asarray(sample.costs)
    unit = np.ones((len(costs), 1)) if sample.weight is None else sample.weight[:, None]
    K, rows = len(sample.classes), np.arange(len(costs))

    def side(decided: Array) -> Array:
        numbers = unit * numbers_of(costs, decided)
        apart = np.zeros((len(costs), K, numbers.shape[1]))
        apart[rows, sample.truth] = numbers
        return apart.reshape(len(costs), -1)

    def finish(sums: Array) -> Array:
        nothing = np.zeros(0)  # figures need no products, their intervals would
        each = sums.reshape(len(sums), K, -1)
        return np.array([metric.of(CostSums(sample.classes, sample.decisions, one, nothing, nothing)) for one in each])

    return _sums([side(first), side(second)], sample, finish)


def _sums(sides: list[Array], sample: Sample, finish: Callable[[Array], Array]) -> pools.Sums:
    if sample.cluster is not None:
        sides = [pools.by_cluster(side, sample.cluster) for side in sides]
    return pools.Sums(pools.Alike(len(sample.truth), sample.cluster), sides[0], sides[1], finish)


_SIMPLE: dict[str, Callable[[Array], Number]] = {"median_absolute_error": np.median, "max_error": np.max}
"""Figures for which a whole count would be a waste."""


def _recounted(metric: Metric, sample: Sample, rows: Array, output: Array) -> float:
    """Count some rows anew and return their figure."""
    truth, weight = sample.truth[rows], None if sample.weight is None else sample.weight[rows]
    if weight is None and metric.name in _SIMPLE:
        return float(_SIMPLE[metric.name](np.abs(truth.astype(np.float64) - output)))
    if metric.tally is ErrorSums:
        return float(metric.of(ErrorSums.from_rows(truth, output, weight, parts=metric.parts)))
    return float(metric.of(ClassScores.from_rows(output, truth, sample.classes, weight, parts=metric.parts)))


def _ranks(scores: Array) -> Array:
    """The place of each score among all, ties in the middle of their places."""
    _, places, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[places]
