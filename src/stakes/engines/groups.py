"""Tallies of rows that were grouped elsewhere: each group stands for many rows alike."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from stakes.engines.columns import Arguments
from stakes.engines.labels import Labels
from stakes.engines.memory import Rows, pieces, sums_by, table_of
from stakes.engines.plan import Counted, Plan
from stakes.engines.reading import RowQuestion, read_rows
from stakes.engines.segments import with_segments_together
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

    def take(self, places: Array | slice) -> "Grouped":
        """Return some of the groups."""
        squares = None if self.squares is None else self.squares[places]
        return Grouped(self.rows.take(places), self.sizes[places], squares, self.grid)


def count_as_rows(
    asked: RowQuestion, columns: Arguments, above: Array | None, count: Callable[[Plan, Rows, Labels | None], Counted]
) -> Counted | None:
    """Read groups as if they were rows, and count them; None when they turn out to be numbers instead of classes.

    ``above`` says which groups reach the threshold, where that is known of the rows: within a bin it could not be told
    later.
    """
    given = {"weight": None, "where": None, "missing": "error", **with_segments_together(columns)}
    read = read_rows(None, replace(asked, **given))
    if read.plan is None or above is None:
        return None if read.plan is None else count(read.plan, read.rows, read.by)
    counted = count(read.plan, replace(read.rows, prediction=above.astype(np.int64)), read.by)
    return replace(counted, decided_by="threshold", threshold=asked.threshold)


def count_groups(plan: Plan, grouped: Grouped, by: Labels | None) -> Counted:
    """Count decisions, scores or both, overall and by segment."""
    whole = Counted("classification", _tallies(plan, grouped))
    if by is None:
        return whole
    ordered = grouped.take(np.argsort(by.codes, kind="stable"))
    parts = {name: _tallies(plan, ordered.take(piece)) for name, piece in pieces(by).items()}
    return replace(whole, segments={name: Counted("classification", part) for name, part in parts.items()})


def _tallies(plan: Plan, grouped: Grouped) -> dict[str, Tally]:
    tallies: list[Tally] = []
    if grouped.rows.prediction is not None:
        tallies.append(_confusion(plan, grouped) if plan.dense else _joint(plan, grouped))
    if grouped.rows.scores is not None:
        tallies.append(_score_table(plan, grouped, as_float_if_exact(grouped.rows.scores)))
    return {tally.kind: tally for tally in tallies}


def _confusion(plan: Plan, grouped: Grouped) -> Confusion:
    shape = (len(plan.classes), len(plan.decisions))
    cells = grouped.rows.truth.astype(np.int64) * shape[1] + np.asarray(grouped.rows.prediction, np.int64)
    counts = np.zeros(shape[0] * shape[1], np.int64)
    if grouped.squares is not None:
        sums = (sums_by(cells, w, counts.size).reshape(shape) for w in (grouped.sizes, grouped.squares))
        return table_of(plan, *sums)
    np.add.at(counts, cells, grouped.sizes)
    return table_of(plan, counts.reshape(shape))


def _joint(plan: Plan, grouped: Grouped) -> JointCounts:
    """Keep the combinations that occur, where a table of all would be too large."""
    names, codes = (plan.classes, plan.decisions), (grouped.rows.truth, grouped.rows.prediction)
    joint = JointCounts.from_rows(("truth", "decision"), names, codes, grouped.sizes.astype(np.float64))
    return joint if grouped.squares is not None else replace(joint, counts=joint.counts.astype(np.int64))


def _score_table(plan: Plan, grouped: Grouped, scores: Array) -> ScoreTable:
    """Count groups of one score each, which are of the positive class or not."""
    positive = np.asarray(grouped.rows.truth == plan.classes.index(str(plan.positive)))
    values = {"": grouped.sizes} | ({} if grouped.squares is None else {"_squared": grouped.squares})
    columns = {f"positives{suffix}": np.where(positive, column, 0) for suffix, column in values.items()}
    columns |= {f"negatives{suffix}": np.where(positive, 0, column) for suffix, column in values.items()}
    bins = None if grouped.grid is None else Grid(grouped.grid)
    return ScoreTable(str(plan.positive), plan.negative, Columns.added(scores, columns), bins)
