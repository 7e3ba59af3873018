"""Tallies of rows that were grouped elsewhere: each group stands for many rows alike."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes.engines.labels import Labels
from stakes.engines.memory import Rows, sums_by
from stakes.engines.plan import Counted, Plan
from stakes.tallies import Confusion, JointCounts, ScoreTable, Tally
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.tallies.grid import Grid
from stakes.tallies.scores import as_float_if_exact


@dataclass(frozen=True, eq=False)
class Grouped:
    """Groups as codes and numbers, how much each counts, and the grid that its scores lie on if they were binned.

    ``sizes`` are numbers of rows, or sums of weights; then ``squares`` are sums of squared weights.
    """

    rows: Rows
    sizes: Array
    squares: Array | None = None
    grid: str | None = None

    def take(self, places: Array) -> "Grouped":
        """Return some of the groups."""
        squares = None if self.squares is None else self.squares[places]
        return Grouped(self.rows.take(places), self.sizes[places], squares, self.grid)


def count_groups(plan: Plan, grouped: Grouped, by: Labels | None) -> Counted:
    """Count decisions, scores or both, overall and by segment.

    Groups are put in order first: an engine gives them in any, and sums of weights would round differently.
    """
    rows = grouped.rows
    keys = [rows.scores, rows.prediction, rows.truth, None if by is None else by.codes]
    grouped = grouped.take(np.lexsort([key for key in keys if key is not None]))
    whole = _tallies(plan, grouped)
    if by is None:
        return Counted("classification", whole)
    return Counted("classification", whole, dict(_segments(plan, grouped, by)))


def _segments(plan: Plan, grouped: Grouped, by: Labels) -> Iterator[tuple[str, Counted]]:
    """Count each segment; groups lie in the order of the segments already."""
    ends = np.cumsum(np.bincount(by.codes, minlength=len(by.names))).tolist()
    for name, start, end in zip(by.names, [0, *ends[:-1]], ends, strict=True):
        if end > start:
            yield name, Counted("classification", _tallies(plan, grouped.take(np.arange(start, end))))


def _tallies(plan: Plan, grouped: Grouped) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    if grouped.rows.prediction is not None:
        decisions = _confusion(plan, grouped) if plan.dense else _joint(plan, grouped)
        tallies[decisions.kind] = decisions
    if grouped.rows.scores is not None:
        tallies["scores"] = _scores(plan, grouped)
    return tallies


def _confusion(plan: Plan, grouped: Grouped) -> Confusion:
    shape = (len(plan.classes), len(plan.decisions))
    rows: Any = grouped.rows
    cells = rows.truth.astype(np.int64) * shape[1] + rows.prediction.astype(np.int64)
    counts: Array = np.zeros(shape[0] * shape[1], np.int64)
    if grouped.squares is not None:
        counts, squares = (sums_by(cells, w, counts.size).reshape(shape) for w in (grouped.sizes, grouped.squares))
        return Confusion(plan.classes, plan.decisions, counts, squares, plan.positive)
    np.add.at(counts, cells, grouped.sizes)
    return Confusion(plan.classes, plan.decisions, counts.reshape(shape), positive=plan.positive)


def _joint(plan: Plan, grouped: Grouped) -> JointCounts:
    """Keep the combinations that occur, where a table of all would be too large."""
    names, codes = (plan.classes, plan.decisions), (grouped.rows.truth, grouped.rows.prediction)
    joint = JointCounts.from_rows(("truth", "decision"), names, codes, grouped.sizes.astype(np.float64))
    return joint if grouped.squares is not None else replace(joint, counts=joint.counts.astype(np.int64))


def _scores(plan: Plan, grouped: Grouped) -> ScoreTable:
    positive = grouped.rows.truth == plan.classes.index(str(plan.positive))
    values = {"": grouped.sizes} | ({} if grouped.squares is None else {"_squared": grouped.squares})
    columns = {f"positives{suffix}": np.where(positive, column, 0) for suffix, column in values.items()}
    columns |= {f"negatives{suffix}": np.where(positive, 0, column) for suffix, column in values.items()}
    scores = as_float_if_exact(np.asarray(grouped.rows.scores))
    grid = None if grouped.grid is None else Grid(grouped.grid)
    return ScoreTable(str(plan.positive), plan.negative, Columns.added(scores, columns), grid)
