"""What the figures of a tally would be without one row, or one cluster, after another.

A table counts the rows of each kind, so a figure is computed once for every kind. Sums of terms are computed without
the terms of each row. Rankings of very many scores are first compressed into some hundred pieces (``scores.py``), and
very many rows of predicted numbers into random groups (``numbers.py``).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from stakes.metrics import Metric, measure
from stakes.metrics.prior import at_prior, base_of
from stakes.tallies import ClassScores, Confusion, ErrorSums, OutputSums, ScoreTable, Tally, TermSums
from stakes.tallies.arithmetic import Array, Number, divide
from stakes.tallies.term_sums import TermRows
from stakes.uncertainty.class_scores import of_class_scores, without_rows
from stakes.uncertainty.influence import (
    CELLS,
    NOT_KEPT,
    SINGLE_CLUSTER,
    SINGLE_ROW,
    Found,
    Influence,
    kish,
    left_out,
    unit_weights,
)
from stakes.uncertainty.numbers import (
    MOST_GROUPS,
    error_changes,
    group_rows,
    of_errors,
    resembling,
    without_each,
    without_groups,
)
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.scores import of_scores

Seen = TypeVar("Seen")


def influences(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Found]:
    """Return what one row (or cluster) changes in each figure of a tally."""
    if sampling.clusters is not None and sampling.clusters.count < 2:
        return [SINGLE_CLUSTER] * len(metrics)
    found = _influences(metrics, values, tally, sampling)
    return [
        one
        if isinstance(one, str) or metric.population is None
        else one.joined(*cases_behind(metric, value, tally, Metric.of))
        for metric, value, one in zip(metrics, values, found, strict=True)
    ]


def cases_behind(
    metric: Metric, value: float, rows: Seen, figure: Callable[[Metric, Seen], Number]
) -> tuple[Array, Array]:
    """What a figure loses without one of the cases behind its prior, of each class, and how many there are."""
    population = metric.population
    if population is None or population.cases is None:
        return np.zeros(0), np.zeros(0)
    cases = np.array(population.cases, np.float64)
    here = np.flatnonzero(cases)
    others = [at_prior(base_of(metric), population.without_case(int(place))) for place in here]
    return np.array([value - float(figure(other, rows)) for other in others]), cases[here]


def _influences(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Found]:
    with np.errstate(all="ignore"):  # what is not finite has no interval, and says so
        if isinstance(tally, Confusion):
            return of_table(metrics, values, tally, sampling)
        if isinstance(tally, ScoreTable):
            return of_scores(metrics, values, tally, sampling)
        if isinstance(tally, TermSums):
            return of_terms(metrics, values, tally, sampling)
        if isinstance(tally, OutputSums):
            return of_outputs(metrics, values, tally, sampling)
        if isinstance(tally, ErrorSums):
            return of_errors(metrics, values, tally, sampling)
        assert isinstance(tally, ClassScores)
        if tally.sample is None and sampling.clusters is None:
            return without_rows(metrics, tally, sampling)
        return of_class_scores(metrics, tally, sampling)


# ── tables of decisions ──────────────────────────────────────────────────────────────────────────────────────────


def of_table(metrics: Sequence[Metric], values: Sequence[float], table: Confusion, sampling: Sampling) -> list[Found]:
    """Leave out one row of each cell, or one cluster."""
    if sampling.clusters is not None:
        some = max(1, CELLS // table.counts.size)
        return of_parts(metrics, values, table, sampling.clusters.some_tables(table, some))
    counts = table.counts.astype(np.float64)
    unit = unit_weights(counts, table.squares)
    alike = divide(counts, unit)
    rows, columns, number = _some_cells(alike, sampling)
    each = np.zeros((len(rows), *counts.shape))
    each[np.arange(len(rows)), rows, columns] = unit[rows, columns]
    sizes = alike.sum(-1)[rows] if sampling.fixed else np.full(len(rows), table.equal_rows)
    if (sizes < 1.5).any():
        return [SINGLE_ROW] * len(metrics)
    changes = table_changes(metrics, values, table, each, sampling.fixed)
    unseen = _largest_unseen(metrics, values, table, sampling.fixed)
    return [
        Influence(one, number, sizes, _bearing_rows(metric, table) - 1, extra)
        for metric, one, extra in zip(metrics, changes, unseen, strict=True)
    ]


def _bearing_rows(metric: Metric, table: Confusion) -> float:
    """The effective number of the rows that a figure rests on: all, or those it is a share of."""
    if table.squares is None or not metric.share_of or metric.population is not None or not table.of_pair:
        return table.equal_rows
    weight, square = (float(getattr(one, metric.share_of)) for one in (table, table.with_counts(table.squares)))
    return weight**2 / square if square else 0.0


def of_parts(
    metrics: Sequence[Metric], values: Sequence[float], table: Confusion, parts: Iterable[Array]
) -> list[Found]:
    """Leave out one cluster after another; ``parts`` are their tables, some at a time."""
    found = [(each.sum((-1, -2)), *table_changes(metrics, values, table, each)) for each in parts]
    sizes, *changes = (np.concatenate(one) for one in zip(*found, strict=True))
    units, unseen = kish(sizes), _largest_unseen(metrics, values, table)
    return [Influence.of_units(one, units, more) for one, more in zip(changes, unseen, strict=True)]


def _largest_unseen(
    metrics: Sequence[Metric], values: Sequence[float], table: Confusion, held: bool = False
) -> list[float]:
    return [float(np.abs(one).max()) for one in unseen_changes(metrics, values, table, held)]


def _some_cells(alike: Array, sampling: Sampling) -> tuple[Array, Array, Array]:
    """The cells that hold rows, and how many; of very many cells, those of a random sample of rows."""
    rows, columns = np.nonzero(alike > 0)
    number, most = alike[rows, columns], max(200, CELLS // alike.size)
    if len(rows) > most:
        sample = sampling.generator().choice(len(rows), most, p=number / number.sum())
        chosen, times = np.unique(sample, return_counts=True)
        rows, columns, number = rows[chosen], columns[chosen], times * (number.sum() / most)
    return rows, columns, number


def table_changes(
    metrics: Sequence[Metric], values: Sequence[float], table: Confusion, each: Array, held: bool = False
) -> list[Array]:
    """What figures lose without each of these parts of the table; the rows of a class can be ``held`` as many."""

    def figure(metric: Metric, step: float) -> Array:
        return np.asarray(measure([metric], _with_parts(table, step, each, held))[0])

    without = measure(list(metrics), _with_parts(table, -1.0, each, held))
    return [
        left_out(value, np.asarray(one, np.float64), partial(figure, metric))
        for metric, value, one in zip(metrics, values, without, strict=True)
    ]


def unseen_changes(
    metrics: Sequence[Metric], values: Sequence[float], table: Confusion, held: bool = False
) -> list[Array]:
    """What one more row in each cell would add to the figures; 0 where that leaves them undefined."""
    counts = table.counts.astype(np.float64)
    usual = float((unit_weights(counts, table.squares) * counts).sum() / max(counts.sum(), 1e-300))
    places = np.arange(counts.size)
    if counts.size**2 > CELLS:  # the rarest classes, rightly and wrongly decided: others change no figure by more
        rarest = np.argsort(counts.sum(-1), kind="stable")[: max(8, CELLS // counts.size // 2)]
        places = np.concatenate([rarest * counts.shape[1] + (rarest + step) % counts.shape[1] for step in (0, 1)])
    found = [np.zeros(counts.size) for _ in metrics]
    for here in np.array_split(places, max(1, len(places) * counts.size // CELLS)):
        each = np.zeros((len(here), counts.size))
        each[np.arange(len(here)), here] = usual
        more = measure(list(metrics), _with_parts(table, 1.0, each.reshape(-1, *counts.shape), held))
        for one, value, figures in zip(found, values, more, strict=True):
            one[here] = np.nan_to_num(np.asarray(figures, np.float64) - value, nan=0.0, posinf=0.0, neginf=0.0)
    return [one.reshape(counts.shape) for one in found]


def _with_parts(table: Confusion, sign: float, each: Array, held: bool) -> Confusion:
    """The table with so much more or less of each part; the rows of each class can be ``held`` as many."""
    counts = table.counts.astype(np.float64)
    cells = np.maximum(counts + sign * each, 0.0)
    if held:
        cells *= divide(counts.sum(-1, keepdims=True), cells.sum(-1, keepdims=True), 1.0)
    return table.with_counts(cells)


SPARSE = "scores are sparse, and what a row changes in their ranking is not known; give an array"

_FEWEST_GROUPS = 200
_STEP = 1e-6


def groups_of(tally: TermSums | OutputSums, sampling: Sampling) -> tuple[Array, int]:
    """The cluster of each row, each row by itself, or very many rows (or terms) in random groups."""
    if sampling.clusters is not None:
        return sampling.clusters.groups, sampling.clusters.size
    if isinstance(tally, OutputSums):
        rows = tally.each[0].rows
        return group_rows(0 if rows is None else len(rows.truth), sampling)
    n = 0 if tally.rows is None else len(tally.rows)
    most = max(_FEWEST_GROUPS, min(MOST_GROUPS, CELLS // tally.sums.shape[-1]))
    if n <= most:
        return np.arange(n), n
    if sampling.in_time:
        return np.arange(n) * most // n, most
    return sampling.generator().integers(0, most, n), most


def of_terms(metrics: Sequence[Metric], values: Sequence[float], sums: TermSums, sampling: Sampling) -> list[Found]:
    """Leave out one row, cluster or group of the sums; where none were kept, use the sums of products."""
    if sums.groups is None and sums.rows is None:
        return [_of_products(metric, sums, sampling) for metric in metrics]
    groups, count, rows = np.zeros(0, np.int64), 0, 0
    if sums.groups is not None:
        units, why = kish(sums.groups[:, 0]), NOT_KEPT
    else:
        assert sums.rows is not None
        groups, count = groups_of(sums, sampling)
        units, rows, why = kish(np.bincount(groups, sums.rows.weights, count)), len(groups), SPARSE
    found = term_changes(metrics, values, sums, groups, count)
    influences: list[Found] = [
        why if changes is None else Influence.of_units(changes, units, _unseen(metric, value, sums.equal_rows))
        for metric, value, changes in zip(metrics, values, found, strict=True)
    ]
    if sums.groups is not None:  # of a segment some may have no rows, but keep their places
        held = (sums.groups[:, 0] > 0).astype(np.float64)
        influences = [
            one if isinstance(one, str) else replace(one, counts=held, sizes=held.sum()) for one in influences
        ]
    return resembling(influences, rows, sampling) if rows else influences


def _unseen(metric: Metric, value: float, rows: float) -> float:
    """What one more row could change in a bounded figure: it is one row, whatever is left out."""
    low, high = metric.range
    return max(value - low, high - value) / (rows + 1) if math.isfinite(high - low) else 0.0


def term_changes(
    metrics: Sequence[Metric], values: Sequence[float], sums: TermSums, groups: Array, count: int
) -> list[Array | None]:
    """What figures lose without each group of rows; None where that is not known."""
    summed = [(metric, value) for metric, value in zip(metrics, values, strict=True) if metric.changes is None]
    others = iter(_left_out(summed, sums, *_sums_of_groups(summed, sums, groups, count)) if summed else ())
    return [
        next(others) if metric.changes is None else None if sums.sparse_scores else metric.changes(sums, groups, count)
        for metric in metrics
    ]


def _sums_of_groups(
    wanted: Sequence[tuple[Metric, float]], sums: TermSums, groups: Array, count: int
) -> tuple[Array, Array | None]:
    """The sums of each group, and where a figure needs them those of a model that ignores its input."""
    if sums.groups is not None:
        return sums.groups, sums.ignoring_groups
    assert sums.rows is not None
    each = sums.sums_by(groups, count)
    columns = None
    if any("baseline" in metric.parts for metric, _ in wanted):
        columns = sums.columns_ignoring(sums.rows, sums.names)
    if columns is None:
        return each, None
    return each, replace(sums, rows=TermRows(columns, sums.rows.weight)).sums_by(groups, count)


def _left_out(wanted: Sequence[tuple[Metric, float]], sums: TermSums, each: Array, always: Array | None) -> list[Array]:
    """What figures lose without each group; ``each`` holds the sums of the groups."""
    constant = None if always is None else sums.constant

    def figures(metrics: list[Metric], step: float) -> list[Array]:
        """The figures with so much more or less of each group."""
        ignoring = None if constant is None or always is None else constant.sums + step * always
        moved = sums.moved(sums.sums + step * each, ignoring)
        return [np.asarray(one, np.float64) for one in measure(metrics, moved)]

    without = figures([metric for metric, _ in wanted], -1.0)
    return [
        left_out(value, one, lambda step, metric=metric: figures([metric], step)[0])  # type: ignore[misc]
        for (metric, value), one in zip(wanted, without, strict=True)
    ]


def _of_products(metric: Metric, sums: TermSums, sampling: Sampling) -> Found:
    """By the delta method: how the figure moves with each sum, and how these vary together."""
    if (
        sampling.clusters is not None
        or sums.products is None
        or metric.changes is not None
        or "baseline" in metric.parts
    ):
        return NOT_KEPT
    scale = np.maximum(np.sqrt(np.diagonal(sums.products)), 1e-12)
    moved = _STEP * np.diag(scale)
    up, down = (np.asarray(measure([metric], sums.moved(sums.sums + sign * moved))[0]) for sign in (1.0, -1.0))
    slopes = np.where(np.isfinite(up - down), (up - down) / (2 * _STEP * scale), 0.0)
    variance, units = float(slopes @ sums.products @ slopes), sums.equal_rows
    return Influence.of_error(math.sqrt(max(variance, 0.0)), units, units - 1)


# ── several outputs ──────────────────────────────────────────────────────────────────────────────────────────────
def of_outputs(metrics: Sequence[Metric], values: Sequence[float], sums: OutputSums, sampling: Sampling) -> list[Found]:
    """Leave out one row, or one cluster, of the sums of every output."""
    rows = sums.each[0].rows
    if rows is None:
        return _of_output_groups(metrics, values, sums)
    groups, count = groups_of(sums, sampling)
    weights = np.ones(len(groups)) if rows.weight is None else rows.weight.astype(np.float64)
    units = kish(np.bincount(groups, weights, count))
    found = output_changes(metrics, values, sums, groups, count)
    return [Influence.of_units(changes, units) for changes in found]


def _of_output_groups(metrics: Sequence[Metric], values: Sequence[float], sums: OutputSums) -> list[Found]:
    """Leave out one group of rows after another; the groups are the same for every output."""
    varied = [one.variation for one in sums.each]
    if any(one is None or one.clusters is None for one in varied):
        return [NOT_KEPT] * len(metrics)
    units = kish(varied[0].clusters[:, 0])  # type: ignore[union-attr,index]
    found: list[Found] = []
    for metric, value in zip(metrics, values, strict=True):
        base, _ = metric.function.args  # type: ignore[union-attr]
        without = tuple(without_groups(one, base.parts) for one in sums.each)
        found.append(Influence.of_units(value - np.asarray(metric.of(OutputSums(sums.names, without))), units))
    return found


def output_changes(
    metrics: Sequence[Metric], values: Sequence[float], sums: OutputSums, groups: Array, count: int
) -> list[Array]:
    """What averages over the outputs lose without each group of rows."""
    found = []
    for metric, value in zip(metrics, values, strict=True):
        base, how = metric.function.args  # type: ignore[union-attr]
        if how == "uniform":
            base = base.with_parameters(**metric.parameters)
            each = [error_changes([base], [float(base.of(one))], one, groups, count)[0] for one in sums.each]
            found.append(np.mean(each, axis=0))
        else:
            without = [without_each(one, groups, count) for one in sums.each]
            found.append(value - np.asarray(metric.of(OutputSums(sums.names, tuple(without)))))
    return found
