"""Two models on the same rows: the difference of their figures, its interval, and its p-value.

What a row changes in the difference is what it changes in one model's figure less what it changes in the other's. So
interval and p-value come from the same engine as those of single figures, and agree. Only accuracies have methods of
their own: McNemar's exact test and Tango's interval. With clusters whole clusters are left out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes.errors import Pass, Text
from stakes.metrics import Metric
from stakes.metrics.agreement import accuracy
from stakes.metrics.many import ClassRows, Ranking
from stakes.records import Count
from stakes.tallies import ClassScores, Confusion, CostSums, ErrorSums, OutputSums, ScoreTable, TermSums, bins
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.clusters import Clusters
from stakes.tallies.cost_sums import CostGroups, numbers_of
from stakes.tallies.error_variation import MedianSides
from stakes.uncertainty.changes import (
    SPARSE,
    cases_behind,
    groups_of,
    influences,
    output_changes,
    table_changes,
    term_changes,
    unseen_changes,
)
from stakes.uncertainty.influence import (
    NO_DIFFERENCE,
    SINGLE_CLUSTER,
    TOO_FEW_IN_TIME,
    Found,
    Influence,
    difference_limits,
    kish,
    kish_of,
    long_run_variance,
    steps_of,
)
from stakes.uncertainty.interval import interval_and_test, t_limits
from stakes.uncertainty.numbers import error_changes, group_rows, median_changes, of_two_medians, of_two_sums
from stakes.uncertainty.one_more_row import cost_slopes, saving_limits
from stakes.uncertainty.sampling import Sample, Sampling
from stakes.uncertainty.scores import (
    LossRows,
    bearing_rows,
    of_losses,
    of_score_clusters,
    score_changes_by_level,
    score_changes_by_row,
    unseen_row,
)

Output = Any
"""The output of a model in each row: decisions, scores or numbers; for other kinds of rows, their tally."""

SAME_OUTPUT = "both models say the same on every row"


@dataclass(frozen=True)
class Difference:
    """The interval and p-value of a difference; what is unknown is None, and ``note`` says why.

    ``value`` is the difference itself where it is not that of the two figures.
    """

    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    method: str = ""
    note: str = ""
    value: float | None = None


def difference(metric: Metric, sample: Sample, first: Output, second: Output, sampling: Sampling) -> Difference:
    """Test the difference of a figure between two models' outputs (decisions, scores or numbers) on the same rows."""
    if sample.single_cluster:
        return Difference(note=SINGLE_CLUSTER)
    if why := metric.no_interval:
        return Difference(note=why)
    plain = sample.cluster is None and sample.weight is None and not sampling.fixed
    if plain and metric.name == accuracy.name and metric.tally is Confusion and metric.population is None:
        return _of_hits(sample, first, second, sampling.confidence)
    if metric.interval == "costs" and (sample.cluster is None or sample.costs is None):
        found = saving_limits(metric, sample, first, second, sampling)
        same = found.low == found.high  # nothing but the same decisions could come
        return Difference(found.low, found.high, 1.0 if same else found.p, "one more row on the saving")
    if isinstance(sample.costs, CostGroups) and metric.tally is CostSums and sample.cluster is None:
        return _of_cost_groups(metric, sample, sample.costs, (first, second), sampling)
    with np.errstate(all="ignore"):
        one, other = (_figure_of_rows(metric, sample, output, sampling) for output in (first, second))
    if isinstance(one, str) or isinstance(other, str):
        return Difference(note=one if isinstance(one, str) else str(other))
    with np.errstate(invalid="ignore"):
        moved = one.influence.changes - other.influence.changes
    influence = replace(one.influence, changes=moved, unseen=_unseen(one, other))
    tables = []
    if metric.tally is ScoreTable and not moved.any():
        tables = [ScoreTable.from_rows(output, sample.hits, sample.weight) for output in (first, second)]
    if sample.horizon is not None and sample.cluster is None and moved.any():
        gap, steps = one.value - other.value, steps_of(moved, len(sample.truth), sample.horizon)
        return _in_time(gap, moved, steps, _most(metric), sampling.confidence)
    same = not moved.any() and (first is second or np.array_equal(first, second))
    tested = finish(metric, (one.value, other.value), influence, tables, same, sampling, _units(sample))
    if metric.population is not None and metric.tally is ClassScores:
        return replace(tested, value=one.value - other.value)  # the two figures may be those of samples
    return tested


def _in_time(gap: float, changes: Array, steps: int, most: float, confidence: float) -> Difference:
    """Test a difference of forecasts of one series, whose errors are autocorrelated.

    Diebold & Mariano (1995), Journal of Business & Economic Statistics 13.
    """
    variance = long_run_variance(changes, steps)
    if variance is None:
        return Difference(note=TOO_FEW_IN_TIME)
    found = t_limits(gap, math.sqrt(variance), len(changes) - 1, most, confidence)
    return Difference(*found, "Diebold and Mariano's test with Harvey's correction")


def finish(
    metric: Metric,
    values: Sequence[float],
    influence: Influence,
    tables: Sequence[ScoreTable],
    same: bool,
    sampling: Sampling,
    units: str = "rows",
) -> Difference:
    """Test a difference by what rows change in it; ``same`` says whether both models have the same output in every row.

    Score ``tables`` give the change by one more row where none of the rows changes anything.
    """
    method = f"influence of {units} on the difference, Student's t"
    if exact := _why_exact(metric, influence, same):
        return Difference(0.0, 0.0, 1.0, method, exact)
    if metric.tally is ScoreTable and not influence.changes.any():  # equal on these rows
        extra = max(_unseen_score(metric, value, table) for value, table in zip(values, tables, strict=True))
        influence = replace(influence, unseen=extra)
    return _limits(metric, values[0] - values[1], influence, sampling, method)


def difference_of_sums(
    metric: Metric, values: Sequence[float], both: Sequence[ErrorSums], own: Array | None, sampling: Sampling
) -> Difference:
    """The same for sums of predicted numbers; ``own`` as in :func:`of_two_sums`."""
    if why := metric.no_interval:
        return Difference(note=why)
    with np.errstate(all="ignore"):
        found = of_two_sums(metric, values, both, own, sampling)
    return _of_numbers_elsewhere(metric, values, found, sampling, own is None)


def difference_of_medians(
    metric: Metric, values: Sequence[float], both: Sequence[ErrorSums], sides: MedianSides, sampling: Sampling
) -> Difference:
    """The same for medians, by the sides of them on which rows lie."""
    return _of_numbers_elsewhere(metric, values, of_two_medians(both, sides), sampling, sides.clusters is not None)


def _of_numbers_elsewhere(
    metric: Metric, values: Sequence[float], found: Found, sampling: Sampling, clustered: bool
) -> Difference:
    if isinstance(found, str):
        return Difference(note=Text(f"{found}; pass ", Pass("exact", True)))
    same = values[0] == values[1] and not found.changes.any()
    return finish(metric, values, found, [], same, sampling, "whole clusters" if clustered else "rows")


def difference_of_clusters(
    metric: Metric, values: Sequence[float], both: Sequence[tuple[Any, Sampling]], units: str
) -> Difference:
    """The same where not rows were kept, but what whole clusters (or other groups of the same rows) add to tallies."""
    if why := metric.no_interval:
        return Difference(note=why)
    one, other = (
        influences([metric], [value], table, sampling)[0] for value, (table, sampling) in zip(values, both, strict=True)
    )
    if isinstance(one, str) or isinstance(other, str):
        return Difference(note=one if isinstance(one, str) else str(other))
    noise, moved = _NOISE * max(map(abs, values)), one.changes - other.changes  # sums of engines round at random
    found = replace(one, changes=np.where(np.abs(moved) > noise, moved, 0.0), unseen=0.0)
    alike = abs(values[0] - values[1]) <= noise and not found.changes.any()
    same = alike and metric.loss is not None  # ranks can be alike where scores are not
    return finish(metric, values, found, [table for table, _ in both], same, both[0][1], units)


def difference_of_unpaired(
    metric: Metric, first: tuple[Sample, Output], second: tuple[Sample, Output], sampling: Sampling
) -> Difference:
    """Test the difference of a figure between two models on different rows."""
    if first[0].single_cluster or second[0].single_cluster:
        return Difference(note=SINGLE_CLUSTER)
    if why := metric.no_interval:
        return Difference(note=why)
    with np.errstate(all="ignore"):
        one, other = (_figure_of_rows(metric, *side, sampling, alone=True) for side in (first, second))
    if isinstance(one, str) or isinstance(other, str):
        return Difference(note=one if isinstance(one, str) else str(other))
    parts = [side.influence for side in (one, other)]
    error = math.hypot(*(part.error for part in parts))
    if min(part.most_degrees for part in parts) < 1 or not 0 < error < math.inf:
        return Difference(note="too few rows bear it, or none makes a difference")
    # Welch and Satterthwaite: the degrees of freedom of a sum of variances
    degrees = 1 / sum((part.error / error) ** 4 / max(part.degrees, 1.0) for part in parts)
    found = t_limits(one.value - other.value, error, degrees, _most(metric), sampling.confidence)
    return Difference(*found, f"influence of {_units(first[0])}, independent samples")


def _units(sample: Sample) -> str:
    return "rows" if sample.cluster is None else "whole clusters"


def _most(metric: Metric) -> float:
    return metric.range[1] - metric.range[0]


def _why_exact(metric: Metric, influence: Influence, same: bool) -> str:
    """Why a difference of 0 is exact; empty where it is not.

    Two models that agree on these rows may differ on the next one. A difference of 0 is exact only for figures that do
    not depend on the decisions, and where scores or numbers are the same on every row.
    """
    if influence.changes.any() or influence.unseen:
        return ""
    if metric.tally is Confusion:
        return NO_DIFFERENCE
    return SAME_OUTPUT if same else ""


def _limits(metric: Metric, gap: float, influence: Influence, sampling: Sampling, method: str) -> Difference:
    if not influence.finite:
        return Difference(method=method, note=f"{metric.name} is infinite or undefined without some row")
    found = difference_limits(gap, influence, _most(metric), sampling.confidence)
    if found is None:
        return Difference(method=method, note="too few rows bear the difference, or none makes one")
    return Difference(*found, method, influence.note if metric.tally is ErrorSums else "")


# ── what each row changes in the figure of one model ─────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class _FigureOfRows:
    """A figure, what each row (or cluster) changes in it, and what one more row of each cell would, of tables."""

    value: float
    influence: Influence
    more: Array | None = None


def _figure_of_rows(
    metric: Metric, sample: Sample, output: Output, sampling: Sampling, alone: bool = False
) -> "_FigureOfRows | str":
    held = sampling.fixed and sample.cluster is None
    found: _FigureOfRows | str
    if metric.tally is Confusion:
        table = _of_decisions(metric, sample, output, held)
        extra = float(np.abs(table.more).max()) if alone and table.more is not None else 0.0
        found = replace(table, influence=replace(table.influence, unseen=extra))
    elif metric.tally is CostSums:
        found = _of_row_costs(metric, sample, output)
    elif metric.tally is ErrorSums:
        found = _of_numbers(metric, sample, output, sampling)
    elif isinstance(output, TermSums | OutputSums):
        found = _of_terms(metric, sample, output, sampling)
    else:
        found = _of_scores(metric, sample, output, held)
    if isinstance(found, str) or metric.population is None:
        return found
    behind = cases_behind(metric, found.value, (sample, output), _figure_of)
    return replace(found, influence=found.influence.joined(*behind))


def _figure_of(metric: Metric, rows: tuple[Sample, Array]) -> float:
    """The figure of an output on these rows."""
    sample, output = rows
    if metric.tally is Confusion:
        return _of_decisions(metric, sample, output, False).value
    if metric.tally is ClassScores:
        return float(metric.of(ClassScores.from_rows(output, sample.truth, sample.classes, sample.weight)))
    return float(metric.of(ScoreTable.from_rows(output, sample.hits, sample.weight)))


def _unseen(one: _FigureOfRows, other: _FigureOfRows) -> float:
    """The largest change of the difference by one more row, of any class and any two decisions."""
    if one.more is None or other.more is None:
        return 0.0
    return float(np.max(np.maximum(one.more.max(-1) - other.more.min(-1), other.more.max(-1) - one.more.min(-1))))


def _unseen_score(metric: Metric, value: float, table: ScoreTable) -> float:
    """The largest change of a figure by one more row, where the other model's does not change."""
    if metric.interval == "area":  # ranked above or below all of the other class
        return max(value - metric.range[0], metric.range[1] - value) / (min(table.effective_rows) + 1)
    return unseen_row(metric, value, table)


def _influence(sample: Sample, found: Array, most: float | None = None, held: bool = False) -> Influence:
    """Put together what rows change, or what clusters do."""
    if sample.cluster is not None:
        count = int(sample.cluster.max()) + 1
        units = kish(np.bincount(sample.cluster, sample.weights, count))
        whole = found if len(found) == count else np.bincount(sample.cluster, found, count)
        return Influence.of_units(whole, units if most is None else most)
    each, of_rows = sample.weights / sample.unit, len(found) == len(sample.truth)
    units = kish_of(sample.weights, sample.squared_weights) if of_rows else float(len(found))
    sizes: Array | float = units
    if held:
        sizes = np.bincount(sample.truth, each)[sample.truth]
    counts, tails = (each, sample.tails) if of_rows else (np.ones(len(found)), None)
    return Influence(found, counts, sizes, (units if most is None else most) - 1, tails=tails)


def _of_decisions(metric: Metric, sample: Sample, decided: Array, held: bool) -> _FigureOfRows:
    shape = len(sample.classes), len(sample.decisions)
    cells = sample.truth * shape[1] + decided
    counts, squares = (
        np.bincount(cells, sums, shape[0] * shape[1]).reshape(shape)
        for sums in (sample.weights, sample.squared_weights)
    )
    weighing = None if sample.weight is None else squares
    table = Confusion(sample.classes, sample.decisions, counts, weighing, positive=sample.positive)
    value = float(metric.of(table))
    more = unseen_changes([metric], [value], table, held)[0]
    if sample.cluster is not None:
        count = int(sample.cluster.max()) + 1
        places = sample.cluster * counts.size + cells
        by_cluster = np.bincount(places, sample.weights, count * counts.size).reshape(count, *shape)
        (found,) = table_changes([metric], [value], table, by_cluster)
        return _FigureOfRows(value, _influence(sample, found), more)
    rows, columns = np.nonzero(counts)
    unit = divide(squares, counts, 1.0)
    each = np.zeros((len(rows), *shape))
    each[np.arange(len(rows)), rows, columns] = unit[rows, columns]
    by_cell = np.zeros(shape)
    (by_cell[rows, columns],) = table_changes([metric], [value], table, each, held)
    found = (by_cell / unit).ravel()[cells] * sample.unit
    return _FigureOfRows(value, _influence(sample, found, held=held), more)


def _of_scores(metric: Metric, sample: Sample, scores: Array, held: bool) -> "_FigureOfRows | str":
    """Scores of two classes, or of several."""
    many = metric.tally is ClassScores
    positive = None if many else sample.hits
    if metric.loss is not None:
        codes = sample.truth if positive is None else 1 - positive.astype(np.int64)
        rows = LossRows(codes, scores, sample.weights, sample.weights**2, sample.cluster)
        of_loss = of_losses(metric, rows, held)
        return of_loss if isinstance(of_loss, str) else _FigureOfRows(rows.value(metric), replace(of_loss, unseen=0.0))
    if positive is None:
        assert metric.changes is not None
        found = metric.changes(ClassRows(scores, sample.truth, sample.weights))
        value = float(metric.of(ClassScores.from_rows(scores, sample.truth, sample.classes, sample.weight)))
        if held:
            sizes = np.bincount(sample.truth)
            found = found - (np.bincount(sample.truth, found) / np.maximum(sizes, 1))[sample.truth]
        return _FigureOfRows(value, _influence(sample, found, held=held))
    table = ScoreTable.from_rows(scores, positive, sample.weight)
    value = float(metric.of(table))
    if sample.cluster is not None:
        clusters = Clusters(sample.cluster, 0, positive.astype(np.int64), None, scores, sample.weight)
        (influence,) = of_score_clusters([metric], table, clusters)
        return influence if isinstance(influence, str) else _FigureOfRows(value, replace(influence, unseen=0.0))
    if metric.one_row is not None:
        found = Ranking(scores, positive, sample.weights).changes(metric)
    else:
        found = score_changes_by_row(metric, table, scores, positive, sample.weights, held)
    return _FigureOfRows(value, _influence(sample, found, bearing_rows(metric, table), held))


def _of_numbers(metric: Metric, sample: Sample, output: Array, sampling: Sampling) -> "_FigureOfRows | str":
    parts = "rows", "baseline", *metric.parts
    sums = ErrorSums.from_rows(sample.truth, output, sample.weight, baseline=sample.baseline, parts=parts)
    value = float(metric.of(sums))
    if metric.interval == "median" and sums.rows is not None:
        return _FigureOfRows(value, _influence(sample, median_changes(sums.rows, value)))
    groups, count = group_rows(len(output), sampling)
    if sample.cluster is not None:
        groups, count = sample.cluster, int(sample.cluster.max()) + 1
    (found,) = error_changes([metric], [value], sums, groups, count)
    return _FigureOfRows(value, _influence(sample, found))


def _of_terms(metric: Metric, sample: Sample, tally: TermSums | OutputSums, sampling: Sampling) -> _FigureOfRows | str:
    value = float(metric.of(tally))
    groups, count = groups_of(tally, replace(sampling, clusters=None))
    if sample.cluster is not None:
        groups, count = sample.cluster, int(sample.cluster.max()) + 1
    if isinstance(tally, OutputSums):
        (found,) = output_changes([metric], [value], tally, groups, count)
    else:
        (changes,) = term_changes([metric], [value], tally, groups, count)
        if changes is None:
            return SPARSE
        found = changes
    return _FigureOfRows(value, _influence(sample, found))


def _of_row_costs(metric: Metric, sample: Sample, decided: Array) -> _FigureOfRows:
    """Costs that differ from row to row: as decided, at best, and with each decision, over the rows of each class."""
    costs = sample.costs
    assert costs is not None
    if isinstance(costs, CostGroups):
        numbers = costs.numbers(sample.truth, decided)
    else:
        numbers = sample.weights[:, None] * numbers_of(costs, decided)
    K, units = len(sample.classes), np.arange(len(decided)) if sample.cluster is None else sample.cluster
    each = np.zeros((int(units.max()) + 1, K, numbers.shape[1]))
    np.add.at(each, (units, sample.truth), numbers)
    whole, nothing = each.sum(axis=0), np.zeros(0)  # figures need no products, their intervals would

    def figure(sums: Array) -> float:
        return float(metric.of(CostSums(sample.classes, sample.decisions, sums, nothing, nothing)))

    value = figure(whole)
    found = np.array([value - figure(whole - one) for one in each])
    return _FigureOfRows(value, _influence(sample, found))


def _of_cost_groups(
    metric: Metric, sample: Sample, costs: CostGroups, both: tuple[Array, Array], sampling: Sampling
) -> Difference:
    """The difference of such costs in units of the cheapest constant decision, from groups of equal rows."""
    values, factors = [], []
    for decided in both:
        sums = costs.tally(sample.truth, decided, sample.classes, sample.decisions, sample.weight is not None)
        values.append(float(metric.of(sums)))
        slopes = cost_slopes(metric, values[-1], sums)
        factors.append(costs.factors(sample.truth, decided, slopes[sample.truth]))
    squares, first, second = costs.moments(factors[0] - factors[1])
    middle, square = first / squares, second / squares
    varied = square - middle**2
    spread = np.sqrt(np.where(varied > _NOISE * square, varied, 0.0))
    units = kish_of(sample.weights, sample.squared_weights)
    influence = Influence(*_to_either_side(middle, spread, sample.weights, squares), units, units - 1)
    return finish(metric, values, influence, [], np.array_equal(*both), sampling)


def _to_either_side(middle: Array, spread: Array, weight: Array, squares: Array) -> tuple[Array, Array]:
    """The changes of rows in groups: half of them above their mean and half below, and how many there are."""
    unit = squares / weight
    each = weight / unit / 2
    return np.concatenate([middle + spread, middle - spread]) * np.tile(unit, 2), np.tile(each, 2)


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
    both, one, other, none = (round(sample.rows[rows].sum()) for rows in (a & b, a & ~b, b & ~a, ~a & ~b))
    return Flipped(both, one, other, none)


def _of_hits(sample: Sample, first: Array, second: Array, confidence: float) -> Difference:
    """The difference of accuracies."""
    rows = flipped(sample, first, second)
    one, other = rows.only_first_right, rows.only_second_right
    low, high, p_value = interval_and_test(one, other, round(sample.rows.sum()), confidence)
    return Difference(low, high, p_value, "Tango's interval; McNemar's exact test")


# ── scores that were not kept ────────────────────────────────────────────────────────────────────────────────────
# Both scores of a row fall into cells of a grid. What a row changes in a figure depends on its class and its score, and
# within a narrow cell it is nearly linear in the score. So the sums of both scores, and of their products, over the
# rows of every two cells give the covariance of the changes in the two figures. The residuals of the lines are added
# as if they were independent.

_NOISE = 1e-12
"""Relative differences below this come from rounding."""


@dataclass(frozen=True, eq=False)
class CellSide:
    """One of two models: its scores, and the grid of cells in which they lie with another model's."""

    table: ScoreTable
    grid: str
    bits: int


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Rows of one class in each two cells, which are named by their lower ends.

    ``weight`` is the sum of weights, ``squares`` that of squared weights; ``sums`` are, weighted by these squares, how
    far the two scores lie above the ends, and the products of these: first, second, first², both, second².
    """

    positive: Array
    ends: tuple[Array, Array]
    weight: Array
    squares: Array
    sums: Array

    def take(self, cells: Array) -> "ScoreCells":
        """Return some of them."""
        first, second = self.ends
        ends = first[cells], second[cells]
        return ScoreCells(self.positive[cells], ends, self.weight[cells], self.squares[cells], self.sums[:, cells])

    @property
    def same(self) -> bool:
        """Whether the two scores are the same in every row."""
        one, other, first, both, second = self.sums
        apart = first - 2 * both + second
        return bool(np.array_equal(*self.ends) and np.array_equal(one, other) and not (apart > _NOISE * first).any())


@dataclass(frozen=True, eq=False)
class _Lines:
    """What a row changes as a line within each cell, by class (positive first); ``left`` is the residual variance."""

    ends: Array
    starts: Array
    slopes: Array
    left: float

    def of(self, cells: ScoreCells, side: int) -> tuple[Array, Array]:
        """Where the line of each cell begins, and its slope."""
        places = np.searchsorted(self.ends, cells.ends[side])
        row = np.where(cells.positive, 0, 1)
        return self.starts[row, places], self.slopes[row, places]


def difference_in_cells(
    metric: Metric, sides: Sequence[CellSide], values: Sequence[float], cells: ScoreCells, sampling: Sampling
) -> Difference:
    """Test the difference of a figure of scores between two models, as :func:`difference` does with rows."""
    if why := metric.no_interval:
        return Difference(note=why)
    with np.errstate(all="ignore"):
        found = [_lines(metric, side, sampling.fixed) for side in sides]
    one, other = found
    if isinstance(one, str) or isinstance(other, str):
        return Difference(note=one if isinstance(one, str) else str(other))
    changes, counts, row = _changes(one, other, cells)
    table = sides[0].table
    units = table.equal_rows
    sizes: Array | float = units
    if sampling.fixed:
        sizes = np.bincount(row, counts)[row]
    most = bearing_rows(metric, table) - 1
    influence = Influence(changes, counts, sizes, most)
    if metric.population is not None:
        behind = [cases_behind(metric, value, side.table, Metric.of) for side, value in zip(sides, values, strict=True)]
        influence = influence.joined(behind[0][0] - behind[1][0], behind[0][1])
    return finish(metric, values, influence, [side.table for side in sides], cells.same, sampling)


def _lines(metric: Metric, side: CellSide, held: bool) -> "_Lines | str":
    """Fit a line to what rows of each cell change, by least squares."""
    found = score_changes_by_level(metric, side.table, held)
    if isinstance(found, str):
        return found
    scores, counts, unit, changes = found
    numbers, place = np.unique(bins.numbers(scores, side.grid, side.bits), return_inverse=True)
    ends = bins.edges(numbers, side.grid, side.bits)
    above = scores - ends[place]
    starts, slopes, left = np.zeros((2, len(ends))), np.zeros((2, len(ends))), 0.0
    for c in range(2):
        size = np.bincount(place, counts[c], len(ends))
        mean, height = (divide(np.bincount(place, counts[c] * one, len(ends)), size) for one in (above, changes[c]))
        away, rise = above - mean[place], changes[c] - height[place]
        both, square = (np.bincount(place, counts[c] * away * one, len(ends)) for one in (rise, away))
        slopes[c] = divide(both, square)
        starts[c] = height - slopes[c] * mean
        left += float((counts[c] * unit[c] * (rise - slopes[c][place] * away) ** 2).sum())
    return _Lines(ends, starts, slopes, left)


def _changes(one: _Lines, other: _Lines, cells: ScoreCells) -> tuple[Array, Array, Array]:
    """What rows of each two cells change in the difference: half of them above their mean, half below.

    Returned are the changes, how many rows make each, and their class.
    """
    (start, slope), (begin, tilt) = one.of(cells, 0), other.of(cells, 1)
    mean, more, square, both, others = cells.sums / cells.squares
    middle = (start + slope * mean) - (begin + tilt * more)
    own, theirs = slope**2 * np.maximum(square - mean**2, 0.0), tilt**2 * np.maximum(others - more**2, 0.0)
    varied = own - 2 * slope * tilt * (both - mean * more) + theirs
    spread = np.sqrt(np.where(varied > _NOISE * (own + theirs), varied, 0.0))
    changes, counts = _to_either_side(middle, spread, cells.weight, cells.squares)
    rows = np.tile(np.where(cells.positive, 0, 1), 2)
    if not cells.same and (left := one.left + other.left) > 0:  # as if every row had so much of it
        square = float(counts @ changes**2)
        changes = changes * np.sqrt((square + left) / square) if square > 0 else changes
    return changes, counts, rows
