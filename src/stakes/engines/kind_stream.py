"""Rows of several labels, quantiles, counts or forecasts, too many for memory: read twice in batches, and added up.

The first pass finds the labels, the range of scores, and the answer of a model that ignores its input; the second sums
the terms of rows, overall and by segment. Sums of random groups of rows, or of clusters, give the intervals. Scores of
labels are kept in bins.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments
from stakes.engines.kinds import Beside, SeriesReader, bind, read_counts, read_kind
from stakes.engines.labels import Labels, encode
from stakes.engines.plan import Counted
from stakes.engines.reading import RowQuestion
from stakes.engines.rows import Dropped, RowsThatCount
from stakes.engines.segments import segment_labels
from stakes.tallies import CountSums, ForecastSums, LabelSums, OutputSums, QuantileSums, ScoreTable, bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import MOST_GROUPS, Clusters, deal_out
from stakes.tallies.count_sums import Levels
from stakes.tallies.keys import put_together
from stakes.tallies.label_sums import GroupCells
from stakes.tallies.quantile_sums import levels_of, quantiles_of
from stakes.tallies.term_sums import TermRows, TermSums

CELLS = 1 << 22
"""Approximate number of values that are read, or kept of all groups, at once."""

_MOST_TABLES = 200
"""With more labels neither their scores are kept, nor which are missed together."""

_FEW_GROUPS = 200

_PIECES = 64
"""Pieces of the ranking of a label, in each of which the rows of groups are counted."""

_RANKED = ("scores", "truth", "decided")

_MOST_IN_PIECES = 1 << 24
"""Approximate number of counts that are kept of groups in pieces."""

NumberRead = Callable[[Arguments, str], tuple[RowsThatCount, Beside]]
"""Reads rows of predicted numbers, given the columns and the option ``missing``."""

Pass = Callable[[Callable[[Arguments, int], "KindBatch"]], Iterator["KindBatch | int"]]
"""Reads all rows by a function of each batch; yields its result, or the number of dropped rows if none is left."""


@dataclass(frozen=True, eq=False)
class KindBatch:
    """Rows of a kind, from row number ``first`` on, with their segments and clusters by name."""

    kind: str
    names: tuple[str, ...]
    rows: TermRows
    by: Labels | None
    cluster: Labels | None
    first: int
    dropped: Dropped
    groups: Array | None = None

    def by_segment(self) -> "Iterator[tuple[str, KindBatch]]":
        """The rows of each segment, without its clusters."""
        for code, name in enumerate(() if self.by is None else self.by.names):
            here = np.flatnonzero(self.by.codes == code)  # type: ignore[union-attr]
            if len(here):
                groups = None if self.groups is None else self.groups[here]
                yield name, replace(self, rows=self.rows.take(here), groups=groups)


def count_kind(go: Pass, asked: RowQuestion, kind: str) -> Counted | None:
    """Count rows of a kind; None if they turn out to have several outputs."""

    def reader(asked: RowQuestion) -> Callable[[Arguments, int], KindBatch]:
        beside_errors = {CountSums.kind: read_counts, ForecastSums.kind: SeriesReader(asked.season).read}
        return partial(read, asked, beside_errors.get(kind))

    def read(asked: RowQuestion, numbers: NumberRead | None, found: Arguments, first: int) -> KindBatch:
        rows, beside = numbers(found, asked.missing) if numbers else read_kind(None, bind(asked, found), kind)
        cluster = encode(rows.columns["cluster"]) if "cluster" in rows.columns else None
        terms, by = TermRows(beside.columns, rows.weight), segment_labels(rows.columns)
        return KindBatch(beside.kind, beside.names, terms, by, cluster, first, rows.dropped)

    seen = Survey()
    for batch in go(reader(asked)):
        if isinstance(batch, int):
            seen.dropped += batch
        elif batch.kind == OutputSums.kind:
            return None
        else:
            seen.add(batch)
    if not seen.rows:
        raise errors.nothing_left(seen.dropped) if seen.dropped else errors.nothing_there(asked.where)
    settled = replace(asked, **seen.settled(asked))
    counting = KindCounts(seen)
    for batch in go(reader(settled)):
        if not isinstance(batch, int):
            counting.add(batch)
    return counting.result()


# ── the first pass ───────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(eq=False)
class Truths:
    """The truths of some rows: the weight of each label; of each bin of numbers its weight, rows and sum.

    Numbers are binned by how far they lie from an ``origin`` among the first ones: they may be large, and all alike.
    For labels and counts also their ranking by scores or predictions, in bins.
    """

    weighed: float = 0.0
    origin: float | None = None
    held: dict[str, float] = field(default_factory=dict)
    bins: tuple[Array, ...] = field(default_factory=lambda: (np.zeros(0, np.int64), *np.zeros((3, 0))))
    tables: dict[str, ScoreTable] = field(default_factory=dict)
    levels: Levels | None = None

    def add(self, batch: "KindBatch", grid: str) -> None:
        """Add some rows, whose scores are binned on a grid."""
        columns, weights = batch.rows.columns, batch.rows.weights
        self.weighed += float(weights.sum())
        if batch.kind == CountSums.kind:
            levels = Levels.of(columns["truth"], columns["prediction"], weights)
            self.levels = levels if self.levels is None else Levels.join([self.levels, levels])
            return
        if batch.kind == ForecastSums.kind:
            return
        if batch.kind == QuantileSums.kind:
            truth = columns["truth"]
            if self.origin is None:
                self.origin = float(np.partition(truth, len(truth) // 2)[len(truth) // 2])
            away = truth - self.origin
            new = bins.numbers(away, "line"), weights, np.ones(len(truth)), away
            self.bins = put_together([self.bins, new])
            return
        for name, own in zip(batch.names, (weights @ columns["truth"]).tolist(), strict=True):
            self.held[name] = self.held.get(name, 0.0) + own
        if "scores" in columns and len(batch.names) <= _MOST_TABLES:
            own_scores = LabelSums(batch.names, (), np.zeros(1), rows=batch.rows)
            for name, table in zip(batch.names, own_scores.tables, strict=True):
                before = [self.tables[name].on_grid(grid)] if name in self.tables else []
                self.tables[name] = ScoreTable.sum([*before, table.on_grid(grid)])

    def constant_answer(self, kind: str, names: tuple[str, ...]) -> Array | None:
        """The answer for each name of a model that ignores its input; None for numbers, where the sums give it."""
        if kind in (CountSums.kind, ForecastSums.kind):
            return None
        if kind == QuantileSums.kind:
            _, weights, rows, away = self.bins
            return quantiles_of(away / rows, weights, rows, levels_of(names)) + (self.origin or 0.0)
        return np.array([self.held.get(name, 0.0) for name in names]) / self.weighed


@dataclass(eq=False)
class Survey:
    """What must be known about all rows before they are counted."""

    kind: str = ""
    names: tuple[str, ...] = ()
    rows: int = 0
    dropped: int = 0
    dropped_weight: float = 0.0
    reach: tuple[float, float] = (np.inf, -np.inf)
    columns: set[str] = field(default_factory=set)
    truths: dict[str | None, Truths] = field(default_factory=lambda: {None: Truths()})
    clusters: dict[str, int] = field(default_factory=dict)

    def add(self, batch: KindBatch) -> None:
        """Take note of some rows."""
        self.kind, self.rows = batch.kind, self.rows + len(batch.rows)
        self.names = tuple(dict.fromkeys((*self.names, *batch.names)))
        self.dropped += batch.dropped.rows
        self.dropped_weight += batch.dropped.weight
        self.columns |= set(batch.rows.columns)
        for name in () if batch.cluster is None else batch.cluster.names:
            self.clusters.setdefault(name, len(self.clusters))
        if (scores := batch.rows.columns.get("scores")) is not None:
            self.reach = min(self.reach[0], float(scores.min())), max(self.reach[1], float(scores.max()))
        self.truths[None].add(batch, self.grid)
        for name, part in batch.by_segment():
            self.truths.setdefault(name, Truths()).add(part, self.grid)

    @property
    def probabilities(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        return self.reach[0] >= 0 and self.reach[1] <= 1

    @property
    def grid(self) -> str:
        """The grid on which scores are binned."""
        return "probability" if self.probabilities else "line"

    def settled(self, asked: RowQuestion) -> dict[str, Any]:
        """The options that are settled once all rows were seen: the labels and the task."""
        if self.kind != LabelSums.kind:
            return {}
        if asked.label_separator is not None and asked.classes is None:
            self.names = tuple(sorted(self.names))
        if asked.threshold is None and "scores" in self.columns and asked.prediction is None and not self.probabilities:
            self.columns -= {"decided"}
        return {"classes": self.names, "task": "classification"}


# ── the second pass ──────────────────────────────────────────────────────────────────────────────────────────────
class KindCounts:
    """Sums of all rows, and of each segment."""

    def __init__(self, seen: Survey) -> None:
        self._seen = seen
        self._parts = {name: _Sums(seen, truths) for name, truths in seen.truths.items()}

    def add(self, batch: KindBatch) -> None:
        """Add some rows."""
        columns = {name: one for name, one in batch.rows.columns.items() if name in self._seen.columns}
        batch = replace(batch, rows=replace(batch.rows, columns=columns), groups=self._groups(batch))
        self._parts[None].add(batch)
        for name, part in batch.by_segment():
            self._parts[name].add(part)

    def _groups(self, batch: KindBatch) -> Array:
        """The group of each row: by its cluster, or random."""
        if batch.cluster is None:
            return deal_out(batch.first + np.arange(len(batch.rows)))
        numbers = np.array([self._seen.clusters[name] for name in batch.cluster.names])[batch.cluster.codes]
        return deal_out(numbers) if len(self._seen.clusters) > MOST_GROUPS else numbers

    def result(self) -> Counted:
        """Return the sums of all that was added."""
        seen, whole = self._seen, self._counted(self._parts[None], len(self._seen.clusters))
        segments = {name: self._counted(self._parts[name]) for name in sorted(filter(None, self._parts))}
        lost: dict[str, Any] = {"dropped": seen.dropped, "dropped_weight": seen.dropped_weight}
        return replace(whole, segments=segments, read=seen.rows + seen.dropped, **lost)

    def _counted(self, sums: "_Sums", clusters: int | None = None) -> Counted:
        """The tally of some rows; the default number of clusters is that of groups with rows."""
        tally = sums.result()
        groups = np.asarray(tally.groups)  # also those without rows: a group has the same index in every segment
        members = Clusters(np.arange(len(groups)), clusters or int(np.count_nonzero(groups[:, 0])))
        return Counted(self._seen.kind, {self._seen.kind: tally}, clusters=members if self._seen.clusters else None)


class _Sums:
    """Sums by group of the terms of rows, the same for a model that ignores its input, and ranks of groups."""

    def __init__(self, seen: Survey, truths: Truths) -> None:
        self._seen, self._truths = seen, truths
        self._always = truths.constant_answer(seen.kind, seen.names)
        self._kind: type[TermSums] = {kind.kind: kind for kind in (LabelSums, QuantileSums, CountSums, ForecastSums)}[
            seen.kind
        ]
        self._few = seen.kind == LabelSums.kind and len(seen.names) <= _MOST_TABLES
        self._added: list[Array] = []
        self._terms: tuple[str, ...] = ()
        self._squares, self._weighted = 0.0, False
        self._together: Array | None = None
        self._tables = tuple(truths.tables[name].on_grid(seen.grid) for name in seen.names if name in truths.tables)
        self._count = self._group_count()
        self._cells = self._cut_rankings()
        self._area_changes = np.zeros(self._count)

    def add(self, batch: KindBatch) -> None:
        """Add some rows."""
        kind, names, columns, weights = self._kind, self._seen.names, batch.rows.columns, batch.rows.weights
        groups = np.asarray(batch.groups) % self._count
        both = [columns] if self._always is None else [columns, kind.columns_answering(columns, self._always)]
        new = []
        for one in both:
            self._terms, sums = kind.group_sums(names, replace(batch.rows, columns=one), groups, self._count)
            new.append(sums)
        self._added = [one + more for one, more in zip(self._added, new, strict=True)] if self._added else new
        self._weighted, self._squares = batch.rows.weight is not None, self._squares + float((weights**2).sum())
        if self._truths.levels is not None:
            moved = self._truths.levels.changes(columns["truth"], columns["prediction"], weights)
            self._area_changes += np.bincount(groups, moved, self._count)
        if self._few and "decided" in columns:
            missed = LabelSums(names, (), np.zeros(1), rows=batch.rows).missed_together()
            self._together = missed if self._together is None else self._together + missed
        for place in range(len(self._cells) - 1):
            scores, truth, given = (columns.get(name, columns["truth"])[:, place] for name in _RANKED)
            rows_of_label = scores, truth, given, weights, groups
            for ranking in (place, -1):
                self._cells[ranking] = self._cells[ranking].with_rows(*rows_of_label)

    def _group_count(self) -> int:
        """The number of groups: that of clusters, or as many as fit into memory."""
        if self._seen.clusters:
            return min(len(self._seen.clusters), MOST_GROUPS)
        of_terms, in_pieces = CELLS // (4 * len(self._seen.names)), _MOST_IN_PIECES // self._rankings // _PIECES
        return max(_FEW_GROUPS, min(MOST_GROUPS, in_pieces if self._tables else of_terms))

    @property
    def _rankings(self) -> int:
        """The number of halves of rankings: of each label and of all labels, in each segment."""
        return 2 * (len(self._tables) + 1) * len(self._seen.truths)

    def _cut_rankings(self) -> list[GroupCells]:
        """The pieces of the rankings of each label and of all labels; none if clusters and segments are many."""
        pieces = min(_PIECES, _MOST_IN_PIECES // self._rankings // self._count)
        tables = (*self._tables, ScoreTable.sum(self._tables)) if self._tables and pieces >= _PIECES // 8 else ()
        decided = bool(self._seen.clusters) and "decided" in self._seen.columns
        return [GroupCells.cut(table, self._count, pieces, decided) for table in tables]

    def result(self) -> TermSums:
        """Return the sums of all that was added."""
        groups, *ignoring = self._added
        parts: dict[str, Any] = {"groups": groups}
        if ignoring:
            parts |= {"ignoring": ignoring[0].sum(axis=0), "ignoring_groups": ignoring[0]}
        if self._kind is LabelSums:
            parts |= {"scored": self._tables or None, "together": self._together}
            parts["cells"] = tuple(self._cells)
        elif self._kind is CountSums:
            parts |= {"levels": self._truths.levels, "area_changes": self._area_changes}
        whole = self._seen.names, self._terms, groups.sum(axis=0), self._squares, self._weighted
        return self._kind(*whole, **parts)
