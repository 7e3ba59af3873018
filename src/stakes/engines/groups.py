"""Tallies of rows that were grouped elsewhere: each group stands for many rows alike."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.engines.binning import Binned
from stakes.engines.columns import Arguments
from stakes.engines.labels import Labels
from stakes.engines.memory import Rows, pieces, sums_by, table_of
from stakes.engines.plan import Counted, Plan
from stakes.engines.reading import FEW_OUTSIDE, RowQuestion, read_rows
from stakes.engines.segments import with_segments_together
from stakes.tallies import Confusion, JointCounts, ScoreTable, Tally, bins
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


@dataclass(frozen=True, eq=False)
class GroupLosses:
    """What the rows of each group lose (``tallies/losses.py``), were they positive and were they negative."""

    truth: Array
    by: Labels | None
    sums: Array

    def of(self, plan: Plan, segment: str | None = None) -> Array:
        """The sums over all groups, or over those of a segment, each of the class that it is of."""
        positive = self.truth == plan.classes.index(str(plan.positive))
        here = slice(None) if segment is None or self.by is None else self.by.codes == self.by.names.index(segment)
        own = [self.sums[here][chosen[here], :, code] for code, chosen in enumerate((positive, ~positive))]
        return np.stack([sums.sum(0, dtype=np.longdouble) for sums in own], axis=-1).astype(np.float64)


def count_as_rows(
    asked: RowQuestion,
    columns: Arguments,
    above: Array | None,
    count: Callable[[Plan, Rows, Labels | None], Counted | None],
) -> Counted | None:
    """Read groups as if they were rows, and count them; None when they turn out to be numbers instead of classes.

    ``above`` says which groups reach the threshold, where that is known of the rows: within a bin it could not be told
    later.
    """
    given = {"weight": None, "cluster": None, "where": None, "missing": "error", **with_segments_together(columns)}
    read = read_rows(None, replace(asked, **given))
    if read.plan is None or above is None:
        return None if read.plan is None else count(read.plan, read.rows, read.by)
    counted = count(read.plan, replace(read.rows, prediction=above.astype(np.int64)), read.by)
    return None if counted is None else replace(counted, decided_by="threshold", threshold=asked.threshold)


def count_groups(plan: Plan, grouped: Grouped, by: Labels | None, losses: GroupLosses | None = None) -> Counted:
    """Count decisions, scores or both, overall and by segment; of binned scores what they lose is known beside."""

    def tallies(grouped: Grouped, segment: str | None = None) -> dict[str, Tally]:
        found = _tallies(plan, grouped)
        if losses is not None and isinstance(scores := found.get("scores"), ScoreTable):
            found["scores"] = replace(scores, losses=losses.of(plan, segment))
        return found

    whole = Counted("classification", tallies(grouped))
    if by is None:
        return whole
    ordered = grouped.take(np.argsort(by.codes, kind="stable"))
    parts = {name: tallies(ordered.take(piece), name) for name, piece in pieces(by).items()}
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
    found = Binned(grouped.grid, positive, scores, grouped.sizes, grouped.squares)
    return score_table((str(plan.positive), plan.negative), found, positive)


def score_table(pair: tuple[str, str], found: Binned, positive: Array) -> ScoreTable:
    """Return the table of the scores of a class, and of another one: which of them are ``positive``."""
    values = {"": found.weights} | ({} if found.squares is None else {"_squared": found.squares})
    columns = {f"positives{suffix}": np.where(positive, column, 0) for suffix, column in values.items()}
    columns |= {f"negatives{suffix}": np.where(positive, 0, column) for suffix, column in values.items()}
    grid = None if found.grid is None else Grid(found.grid)
    return ScoreTable(*pair, Columns.added(found.edges, columns), grid)


def warn_of_few_in(table: ScoreTable) -> None:
    """Warn as :func:`stakes.engines.reading.warn_of_few_outside` does, of scores that are counted already."""
    if table.probabilities:
        return
    (low, high), total = table.range, table.total
    below = total - sum(table.at(0.0).counts[:, 1])
    above = sum(table.at(math.nextafter(1.0, 2.0) if table.grid is None else bins.next_edge(1.0, "line")).counts[:, 1])
    if below + above <= FEW_OUTSIDE * total:
        errors.warn(
            "few-outside", errors.few_outside(round(below + above), round(total), None, low if low < 0 else high)
        )
