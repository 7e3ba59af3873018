"""Scores of rows counted straight into the bins of the fixed grid (``tallies/bins.py``), without keeping any row."""

from collections.abc import Sequence

import numpy as np

from stakes.engines.files.room import memory_left
from stakes.engines.memory import Binned, CountsByBin
from stakes.engines.tensors.arrays import Tensor
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.keys import add_up, put_together
from stakes.tallies.operations import ArrayOperations

Ends = tuple[float, float] | None
"""The lowest and the highest score, if they are known."""

_BLOCK = 1 << 16
"""Rows per block: few enough for a cache beside the counts, and enough that threads seldom wait for each other."""

_LONGEST = bins.FINE + 2
"""Bits of a cell and of the bins within a power of two that a long table has at most: a gigabyte of addresses."""

_MOST_COUNTED = (1 << 32) - 1
_ONE = np.uint32(1)

_SPAN_BITS = 29
"""Bits of more numbers than the bins of any grid have."""

ROOM = 4 << 30
"""Bytes that are left where long tables, of which few pages are ever touched, do no harm to anybody else."""


class BinnedCounts:
    """How many rows there are of each cell (whatever the caller numbers) in each bin, and perhaps their weights.

    Probabilities without weights are counted in a long table over all bins; everything else, and what that table does
    not hold, is sorted and added up batch by batch. Of fewer ``bits`` there are fewer bins in each power of two. Where
    there are many of these, long tables would touch too much memory together; then none is ``long``. Tensors, which
    have ``operations`` of their own, are sorted where they lie.
    """

    def __init__(self, bits: int = bins.FINE, long: bool = True, operations: ArrayOperations | None = None) -> None:
        self.grid = "probability"
        self.operations = operations or ArrayOperations()
        self._bits, self._sums = bits, SortedSums(self.operations)
        self._long: LongTable | None = None
        self._roomy = long and memory_left() > ROOM

    def add(self, scores: Tensor, cells: Tensor, weight: Tensor | None = None, ends: Ends = None) -> None:
        """Count a batch of finite scores, of which each has a cell, or all have the same."""
        count_scores(scores, [(self, cells)], weight, ends)

    def take(self, scores: Tensor, cells: Tensor, weight: Tensor | None, low: float, high: float) -> "LongTable | None":
        """Count a batch whose scores reach from ``low`` to ``high``, or return the long table that it belongs in."""
        if (low < 0 or high > 1) and self.grid != "line":  # in whose bins those of probabilities lie
            self._sums, self.grid = self._summed().on_the_line(self._bits), "line"
        most = int(cells.max())
        fits = self._roomy and self._bits + most.bit_length() <= _LONGEST
        if self.grid == "line" or weight is not None or not fits:
            self._sums.add(cells, bins.numbers(scores, self.grid, self._bits, self.operations.xp), weight)
            return None
        if self._long is None or not self._long.takes(len(scores), most):
            self._sums = self._summed()
            self._long = LongTable(max(most.bit_length(), 1), self._bits, len(scores))
        return self._long

    def result(self) -> Binned:
        """Return what was counted."""
        return self._summed().result(self.grid, self._bits)

    def by_bin(self) -> "Binned | CountsByBin":
        """Return the same bin by bin, if all rows lie in a long table."""
        if self._long is None or not self._sums.empty:
            return self.result()
        numbers, counts = self._long.by_bin()
        return CountsByBin(bins.edges(numbers, self.grid, self._bits), counts, self._bits)

    def _summed(self) -> "SortedSums":
        """Everything, once the long table is emptied."""
        if self._long is not None:
            self._sums.add(*self._long.result())
            self._long = None
        return self._sums


class LongTable:
    """Counts of probabilities over all bins there are; memory is given only to the parts that are touched.

    Where there are two cells each has a table of its own, so that rows of one cell touch nothing else. The counts of
    more cells lie beside each other, bin by bin, and touch fewer pages together.
    """

    def __init__(self, cell_bits: int, bits: int, rows: int) -> None:
        self.cut, self._cell_bits, self._rows = 52 - bits, cell_bits, rows
        self._top, self._half = 1 << (63 - self.cut), bins.start("probability") >> (bins.FINE - bits)
        self._counts = np.zeros((self._top + 1) << cell_bits, np.uint32)
        self._ends = 0.5, 0.5

    def takes(self, rows: int, cell: int) -> bool:
        """Whether this many more rows can be counted, in cells up to this one."""
        self._rows += rows
        return self._rows <= _MOST_COUNTED and cell < 1 << self._cell_bits

    def reach(self, low: float, high: float) -> None:
        """Remember how far scores reach that are neither 0 nor 1."""
        self._ends = min(self._ends[0], low), max(self._ends[1], high)

    def add(self, places: Array, cells: Array) -> None:
        """Count some scores by their places, which are overwritten, and cells."""
        counts = self._counts
        if self._cell_bits > 1:
            places <<= self._cell_bits
            places |= cells
        elif cells.ndim:
            places += np.multiply(cells, self._top + 1, dtype=np.int64)
        else:
            counts = counts[int(cells) * (self._top + 1) :]
        np.add.at(counts, places, _ONE)

    def result(self) -> tuple[Array, Array, None, list[Array]]:
        """Return cells and bins, no weights, and how many rows there are."""
        numbers, counts = self.by_bin()
        cells, places = np.nonzero(counts) if self._cell_bits == 1 else np.nonzero(counts.T)[::-1]  # as they lie
        return cells, numbers[places], None, [counts[cells, places].astype(np.int64)]

    def by_bin(self) -> tuple[Array, Array]:
        """Return the bins that hold rows, in their order, and how many rows of each cell lie there (cell × bin)."""
        apart = self._cell_bits == 1
        table = self._counts.reshape((2, -1) if apart else (-1, 1 << self._cell_bits))
        by_place, just_above = table.T if apart else table, self._top - self._half
        by_place[self._half] += by_place[just_above]  # ½ itself lies in the bin of what is just above it
        by_place[just_above] = 0
        places = self._filled(by_place)
        counts = table.take(places, axis=1) if apart else table.take(places, axis=0).T
        return np.where(places > self._half, places - (self._top - 2 * self._half), places), counts

    def _filled(self, table: Array) -> Array:
        """The places at which there are rows, in a table of place × cell."""
        low, high = (_bits(np.array(self._ends)) >> self.cut).tolist()
        spans = (0, min(low, 1)), (low, high + 1), (max(self._top, high + 1), self._top + 1)
        starts = ((start, min(start + _BLOCK, end)) for first, end in spans for start in range(first, end, _BLOCK))
        return np.concatenate([start + np.flatnonzero(table[start:end].any(axis=1)) for start, end in starts])


def count_scores(
    scores: Tensor, counters: Sequence[tuple[BinnedCounts, Tensor]], weight: Tensor | None = None, ends: Ends = None
) -> None:
    """Count a batch of finite scores by several counters, each in cells of its own; their bins are found once.

    ``ends`` says how far these scores reach, or more of them, where that is known.
    """
    low, high = ends or counters[0][0].operations.ends(scores)
    found = [(one.take(scores, cells, weight, low, high), cells) for one, cells in counters]
    if tables := [(table, cells) for table, cells in found if table is not None]:
        count_probabilities(scores, tables, low, high)


def count_probabilities(scores: Array, tables: Sequence[tuple[LongTable, Array]], low: float, high: float) -> None:
    """Count probabilities that reach from ``low`` to ``high`` in long tables, in cells of each."""
    ones = high == 1
    low = low or float(np.min(scores, where=scores > 0, initial=0.5))
    high = float(np.max(scores, where=scores < 1, initial=0.5)) if ones else high
    for table, _ in tables:
        table.reach(low, high)
    room = np.empty((2, min(len(scores), _BLOCK)))
    for start in range(0, len(scores), _BLOCK):
        block = scores[start : start + _BLOCK]
        own = _bits(block, room[0, : len(block)])
        if ones:
            own[block == 1] = 1 << 63  # as far from 1 as 0 is from 0
        places = room[1, : len(block)].view(np.uint64)
        for table, cells in tables:
            np.right_shift(own, table.cut, out=places)
            table.add(places.view(np.int64), cells[start : start + _BLOCK] if cells.ndim else cells)


def _bits(scores: Array, room: Array | None = None) -> Array:
    """How far each probability lies from the nearer one of 0 and 1, as the bits of a float: its order among all.

    From 1 that is a negative number, whose bits without their sign are taken off 2⁶³. Cut off below the bin, the bits
    are the place of a score among all bins there are.
    """
    room = np.rint(scores, out=np.empty(len(scores)) if room is None else room)
    bits = np.subtract(scores, room, out=room).view(np.int64)
    return np.absolute(bits, out=bits).view(np.uint64)


class SortedSums:
    """Rows, or Σw and Σw², at each cell and bin: batches are sorted, added up, and put together if there are many.

    So many low bits of each number (``beside``) stand beside that of its bin.
    """

    def __init__(self, operations: ArrayOperations, beside: int = 0) -> None:
        self._ops, self._beside, self._bits = operations, beside, _SPAN_BITS + beside
        self._parts: list[tuple[Array, ...]] = []

    @property
    def empty(self) -> bool:
        """Whether nothing was added."""
        return not self._parts

    def __len__(self) -> int:
        return sum(len(keys) for keys, *_ in self._parts)

    def add(self, cells: Tensor, numbers: Tensor, weight: Tensor | None, sums: list[Array] | None = None) -> None:
        """Add a batch; ``sums`` are columns to add up instead: how many rows each entry stands for, say."""
        ops = self._ops
        keys = self._keys(ops.cast(cells, "int64"), numbers)
        if weight is not None:
            exact = ops.home(weight).astype(np.longdouble)  # sums of billions must not drift
            self._parts.append(add_up(ops.home(keys), exact, exact * exact))
        elif sums is not None:
            self._parts.append(add_up(keys, *sums))
        else:
            keys = ops.sort(keys)  # rows are counted by where keys end, which takes no second sort of anything
            ends = np.append(ops.home(ops.places(keys[1:] != keys[:-1])), len(keys) - 1)
            self._parts.append((ops.home(keys[ops.given(ends, keys)]), np.diff(ends, prepend=-1)))
        if sum(len(keys) for keys, *_ in self._parts[1:]) > len(self._parts[0][0]):
            self._parts = [put_together(self._parts)]

    def on_the_line(self, bits: int) -> "SortedSums":
        """Return the same sums of probabilities in the bins of any numbers."""
        found, low = SortedSums(self._ops, self._beside), (1 << self._beside) - 1
        for keys, *columns in self._parts:
            cells, numbers = self._apart(keys)
            edges = bins.edges(numbers >> self._beside, "probability", bits)
            numbers = (bins.numbers(edges, "line", bits) << self._beside) + (numbers & low)
            found._parts.append(add_up(self._keys(cells, numbers), *columns))
        return found

    def entries(self) -> tuple[Array, Array, list[Array]]:
        """Return everything, in the order of cells and numbers."""
        none = np.zeros(0, np.int64)
        keys, *columns = put_together(self._parts or [(none, none)])
        return *self._apart(keys), columns

    def result(self, grid: str, bits: int) -> Binned:
        """Return the same with the lower edges of bins."""
        cells, numbers, columns = self.entries()
        sums = columns if len(columns) == 1 else [column.astype(np.float64) for column in columns]
        weights, squares = sums if len(sums) > 1 else (*sums, None)
        return Binned(grid, cells, bins.edges(numbers, grid, bits), weights, squares, bits)

    def _keys(self, cells: Tensor, numbers: Tensor) -> Tensor:
        return (cells << self._bits) + (numbers + (1 << (self._bits - 1)))

    def _apart(self, keys: Array) -> tuple[Array, Array]:
        return keys >> self._bits, (keys & ((1 << self._bits) - 1)) - (1 << (self._bits - 1))
