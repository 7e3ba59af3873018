"""Rows of clusters counted batch by batch, by cell and by bin of their scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from stakes.engines.binning import ROOM, LongTable, SortedSums, count_probabilities
from stakes.engines.cells import Found
from stakes.engines.classes.batches import BatchOutcome, ClassBatch
from stakes.engines.clusters.numbering import ClusterGroups
from stakes.engines.clusters.rows import BITS, ClusterRows, by_runs, grid_bits
from stakes.engines.files.room import memory_left
from stakes.engines.labels import Labels
from stakes.engines.memory import Binned, Rows
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import MOST_CLASSES
from stakes.tallies.operations import ArrayOperations
from stakes.tallies.parallel import run_all

_MOST_COUNTED = 1 << 24
"""Different entries that are counted in a table instead of sorted."""

_SPAN = 1 << 11
"""Combines cell and group in one number; larger than the number of groups."""

_SPAN_BITS = _SPAN.bit_length() - 1
_LOOKED_AT = 1 << 16
"""About so many scores say how fine the grid is."""

_MOST_ENTRIES = 1 << 24
"""More entries are merged with their neighbours: a gigabyte with what is done with them."""

_TABLES = 4
"""Cells of which there are tables: half a gigabyte of addresses each."""


class GroupBins:
    """How many rows of each cell and group there are in each bin of a coarse grid, or what they weigh.

    How coarse it is the first scores say. Unweighted probabilities of rows that all lie in one of a few cells are
    counted in a table over all bins and groups, of which memory is given only to the parts that are touched. Everything
    else is sorted and added up batch by batch. Of the scores of several ``classes`` there are many of these, and there
    is no room for tables.
    """

    def __init__(self, classes: int = 2) -> None:
        self._grid, self._classes, self._bits = "probability", classes, -1
        self._room = classes == 2 and memory_left() > ROOM
        self._sums = SortedSums(ArrayOperations(), _SPAN_BITS)
        self._tables: dict[int, LongTable] = {}

    def look(self, scores: Array) -> None:
        """Choose the grid for scores like these, if it is not chosen yet."""
        if self._bits < 0:
            self._bits = grid_bits(scores[:: max(len(scores) // _LOOKED_AT, 1)], classes=self._classes)
            self._room = self._room and self._bits <= BITS

    def add(self, scores: Array | None, cells: Array, groups: Array, weight: Array | None = None) -> None:
        """Count rows, given the group of each and the cell of each, or of all; without scores there is one bin."""
        low, high = (0.0, 0.0) if scores is None else (float(scores.min()), float(scores.max()))
        if scores is not None:
            self.look(scores)
        if self._grid == "probability" and (low < 0 or high > 1):  # in the bins of any numbers those lie as well
            self._empty_tables()
            self._grid, self._sums = "line", self._sums.on_the_line(self._bits)
        one_cell = self._room and cells.ndim == 0 and int(cells) < _TABLES
        if scores is not None and weight is None and self._grid == "probability" and one_cell:
            count_probabilities(scores, [(self._table(int(cells), len(scores)), groups)], low, high)
            return
        numbers = np.zeros(1, np.int64) if scores is None else bins.numbers(scores, self._grid, self._bits)
        self._sums.add(np.broadcast_to(cells, groups.shape), (numbers << _SPAN_BITS) + groups, weight)
        while len(self._sums) > _MOST_ENTRIES and self._bits > 0:
            self._merge_neighbours()

    def _merge_neighbours(self) -> None:
        """Make the grid half as fine."""
        self._empty_tables()
        cells, numbers, columns = self._sums.entries()
        self._bits, self._sums = self._bits - 1, SortedSums(ArrayOperations(), _SPAN_BITS)
        self._sums.add(cells, (numbers >> (_SPAN_BITS + 1) << _SPAN_BITS) + (numbers & (_SPAN - 1)), None, columns)

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
        edges = by_runs(lambda some: bins.edges(some, self._grid, self._bits), numbers)
        weights, *squares = (column.astype(np.float64) for column in columns)
        return Binned(self._grid, cells, edges, weights, squares[0] if squares else None, self._bits), groups

    def _empty_tables(self) -> None:
        for cell, table in self._tables.items():
            groups, numbers, _, counts = table.result()
            self._sums.add(np.full(len(groups), cell), (numbers << _SPAN_BITS) + groups, None, counts)
        self._tables = {}


@dataclass(eq=False)
class ClusterCounts:
    """Rows of each cluster by cell (truth, decision, segment) and by bin of their scores, counted batch by batch."""

    groups: ClusterGroups = field(default_factory=ClusterGroups)
    _bins: GroupBins = field(default_factory=GroupBins)

    def look(self, scores: Array) -> None:
        """Look at scores like those that will be counted, before any is."""
        self._bins.look(scores)

    def add(self, groups: Array, cells: Array, scores: Array | None, weight: Array | None) -> None:
        """Count rows, given the group of each, and the cell of each or of all."""
        self._bins.add(scores, cells, groups, weight)

    def result(self, rows: Rows, by: Labels | None, segments: Sequence[str]) -> ClusterRows:
        """The counts by group; ``rows`` are the cells read like rows, ``by`` their segments, ``segments`` the names of
        segments by number.
        """
        (found, groups), scored = self._bins.result(), rows.scores is not None
        entries = replace(rows.take(found.cells), cluster=groups, scores=found.edges if scored else None)
        grid = (str(found.grid), found.bits) if scored else None
        by_entry = None if by is None else replace(by, codes=by.codes[found.cells])
        return ClusterRows(_standing_for(entries, found), by_entry, grid, *self.groups.counts(segments))


def _standing_for(rows: Rows, found: Binned) -> Rows:
    """Rows that stand for as many rows as lie in their bin."""
    entries = rows.standing_for(found.weights, found.squares)
    return entries if found.squares is None else replace(entries, alike=found.weights**2 / found.squares)


class ClassClusterCounts(ClusterCounts):
    """The same for several classes: rows by cell and rank with their losses, and bins of each class's own score.

    With very many classes neither ranks nor the other classes are kept apart: there would be as many cells as rows.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self._k, self._many, self._ranked = classes, classes > MOST_CLASSES, SortedSums(ArrayOperations())
        self._scores = [GroupBins(classes) for _ in range(classes)]

    def add_classes(self, groups: Array, found: Found, batch: ClassBatch, outcome: BatchOutcome) -> None:
        """Count a batch, given its ranks and losses."""
        weight = batch.weight
        unit = np.ones(len(groups)) if weight is None else weight
        sums = [np.ones(len(groups)), unit, unit**2, *(unit * np.concatenate(blocks) for blocks in outcome.losses)]
        ranks = 0 if self._many else np.asarray(outcome.ranks)
        entries = (found.of_rows.astype(np.int64) * _SPAN + groups) * self._k + ranks
        if (size := int(entries.max()) + 1) <= _MOST_COUNTED:  # quicker than to sort them
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
        return ClusterRows(entries, by_entry, (str(found.grid), found.bits), *known)
