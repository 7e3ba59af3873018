"""Clusters of rows that are not kept: the rows of each by class, decision and cell of a coarse grid of scores.

The effect of leaving out a cluster follows from these counts. More than some thousand clusters are merged at random,
like those of rows in memory.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import narwhals as nw
import numpy as np

from stakes import errors
from stakes.engines.binning import ROOM, LongTable, SortedSums, count_probabilities
from stakes.engines.cells import Found
from stakes.engines.class_stream import BatchOutcome, ClassBatch
from stakes.engines.columns import Column, LazyTable, kind_changes, to_column
from stakes.engines.files.room import memory_left
from stakes.engines.labels import Labels, encode, rows_of, whole_numbers
from stakes.engines.memory import Binned, Rows
from stakes.engines.plan import Counted
from stakes.engines.queries import QuerySource, collect, lacks, row_by_row, whether
from stakes.engines.segments import segment_labels
from stakes.engines.spark_text import (
    SparkText,
    add_columns,
    add_up,
    choose,
    column_of,
    count_whole_numbers,
    keep_rows,
)
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array, distinct
from stakes.tallies.clusters import MOST_CLASSES, MOST_GROUPS, Clusters, deal_out
from stakes.tallies.error_terms import Term
from stakes.tallies.keys import order_of
from stakes.tallies.operations import ArrayOperations
from stakes.tallies.parallel import run_all

BITS = 5
"""Scores of a cluster are counted on a grid of 2**BITS cells per power of two."""

_SPAN = 1 << 11
"""Combines cell and group in one number; larger than the number of groups."""


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Rows counted by cluster, class, decision and score cell, with their segments.

    ``count`` is the number of clusters, ``counts`` their number by segment; many clusters share a group. With several
    classes ``cells`` are such counts by the score of each class; ``ranks``, ``lost`` and ``paid`` are as in
    :class:`Clusters`.
    """

    rows: Rows
    by: Labels | None
    grid: tuple[str, int] | None
    count: int
    counts: Mapping[str, int]
    cells: Sequence["ClusterRows"] = ()
    ranks: Array | None = None
    lost: Array | None = None
    paid: Array | None = None

    def added_to(self, counted: Counted) -> Counted:
        """Add the clusters to a count and to its segments."""
        segments = {
            name: replace(counted.segments[name], clusters=self._clusters(name))
            for name in (() if self.by is None else self.by.names)
        }
        return replace(counted, clusters=self._clusters(None), segments=segments)

    def _clusters(self, segment: str | None) -> Clusters:
        """The clusters of a segment, or of all rows."""
        if segment is None and self.by is not None and (whole := self._across_segments()) is not None:
            return whole._clusters(None)
        chosen = rows_of(self.by, segment)
        rows, count = self.rows.take(chosen), self.count if segment is None else self.counts.get(segment, 0)
        codes, sizes, scores = np.asarray(rows.cluster), np.asarray(rows.alike, np.float64), rows.scores
        weight, squares = (sizes if one is None else one for one in (rows.weight, rows.squares))
        if scores is not None and self.grid is not None:
            scores = _each(partial(_middles, self.grid), scores)
        columns = rows.truth, rows.prediction, scores, weight
        merged = self.count > MOST_GROUPS
        found = Clusters(codes, count, *columns) if merged else Clusters.of(codes, *columns)
        ranks, lost, paid = (None if one is None else one[chosen] for one in (self.ranks, self.lost, self.paid))
        cells = tuple(part._clusters(segment) for part in self.cells)
        found = replace(found, alike=sizes, squares=squares, grid=self.grid, cells=cells)
        return replace(found, ranks=ranks, lost=lost, paid=paid)

    def _across_segments(self) -> "ClusterRows | None":
        """The same with what lies in several segments put together; None where that cannot be told by whole numbers."""
        rows = self.rows
        if self.paid is not None or (rows.scores is not None and self.grid is None):
            return None
        cells = None if rows.scores is None or self.grid is None else bins.numbers(rows.scores, *self.grid)
        keys: Array = np.zeros(len(rows.truth), np.int64)
        most = 1
        for column in (rows.truth, rows.prediction, self.ranks, cells, rows.cluster):
            if column is not None and len(column):
                low, size = int(column.min()), int(column.max()) - int(column.min()) + 1
                keys, most = keys * size + (column - low), most * size
        if most >= 1 << 63:
            return None
        order = order_of(keys)
        starts = np.flatnonzero(np.append(True, np.diff(keys[order]) > 0)[: len(order)])

        def added(column: Array | None) -> Array | None:
            return None if column is None else np.add.reduceat(column[order], starts, axis=0)

        together = rows.take(order[starts])
        together = replace(
            together, alike=added(rows.alike), weight=added(rows.weight), squares=added(rows.squares), places=None
        )
        ranks = None if self.ranks is None else self.ranks[order[starts]]
        return replace(self, rows=together, by=None, ranks=ranks, lost=added(self.lost))


def _middles(grid: tuple[str, int], edges: Array) -> Array:
    """The middle of each cell, given its lower edge."""
    kind, bits = grid
    numbers = bins.numbers(edges, kind, bits)
    after = bins.edges(numbers + 1, kind, bits)
    return (edges + (np.minimum(after, 1.0) if kind == "probability" else after)) / 2


# ── in another engine ────────────────────────────────────────────────────────────────────────────────────────────
_PRIME = 2147483647


@dataclass(frozen=True, eq=False)
class QueryClusters:
    """The distinct clusters of a table in another engine, and their number overall and by segment."""

    each: LazyTable
    count: int
    counts: Mapping[str, int]

    @classmethod
    def of(cls, source: QuerySource) -> "QueryClusters":
        """Count the clusters, of all rows and of each segment."""
        frame, place = source.frame, source.places["cluster"]
        if source.dtype("cluster").is_nested():
            raise errors.unsupported_type("cluster", str(source.dtype("cluster")))
        count, gaps = _count_different(frame, place)
        if gaps:
            raise errors.missing_values("cluster", gaps, None)
        if "weight" in source.places:
            frame = frame.filter(nw.col(source.places["weight"]) != 0)
            count, _ = _count_different(frame, place)
        if source.dtype("cluster").is_float():
            _refuse_fractions(frame, place)
        each, counts = frame.group_by(place).agg(nw.len().alias("rows")).select(place), {}
        if by := [name for name in source.places if name.startswith("by")]:
            keys = list(dict.fromkeys(source.places[name] for name in by))
            inner = frame.group_by(*dict.fromkeys([*keys, place])).agg(nw.len().alias("rows"))
            table = collect(inner.group_by(*keys).agg(nw.len().alias("count")))
            labels = segment_labels({name: to_column(table[source.places[name]], name) for name in by})
            assert labels is not None
            many = table["count"].to_numpy()
            counts = {labels.names[code]: int(many[row]) for row, code in enumerate(labels.codes.tolist())}
        return cls(each, count, counts)

    def put_together(self, source: QuerySource, numbered: bool = False) -> QuerySource:
        """The same table with group numbers in place of clusters, if there are very many clusters.

        Clusters that are not numbers are numbered by the engine in sorted order; a multiplicative hash spreads them
        over groups. Few clusters stay as they are, unless ``numbered`` asks for numbers.
        """
        many, place = self.count > MOST_GROUPS, source.places["cluster"]
        if not many and not numbered:
            return source
        if many and source.dtype("cluster").is_signed_integer():
            spark = source.frame.implementation.is_pyspark()
            whole: Term = (nw.col(place).cast(nw.Int64) % _PRIME + _PRIME) % _PRIME  # signs of remainders differ
            whole = SparkText(f"pmod(CAST({place} AS BIGINT), {_PRIME})") if spark else whole
            frame = add_columns(source.frame, {"held": _random_group(whole)})
        else:
            number = nw.col("number").cast(nw.Int64)
            group = _random_group(number) if many else number
            known = self.each.with_row_index("number", order_by=place).select(place, group.alias("held"))
            frame = source.frame.join(known, on=place, how="left")
        return replace(source, frame=frame, places={**source.places, "cluster": "held"})


def _count_different(frame: LazyTable, place: str) -> tuple[int, int]:
    """The number of different values in a column, and of rows without one."""
    if frame.implementation.is_pyspark() and frame.collect_schema()[place].is_signed_integer():
        found = count_whole_numbers(frame, place)
    else:
        each = frame.group_by(place).agg(nw.len().alias("rows"))
        each = each.with_columns((whether(lacks(each, place)) * nw.col("rows")).alias("gaps"))
        found = each.select(nw.len().alias("count"), nw.col("gaps").sum())
    (one,) = collect(found).rows(named=True)
    return int(one["count"] or 0), int(one["gaps"] or 0)


def _refuse_fractions(frame: LazyTable, place: str) -> None:
    """Refuse clusters that are no whole numbers of 64 bits, and say in how many rows."""
    number = column_of(frame)(place)
    whole = choose(number.abs() < 2.0**63, number, 0.5).floor()
    wrong = collect(add_up(keep_rows(frame, number != whole), [], [], [place]))
    if rows := int(wrong["rows"][0] or 0):
        raise errors.fractional_labels("cluster", rows, None, float(wrong[f"low {place}"][0])).unnumbered()


def _random_group(number: Term) -> Term:
    return number * 16807 % _PRIME % MOST_GROUPS


@dataclass(frozen=True, eq=False)
class QueryRowGroups:
    """Random groups of the rows of a table in another engine, by a hash of their values: the same in every query.

    If too many rows are ``alike`` to stay together, equal rows are numbered and spread over groups. There are so many
    ``groups``.
    """

    alike: bool
    groups: int = MOST_GROUPS
    count: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, source: QuerySource, one_in: int = 1) -> "QueryRowGroups":
        """Find out whether many rows have equal values; perhaps from ``one_in`` some kinds of rows, at random."""
        mixed = _mix(source.frame, _numbers_in(source))
        mixed = mixed.filter(nw.col("mixed") % one_in == 0) if one_in > 1 else mixed
        each = mixed.group_by("mixed").agg(nw.len().alias("rows"))
        (found,) = collect(each.select(nw.len().alias("kinds"), nw.col("rows").sum().alias("all"))).rows(named=True)
        return cls(int(found["kinds"] or 0) < _FEW_ALIKE * int(found["all"] or 0))

    def put_together(self, source: QuerySource, numbered: bool = True) -> QuerySource:
        """The same table with group numbers as its clusters."""
        order = [place for name, place in source.places.items() if name.startswith(ROW)] if self.alike else []
        frame = _add_group(_mix(source.frame, _numbers_in(source)), list(dict.fromkeys(order)), self.groups)
        return replace(source, frame=frame, places={**source.places, "cluster": "held"})


ROW = "row "
"""Prefix of the columns by which rows are assigned to groups."""

_FEW_ALIKE = 0.99


def _numbers_in(source: QuerySource) -> list[str]:
    """The numeric columns by which rows are assigned to groups, and the code of the truth."""
    schema, places = source.frame.collect_schema(), source.places
    found = [place for name, place in places.items() if name.startswith(ROW) and schema[place].is_numeric()]
    return ["code", *dict.fromkeys(found)]


@row_by_row
def _mix(frame: LazyTable, columns: Sequence[str]) -> LazyTable:
    """Add a pseudo-random whole number to each row, the same for rows with equal values."""
    mixed = nw.lit(0.0)
    for place, name in enumerate(columns, 2):
        mixed = mixed + nw.col(name).cast(nw.Float64) * (12345.0 * math.sqrt(place + 1 / math.pi))
    frame = frame.with_columns(mixed.alias("mixed"))
    part = nw.col("mixed") - nw.col("mixed").floor()
    return frame.with_columns((part * float(_PRIME)).floor().cast(nw.Int64).alias("mixed"))


@row_by_row
def _add_group(frame: LazyTable, order: Sequence[str], groups: int = MOST_GROUPS) -> LazyTable:
    """Add the group of each row; rows with equal values are numbered in ``order``, if there is one."""
    number = nw.col("mixed").cum_count().over("mixed", order_by=order).cast(nw.Int64) if order else nw.lit(0)
    frame = frame.with_columns(((nw.col("mixed") + number * 1000003) * 16807 % _PRIME).alias("held"))
    held = nw.col("held")
    frame = frame.with_columns((held * held % _PRIME).alias("held"))  # a linear map would spread rows too evenly
    return frame.with_columns((held * 48271 % _PRIME % groups).alias("held"))


# ── in files ─────────────────────────────────────────────────────────────────────────────────────────────────────
_DENSE = 1 << 24
"""Largest range of numeric cluster names that is looked up in a table."""

_NUMBER_BITS = 40
"""Bits of a cluster's number where that of its segment stands before it."""


class ClusterNumbers:
    """Numbers clusters in order of appearance; ``group`` maps these numbers, to some of this ``kind``."""

    def __init__(self, group: Callable[[Array], Array] = np.asarray, kind: type[np.integer] = np.int32) -> None:
        self._kind, self._group = "", group
        self._whole = 0
        self._known: Array = np.zeros(0, np.int64)
        self._numbers: Array = np.zeros(0, np.int64)
        self._names: dict[str, int] = {}
        self._below_0: set[str] = set()
        self._low, self._table = 0, np.zeros(0, kind)

    @property
    def count(self) -> int:
        """The number of clusters."""
        return self._whole + len(self._names)

    def of(self, cluster: Column) -> Array:
        """The number of each row's cluster, as mapped by ``group``."""
        self._kind = self._kind or cluster.kind
        if cluster.kind != self._kind:
            raise kind_changes("cluster", self._kind, cluster.kind)
        if cluster.kind != "number":
            labels = encode(cluster)
            named = [self._names.setdefault(name, len(self._names)) for name in labels.names]
            return self._group(np.array(named, np.int64))[labels.codes]
        values = whole_numbers(cluster)
        bits = values.view(np.int64) if values.dtype == np.uint64 else values  # as good a name
        low, high = int(bits.min()), int(bits.max()) + 1
        if low < 0:
            self._below_0.add("beyond 2⁶³" if bits is not values else "negative")
            if len(self._below_0) > 1:  # different columns of integers, of which some now have the same bits
                raise errors.beyond_64_bits("cluster")
        values = bits
        low = low if low < 0 or low > high - low else 0
        if high - low > _DENSE:
            found, rows = np.unique(values.astype(np.int64), return_inverse=True)
            self._make_room(low, low)  # an empty range: numbers are kept without a table
            self._remember(found, self._number(found))
            return self._number(found)[rows]
        self._make_room(low, high)
        places = values if self._low == 0 else np.subtract(values, self._low, dtype=np.int64)
        numbers = self._table.take(places)
        if numbers.min() < 0:
            lacking = np.flatnonzero(numbers < 0)
            there = np.zeros(len(self._table), bool)
            there[places[lacking]] = True
            new = np.flatnonzero(there)
            self._table[new] = self._number(new + self._low)
            numbers[lacking] = self._table[places[lacking]]
        return numbers

    def _make_room(self, low: int, high: int) -> None:
        """Extend the table to these clusters; start a new one if they lie too far from the others."""
        first, last = min(low, self._low), max(high, self._low + len(self._table))
        if not len(self._table) or low == high or last - first > _DENSE:
            held = np.flatnonzero(self._table >= 0)
            self._remember(held + self._low, self._table[held])
            self._low, self._table = low, np.full(high - low, -1, self._table.dtype)
        elif last - first > len(self._table):
            more = self._low - first, last - self._low - len(self._table)
            self._low, self._table = first, np.pad(self._table, more, constant_values=-1)

    def _number(self, found: Array) -> Array:
        """The numbers of distinct clusters that are not in the table; new clusters get the next numbers."""
        new = ~np.isin(found, self._known)
        numbers = np.empty(len(found), np.int64)
        numbers[~new] = self._numbers[np.searchsorted(self._known, found[~new])]
        numbers[new] = self._group(self._whole + np.arange(np.count_nonzero(new)))
        self._whole += int(np.count_nonzero(new))
        return numbers

    def _remember(self, found: Array, numbers: Array) -> None:
        """Keep the numbers of clusters that are not in the table."""
        self._known, firsts = np.unique(np.append(self._known, found), return_index=True)
        self._numbers = np.append(self._numbers, numbers)[firsts]


class ClusterGroups:
    """The group of each cluster: the first clusters are groups of their own, later ones are distributed among them.

    Where rows have segments, the clusters of each are ``_seen`` as numbers of both, in order; those of some batches
    wait to be put together with the others.
    """

    def __init__(self) -> None:
        self._numbers = ClusterNumbers(_put_in_groups, np.int16)
        self._seen: list[Array] = []

    def of(self, cluster: Column, segment: Array | None = None) -> Array:
        """The group of each row of a batch; the clusters of each ``segment`` are counted, too."""
        if segment is None:
            return self._numbers.of(cluster)
        if not self._seen:
            self._numbers = ClusterNumbers()  # a group does not tell clusters apart
        numbers = self._numbers.of(cluster)
        self._seen.append(distinct((segment.astype(np.int64) << _NUMBER_BITS) + numbers))
        if sum(map(len, self._seen[1:])) > len(self._seen[0]):
            self._seen = [distinct(np.concatenate(self._seen))]
        return _put_in_groups(numbers)

    def counts(self, segments: Sequence[str]) -> tuple[int, dict[str, int]]:
        """The number of clusters, overall and by segment, whose names these are."""
        if not self._seen:
            return self._numbers.count, {}
        sizes = np.bincount(distinct(np.concatenate(self._seen)) >> _NUMBER_BITS, minlength=len(segments)).tolist()
        return self._numbers.count, dict(zip(segments, sizes, strict=True))


def _put_in_groups(numbers: Array) -> Array:
    """The group of each cluster by its number."""
    return np.where(numbers < MOST_GROUPS, numbers, deal_out(numbers))


_SPAN_BITS = _SPAN.bit_length() - 1
_TABLES = 4
"""Cells of which there are tables: half a gigabyte of addresses each."""


class GroupBins:
    """How many rows of each cell and group there are in each bin of a coarse grid, or what they weigh.

    Unweighted probabilities of rows that all lie in one of a few cells are counted in a table over all bins and groups,
    of which memory is given only to the parts that are touched. Everything else is sorted and added up batch by batch;
    where there are many of these there is no ``room`` for tables.
    """

    def __init__(self, bits: int, room: bool = True) -> None:
        self._grid, self._bits = "probability", bits
        self._room = room and memory_left() > ROOM
        self._sums = SortedSums(ArrayOperations())
        self._tables: dict[int, LongTable] = {}

    def add(self, scores: Array | None, cells: Array, groups: Array, weight: Array | None = None) -> None:
        """Count rows, given the group of each and the cell of each, or of all; without scores there is one bin."""
        low, high = (0.0, 0.0) if scores is None else (float(scores.min()), float(scores.max()))
        if self._grid == "probability" and (low < 0 or high > 1):  # in the bins of any numbers those lie as well
            self._empty_tables()
            self._grid, self._sums = "line", self._sums.on_the_line(self._bits, _SPAN_BITS)
        one_cell = self._room and cells.ndim == 0 and int(cells) < _TABLES
        if scores is not None and weight is None and self._grid == "probability" and one_cell:
            count_probabilities(scores, [(self._table(int(cells), len(scores)), groups)], low, high)
            return
        numbers = np.zeros(1, np.int64) if scores is None else bins.numbers(scores, self._grid, self._bits)
        self._sums.add(np.broadcast_to(cells, groups.shape), (numbers << _SPAN_BITS) + groups, weight)

    def _table(self, cell: int, rows: int) -> LongTable:
        """The table of a cell that has room for so many rows more."""
        if cell in self._tables and not self._tables[cell].takes(rows, _SPAN - 1):
            self._empty_tables()
        if cell not in self._tables:
            self._tables[cell] = LongTable(_SPAN_BITS, self._bits, rows)
        return self._tables[cell]

    def result(self) -> tuple[Binned, Array]:
        """Return what was counted in the order of cells, bins and groups, and the groups."""
        self._empty_tables()
        cells, numbers, columns = self._sums.entries()
        groups, numbers = numbers & (_SPAN - 1), numbers >> _SPAN_BITS
        edges = _each(lambda some: bins.edges(some, self._grid, self._bits), numbers)
        weights, *squares = (column.astype(np.float64) for column in columns)
        return Binned(self._grid, cells, edges, weights, squares[0] if squares else None, self._bits), groups

    def _empty_tables(self) -> None:
        for cell, table in self._tables.items():
            groups, numbers, _, counts = table.result()
            self._sums.add(np.full(len(groups), cell), (numbers << _SPAN_BITS) + groups, None, counts)
        self._tables = {}


def _each(work: Callable[[Array], Array], column: Array) -> Array:
    """Work out a column by its runs of equal values, of which there are few."""
    first = np.flatnonzero(np.append(True, column[1:] != column[:-1])[: len(column)])
    return np.repeat(work(column[first]), np.diff(first, append=len(column)))


@dataclass(eq=False)
class ClusterCounts:
    """Rows of each cluster by cell (truth, decision, segment) and by bin of their scores, counted batch by batch."""

    groups: ClusterGroups = field(default_factory=ClusterGroups)
    _bins: GroupBins = field(default_factory=lambda: GroupBins(BITS))

    def add(self, groups: Array, cells: Array, scores: Array | None, weight: Array | None) -> None:
        """Count rows, given the group of each, and the cell of each or of all."""
        self._bins.add(scores, cells, groups, weight)

    def result(self, rows: Rows, by: Labels | None, segments: Sequence[str]) -> ClusterRows:
        """The counts by group; ``rows`` are the cells read like rows, ``by`` their segments, ``segments`` the names of
        segments by number.
        """
        (found, groups), scored = self._bins.result(), rows.scores is not None
        entries = replace(rows.take(found.cells), cluster=groups, scores=found.edges if scored else None)
        grid = (str(found.grid), BITS) if scored else None
        by_entry = None if by is None else replace(by, codes=by.codes[found.cells])
        return ClusterRows(_standing_for(entries, found), by_entry, grid, *self.groups.counts(segments))


def _standing_for(rows: Rows, found: Binned) -> Rows:
    """Rows that stand for as many rows as lie in their bin."""
    entries = rows.standing_for(found.weights, found.squares)
    return entries if found.squares is None else replace(entries, alike=found.weights**2 / found.squares)


# ── scores of several classes ────────────────────────────────────────────────────────────────────────────────────
def class_bits(classes: int) -> int:
    """Bits of the grid of each class's scores in a cluster: fewer for more classes.

    Beyond MOST_CLASSES the other classes are not kept apart, which makes room for more bits.
    """
    if MOST_CLASSES < classes <= 4 * MOST_CLASSES:
        return 2
    return max(min(BITS, 10 - 2 * (classes - 1).bit_length()), 0)


class ClassClusterCounts(ClusterCounts):
    """The same for several classes: rows by cell and rank with their losses, and bins of each class's own score.

    With very many classes neither ranks nor the other classes are kept apart: there would be as many cells as rows.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self._k, self._many, self._ranked = classes, classes > MOST_CLASSES, SortedSums(ArrayOperations())
        self._scores = [GroupBins(class_bits(classes), room=False) for _ in range(classes)]

    def add_classes(self, groups: Array, found: Found, batch: ClassBatch, outcome: BatchOutcome) -> None:
        """Count a batch, given its ranks and losses."""
        weight = batch.weight
        unit = np.ones(len(groups)) if weight is None else weight
        sums = [np.ones(len(groups)), unit, unit**2, *(unit * np.concatenate(blocks) for blocks in outcome.losses)]
        ranks = 0 if self._many else np.asarray(outcome.ranks)
        entries = (found.of_rows.astype(np.int64) * _SPAN + groups) * self._k + ranks
        if (size := int(entries.max()) + 1) <= _DENSE:  # quicker than to sort them
            sums = [np.bincount(entries, column, size) for column in sums]
            entries = np.flatnonzero(sums[0])
            sums = [column[entries] for column in sums]
        self._ranked.add(entries // self._k, entries % self._k, None, sums)
        run_all([partial(self._bin, place, groups, batch) for place in range(self._k)], self._k * len(groups))

    def _bin(self, place: int, groups: Array, batch: ClassBatch) -> None:
        """Count the scores of a class by true class; with very many classes, by whether it is the true one."""
        size, truth = (2, batch.truth == place) if self._many else (self._k, batch.truth)
        cells = batch.segment.astype(np.int64) * size + truth
        self._scores[place].add(batch.scores[place], cells, groups, batch.weight)

    def of_classes(self, rows: Rows, by: Labels | None, segments: Sequence[str]) -> ClusterRows:
        """The counts by group, as in :meth:`result`; ``segments`` names the stream's segments by number."""
        found, ranks, (sizes, weight, squares, *lost) = self._ranked.entries()
        cells, groups = np.divmod(found, _SPAN)
        entries = replace(rows.take(cells), cluster=groups, scores=None, alike=sizes, weight=weight, squares=squares)
        known, by_entry = self.groups.counts(segments), None if by is None else replace(by, codes=by.codes[cells])
        beside = [self._cells_of(place, *one.result(), segments, by, known) for place, one in enumerate(self._scores)]
        return ClusterRows(entries, by_entry, None, *known, beside, ranks, np.stack(lost, axis=-1))

    def _cells_of(
        self,
        place: int,
        found: Binned,
        groups: Array,
        segments: Sequence[str],
        by: Labels | None,
        known: tuple[int, dict[str, int]],
    ) -> ClusterRows:
        segment, truth = np.divmod(found.cells, 2 if self._many else self._k)
        truth = np.where(truth == 1, place, -1) if self._many else truth
        entries = _standing_for(Rows(truth, scores=found.edges, cluster=groups), found)
        by_entry = None if by is None else Labels(Labels(segment, tuple(segments)).into(by.names), by.names)
        return ClusterRows(entries, by_entry, (str(found.grid), class_bits(self._k)), *known)
