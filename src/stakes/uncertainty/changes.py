"""What the figures of a tally would be without one row, or one cluster, after another.

A table knows how many rows of each kind there are, so a figure is worked out once for every kind. Rankings of very many
scores are put together into some hundred pieces first, and rows with very many predicted numbers into random groups.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from stakes.metrics import Metric, measure
from stakes.metrics.prior import at_prior, base_of
from stakes.tallies import ClassScores, Confusion, ErrorSums, OutputSums, ScoreTable, Tally, TermSums
from stakes.tallies.arithmetic import Array, Number, divide
from stakes.uncertainty.influence import (
    CELLS,
    SINGLE_CLUSTER,
    SINGLE_ROW,
    Found,
    Influence,
    kish,
    left_out,
    unit_weights,
)
from stakes.uncertainty.losses import of_class_scores
from stakes.uncertainty.numbers import of_errors
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.scores import of_scores, without_rows
from stakes.uncertainty.terms import of_outputs, of_terms

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
        return of_parts(metrics, values, table, sampling.clusters.tables(table))
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
    """How many rows of equal weight tell as much as those that a figure rests on: all, or those it is a share of."""
    if table.squares is None or not metric.share_of or metric.population is not None or not table.of_pair:
        return table.equal_rows
    weight, square = (float(getattr(one, metric.share_of)) for one in (table, table.with_counts(table.squares)))
    return weight**2 / square if square else 0.0


def of_parts(metrics: Sequence[Metric], values: Sequence[float], table: Confusion, each: Array) -> list[Found]:
    """Leave out one cluster after another, of which these are the tables."""
    changes, unseen = table_changes(metrics, values, table, each), _largest_unseen(metrics, values, table)
    units = kish(each.sum((-1, -2)))
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
        drawn = sampling.generator().choice(len(rows), most, p=number / number.sum())
        chosen, times = np.unique(drawn, return_counts=True)
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
