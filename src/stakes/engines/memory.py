"""The one counter: makes tallies of rows, or of groups of equal rows, in one pass.

Readers of files, other engines and tensors pass groups, each of which stands for many rows; arrays in memory are rows.
Columns are processed in blocks, so that temporaries stay in the processor's cache, and the caller's arrays are only
read.
"""

import math
from collections.abc import Callable, Collection
from typing import ClassVar

import numpy as np

from stakes.engines.kinds import Beside
from stakes.engines.labels import Labels
from stakes.engines.plan import Counted, Plan
from stakes.errors import Given, InputError
from stakes.frozen import dataclass, replace
from stakes.tallies import ClassScores, Confusion, CostSums, ErrorSums, JointCounts, ScoreTable, Tally, bins
from stakes.tallies.arithmetic import Array, distinct
from stakes.tallies.class_blocks import Span
from stakes.tallies.class_scores import ORDERED
from stakes.tallies.clusters import Clusters
from stakes.tallies.columns import Columns
from stakes.tallies.grid import Grid
from stakes.tallies.on_demand import OnDemand
from stakes.tallies.scores import as_float_if_exact

_BLOCK = 1 << 16
_MOST_CELLS = 100_000_000
"""How many cells the tables of all segments may have together."""

_RUN = 1 << 8
"""Weights are added up in runs of this many rows, and the runs without rounding: naive sums drift."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of equal length; absent ones are None.

    Labels are codes, scores one column or one for each class; ``span`` is what was seen of the scores of all classes.
    ``costs`` are the costs of each decision by row, if they differ between rows. ``beside`` are columns of another
    kind: several labels or outputs, quantiles, earlier values of a series.

    For groups, ``alike`` is the number of rows of each, or ``weight`` and ``squares`` are their Σw and Σw². Their
    scores may lie on a ``grid``; then ``lost`` are the losses of each group, were it positive and were it negative
    (``tallies/losses.py``).
    """

    truth: Array
    prediction: Array | None = None
    scores: Array | None = None
    span: Span | None = None
    weight: Array | None = None
    cluster: Array | None = None
    costs: Array | None = None
    places: Array | None = None
    beside: Beside | None = None
    alike: Array | None = None
    squares: Array | None = None
    grid: str | None = None
    lost: Array | None = None

    def standing_for(self, sizes: Array, squares: Array | None, grid: str | None = None) -> "Rows":
        """Return groups of these sizes, or, with ``squares``, of these weights."""
        if squares is None:
            return replace(self, alike=sizes, grid=grid)
        return replace(self, weight=sizes, squares=squares, grid=grid)

    def in_order(self, by: Labels | None, key: Array | None) -> "tuple[Rows, Labels | None, Array]":
        """Return groups in a fixed order, their segments, and their places; engines return groups in any order.

        Otherwise sums of weights would round differently.
        """
        keys = [key, self.prediction, self.truth, None if by is None else by.codes]
        order = np.lexsort([one for one in keys if one is not None])
        return self.take(order), None if by is None else replace(by, codes=by.codes[order]), order

    @property
    def clusters(self) -> Clusters | None:
        """The clusters of rows, with what intervals need to know about them."""
        if self.cluster is None:
            return None
        paid = None
        if self.costs is not None and self.prediction is not None:
            paid = self.costs[np.arange(len(self.truth)), self.prediction]
        return Clusters.of(self.cluster, self.truth, self.prediction, self.scores, self.weight, paid)

    def shuffled(self, order: Array) -> "Rows":
        """Return the rows with the truth (and its weight) in another order than the predictions."""
        weight = None if self.weight is None else self.weight[order]
        return replace(self, truth=self.truth[order], weight=weight)

    def take(self, rows: Array | slice) -> "Rows":
        """Return some of the rows, with their places in the whole."""
        places = np.arange(len(self.truth)) if self.places is None else self.places
        columns = {name: getattr(self, name) for name in _COLUMNS if getattr(self, name) is not None}
        chosen = {name: column[rows] for name, column in (columns | {"places": places}).items()}
        beside = None if self.beside is None else self.beside.take(rows)
        return Rows(**chosen, grid=self.grid, beside=beside)


_COLUMNS = ("truth", "prediction", "scores", "weight", "cluster", "costs", "alike", "squares", "lost")


def count_classes(plan: Plan, rows: Rows, by: Labels | None, parts: Collection[str] | None = None) -> Counted:
    """Count decisions, scores or both, overall and by segment."""
    tallies = _tallies(plan, rows, parts)
    if by is None:
        return Counted("classification", tallies, clusters=rows.clusters)
    cells = len(plan.classes) * (len(plan.decisions) if plan.dense else 1)
    if rows.prediction is not None and len(by.names) * cells > _MOST_CELLS:
        raise InputError(
            "too-many-segments",
            Given("by"),
            f" makes {len(by.names):,} segments of {len(plan.classes):,} classes each, which is more than memory "
            "holds; group the segments, or the classes",
        )
    if list(tallies) == ["confusion"] and rows.cluster is None:  # then one pass over the rows is enough
        tables = _cells(plan, rows, by)
        places = {by.names[i]: i for i in np.flatnonzero(tables.total).tolist()}  # only segments that have rows
        parts = OnDemand(places, lambda name: Counted("classification", {"confusion": tables[places[name]]}))
        return Counted("classification", tallies, parts)
    segments = _segments("classification", rows, by, lambda part: _tallies(plan, part, parts))
    return Counted("classification", tallies, dict(segments), clusters=rows.clusters)


def count_beside(rows: Rows, by: Labels | None, parts: Collection[str] | None) -> Counted:
    """Count rows of another kind, overall and by segment."""
    assert rows.beside is not None
    kind = rows.beside.kind

    def tallies(part: Rows) -> dict[str, Tally]:
        assert part.beside is not None
        return {kind: part.beside.count(part.weight, part.places, parts)}

    segments = {} if by is None else _segments(kind, rows, by, tallies)
    return Counted(kind, tallies(rows), segments, clusters=rows.clusters)


def count_errors(
    rows: Rows, by: Labels | None, baseline: float | None, parts: Collection[str] | None, task: str
) -> Counted:
    """Count the errors of a regression, overall and by segment; those of forecasts beside naive ones, too."""

    def sums(part: Rows) -> dict[str, Tally]:
        columns = part.truth, np.asarray(part.prediction), part.weight
        found: dict[str, Tally] = {
            "errors": ErrorSums.from_rows(*columns, baseline=baseline, places=part.places, parts=parts)
        }
        return found if part.beside is None else {**found, part.beside.kind: part.beside.count(part.weight)}

    segments = {} if by is None else _segments(task, rows, by, sums)
    return Counted(task, sums(rows), segments, clusters=rows.clusters)


def pieces(by: Labels) -> dict[str, slice]:
    """The slice of each segment that has rows, once rows are sorted by segment."""
    ends = np.cumsum(np.bincount(by.codes, minlength=len(by.names))).tolist()
    starts = [0, *ends[:-1]]
    return {name: slice(start, end) for name, start, end in zip(by.names, starts, ends, strict=True) if end > start}


def _segments(task: str, rows: Rows, by: Labels, tallies: Callable[[Rows], dict[str, Tally]]) -> OnDemand[str, Counted]:
    """The segments that have rows, each counted on first use."""
    ordered = rows.take(np.argsort(by.codes, kind="stable"))  # once, so that each segment is a piece of it
    places = pieces(by)

    def segment(name: str) -> Counted:
        part = ordered.take(places[name])
        return Counted(task, tallies(part), clusters=part.clusters)

    return OnDemand(places, segment)


def _tallies(plan: Plan, rows: Rows, parts: Collection[str] | None) -> dict[str, Tally]:
    """Count decisions, their costs if these differ by row, and scores."""
    tallies: list[Tally] = []
    if rows.prediction is not None:
        tallies.append(_confusion(plan, rows) if plan.dense else _joint(plan, rows))
        if rows.costs is not None:
            columns = rows.costs, rows.prediction, rows.truth
            tallies.append(CostSums.from_rows(*columns, plan.classes, plan.decisions, rows.weight))
    if rows.scores is not None:
        tallies.append(_scores(plan, rows, rows.scores, parts))
    return {tally.kind: tally for tally in tallies}


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Binned:
    """Cells with the lower edges of their bins, and the number of rows there; for weighted rows Σw, and Σw².

    Without a grid the edges are the scores themselves. Of fewer ``bits`` there are fewer bins in each power of two.
    """

    grid: str | None
    cells: Array
    edges: Array
    weights: Array
    squares: Array | None = None
    bits: int = bins.FINE

    def of_cells(self, cells: range | None) -> "Binned":
        """Return some cells that follow each other, or all; they must be in order."""
        if cells is None:
            return self
        here = slice(*np.searchsorted(self.cells, (cells.start, cells.stop)).tolist())
        squares = None if self.squares is None else self.squares[here]
        columns = self.cells[here], self.edges[here], self.weights[here], squares
        return Binned(self.grid, *columns, self.bits)

    def by_cell(self, cells: int) -> tuple[Array, Array, Array | None]:
        """Return the edges from low to high, and what lies there in each cell of as many, of whichever segment."""
        levels = distinct(self.edges)
        places = self.cells % cells * len(levels) + np.searchsorted(levels, self.edges)

        def spread(column: Array) -> Array:
            found = np.zeros(cells * len(levels), column.dtype)
            np.add.at(found, places, column)
            return found.reshape(cells, -1)

        return levels, spread(self.weights), None if self.squares is None else spread(self.squares)

    def table(self, pair: tuple[str, str], positive: Array) -> ScoreTable:
        """Return the score table of two classes, given which entries are ``positive``."""
        values = {"": self.weights} | ({} if self.squares is None else {"_squared": self.squares})
        columns = {f"positives{suffix}": np.where(positive, column, 0) for suffix, column in values.items()}
        columns |= {f"negatives{suffix}": np.where(positive, 0, column) for suffix, column in values.items()}
        return ScoreTable(*pair, Columns.added(self.edges, columns), self.grid_of_scores)

    @property
    def grid_of_scores(self) -> Grid | None:
        """The grid on which the scores lie."""
        return None if self.grid is None else Grid(self.grid, bits=self.bits)


@dataclass(frozen=True, eq=False)
class CountsByBin:
    """Probabilities in bins: the lower edges of those that hold rows, from low to high, and what each cell has there.

    It answers like :class:`Binned`, whose entries need not be put in order again.
    """

    edges: Array
    counts: Array
    bits: int

    grid: ClassVar[str] = "probability"
    squares: ClassVar[None] = None

    def of_cells(self, cells: range | None) -> "CountsByBin":
        """Return some cells that follow each other, or all."""
        if cells is None:
            return self
        counts = self.counts[cells.start : cells.stop]
        here = counts.any(axis=0)
        return CountsByBin(self.edges[here], counts[:, here], self.bits)

    def by_cell(self, cells: int) -> tuple[Array, Array, None]:
        """Return the edges from low to high, and what lies there in each cell of as many, of whichever segment."""
        found = np.zeros((cells, len(self.edges)), np.int64)
        for start in range(0, len(self.counts), cells):
            some = self.counts[start : start + cells]
            found[: len(some)] += some
        return self.edges, found, None

    def table(self, pair: tuple[str, str], positive: Array) -> ScoreTable:
        """Return the score table of two classes, given which cells are ``positive``."""
        own, counts = {"positives": positive, "negatives": ~positive}, self.counts[: len(positive), ::-1]
        columns = {name: counts[mine].sum(axis=0, dtype=np.int64) for name, mine in own.items()}
        return ScoreTable(*pair, Columns(np.ascontiguousarray(self.edges[::-1]), columns), self.grid_of_scores)

    @property
    def grid_of_scores(self) -> Grid:
        """The grid on which the scores lie."""
        return Grid(self.grid, bits=self.bits)


def _scores(plan: Plan, rows: Rows, scores: Array, parts: Collection[str] | None) -> Tally:
    if scores.ndim == 2:
        wanted = ORDERED if plan.ordered and parts is None else parts
        return ClassScores.from_rows(scores, rows.truth, plan.classes, rows.weight, span=rows.span, parts=wanted)
    positive = _mask(rows.truth, plan.classes.index(str(plan.positive)))
    pair = str(plan.positive), plan.negative
    sizes = rows.alike if rows.squares is None else rows.weight
    if sizes is None:
        extra = None if rows.costs is None else _costs_by_class(rows, rows.costs, positive)
        return ScoreTable.from_rows(scores, positive, rows.weight, extra=extra, positive=pair[0], negative=pair[1])
    found = Binned(rows.grid, positive, as_float_if_exact(scores), sizes, rows.squares)
    return replace(found.table(pair, positive), losses=None if rows.lost is None else _losses(rows.lost, positive))


def _losses(lost: Array, positive: Array) -> Array:
    """The losses of groups, each by its own class."""
    some = np.flatnonzero(lost.any(axis=(1, 2)))  # the sum of a whole cell is stored at one entry
    lost, positive = lost[some], positive[some]
    own = [lost[mine, :, place].sum(0, dtype=np.longdouble) for place, mine in enumerate((positive, ~positive))]
    return np.stack(own, axis=-1).astype(np.float64)


def _costs_by_class(rows: Rows, costs: Array, positive: Array) -> dict[str, Array]:
    """The cost of each decision for the positive and the negative rows at a score, and its square."""
    columns: dict[str, Array] = {}
    unit = np.ones(len(positive)) if rows.weight is None else rows.weight
    for d, cost in enumerate(costs.T):
        for name, mine in (("positives", positive), ("negatives", ~positive)):
            paid = np.where(mine, unit * cost, 0.0)
            columns |= {f"cost {d} of {name}": paid, f"cost {d} of {name} squared": paid**2}
    return columns


def _mask(codes: Array, code: int) -> Array:
    """A mask of the rows with a code; bytes that are 0 or 1 need no comparison."""
    if codes.dtype == np.uint8 and code == 1 and len(codes) and codes.max() <= 1:
        return codes.view(bool)
    return np.asarray(codes == code)


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────
def _confusion(plan: Plan, rows: Rows) -> Confusion:
    if rows.weight is rows.alike is None and len(plan.classes) == len(plan.decisions) == 2:
        t, d = _mask(rows.truth, 1), _mask(np.asarray(rows.prediction), 1)
        both, P, PP = np.count_nonzero(t & d), np.count_nonzero(t), np.count_nonzero(d)
        return table_of(plan, np.array([[len(t) - P - PP + both, PP - both], [P - both, both]]))
    return _cells(plan, rows, None)


def _joint(plan: Plan, rows: Rows) -> JointCounts:
    """Count the combinations that occur; a table of all would be too large."""
    names, codes = (plan.classes, plan.decisions), (rows.truth, rows.prediction)
    if rows.alike is None or rows.weight is not None:
        return JointCounts.from_rows(("truth", "decision"), names, codes, rows.weight)
    joint = JointCounts.from_rows(("truth", "decision"), names, codes, rows.alike.astype(np.float64))
    return replace(joint, counts=joint.counts.astype(np.int64))


def table_of(plan: Plan, counts: Array, squares: Array | None = None) -> Confusion:
    """Return a table of counts (or of Σw, and Σw²), or one along a leading axis for each segment."""
    return Confusion(plan.classes, plan.decisions, counts, squares, plan.positive)


def _cells(plan: Plan, rows: Rows, by: Labels | None) -> Confusion:
    """Return the table of all rows, or those of all segments along a leading axis."""
    K, M, decided = len(plan.classes), len(plan.decisions), np.asarray(rows.prediction)
    shape = (K, M) if by is None else (len(by.names), K, M)
    size = math.prod(shape)
    narrow = np.dtype(np.uint8 if size <= 256 else np.int64).type  # narrower numbers would wrap

    def numbers(part: slice) -> Array:
        cells = rows.truth[part].astype(narrow)
        if by is not None:
            cells += narrow(K) * by.codes[part].astype(narrow)
        cells *= narrow(M)
        cells += decided[part].astype(narrow, copy=False)
        return cells

    if rows.weight is not None:
        cells = numbers(slice(None)).astype(np.int64)
        squares = rows.weight**2 if rows.squares is None else rows.squares
        return table_of(plan, *(sums_by(cells, w, size).reshape(shape) for w in (rows.weight, squares)))
    counts = np.zeros(size, np.int64)
    if rows.alike is not None:
        np.add.at(counts, numbers(slice(None)).astype(np.int64), rows.alike)
    for start in range(0, len(rows.truth) if rows.alike is None else 0, _BLOCK):
        counts += np.bincount(numbers(slice(start, start + _BLOCK)), minlength=size)
    return table_of(plan, counts.reshape(shape))


def sums_by(groups: Array, values: Array, count: int) -> Array:
    """Sum values by group number, almost without rounding, with the same result for any split into blocks."""
    length = max(_RUN, count)  # with many groups a run must be longer, or there would be more sums than rows
    runs = []
    for start in range(0, len(groups), _BLOCK):
        block, part = groups[start : start + _BLOCK], values[start : start + _BLOCK]
        run = np.arange(len(block)) // length
        sums = np.bincount(run * count + block, weights=part, minlength=(int(run[-1]) + 1) * count)
        runs.append(sums.reshape(-1, count))
    return np.array([math.fsum(column) for column in np.concatenate(runs).T.tolist()])
