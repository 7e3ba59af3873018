"""Scores of rows counted straight into the bins of the fixed grid (``tallies/bins.py``), without keeping any row."""

import numpy as np

from stakes.engines.files.room import memory_left
from stakes.engines.memory import Binned
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.operations import ArrayOperations
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.keys import add_up, put_together

_BLOCK = 1 << 15
"""Rows that are worked on at a time: temporaries stay in the processor's cache."""

_LONGEST = bins.FINE + 2
"""Bits of a cell and of the bins within a power of two that a long table has at most: a gigabyte of addresses."""

_MOST_COUNTED = (1 << 32) - 1
_ONE = np.uint32(1)

_SPAN_BITS = 29
_SPAN = 1 << _SPAN_BITS
"""More numbers than the bins of any grid have."""

_ROOM = 4 << 30
"""Bytes that are left where the long table, of which few pages are ever touched, does no harm to anybody else."""


class BinnedCounts:
    """How many rows there are of each cell (whatever the caller numbers) in each bin, and perhaps their weights.

    Probabilities without weights are counted in a long table over all bins; everything else, and what that table does
    not hold, is sorted and added up batch by batch. Of fewer ``bits`` there are fewer bins in each power of two. Where
    there are many of these, long tables would touch too much memory together; then none is ``long``. Tensors, which
    have ``operations`` of their own, are sorted where they lie.
    """

    def __init__(self, bits: int = bins.FINE, long: bool = True, operations: ArrayOperations | None = None) -> None:
        self.grid = "probability"
        self._ops = operations or ArrayOperations()
        self._bits, self._sums = bits, SortedSums(self._ops)
        self._long: LongTable | None = None
        self._roomy = long and memory_left() > _ROOM

    def add(self, scores: Tensor, cells: Tensor, weight: Tensor | None = None) -> None:
        """Count a batch of finite scores, of which each has a cell, or all have the same."""
        low, high = self._ops.ends(scores)
        if (low < 0 or high > 1) and self.grid != "line":  # in whose bins those of probabilities lie
            self._sums, self.grid = self._summed().on_the_line(self._bits), "line"
        most = int(cells.max())
        fits = self._roomy and self._bits + most.bit_length() <= _LONGEST
        if self.grid == "line" or weight is not None or not fits:
            self._sums.add(cells, bins.numbers(scores, self.grid, self._bits, self._ops.xp), weight)
            return
        if self._long is None or not self._long.takes(len(scores), most):
            self._sums = self._summed()
            self._long = LongTable(max(most.bit_length(), 1), self._bits, len(scores))
        self._long.add(scores, cells, low, high)

    def result(self) -> Binned:
        """Return what was counted."""
        return self._summed().result(self.grid, self._bits)

    def _summed(self) -> "SortedSums":
        """Everything, once the long table is emptied."""
        if self._long is not None:
            self._sums.add(*self._long.result())
            self._long = None
        return self._sums


class LongTable:
    """Counts of probabilities over all bins there are; memory is given only to the parts that are touched.

    The bits of how far a score lies from the nearer one of 0 and 1, cut off below the bin, are its place, with the sign
    on top, which scores above ½ have. The bit below the sign is free, since nothing lies further away than ½: the cell
    stands there, and above the sign.
    """

    def __init__(self, cell_bits: int, bits: int, rows: int) -> None:
        self._cut, self._cells, self._rows = 52 - bits, 1 << cell_bits, rows
        self._sign, self._half = 1 << (63 - self._cut), bins.start("probability") >> (bins.FINE - bits)
        self._counts = np.zeros(self._sign << cell_bits, np.uint32)
        self._ends = 0.5, 0.5

    def takes(self, rows: int, cell: int) -> bool:
        """Whether so many more rows can be counted, in cells up to this one."""
        self._rows += rows
        return self._rows <= _MOST_COUNTED and cell < self._cells

    def add(self, scores: Array, cells: Array, low: float, high: float) -> None:
        """Count some scores, which reach from one to the other, by their bins and cells."""
        ones = high == 1
        low = low or float(np.min(scores, where=scores > 0, initial=0.5))
        high = float(np.max(scores, where=scores < 1, initial=0.5)) if ones else high
        self._ends = min(self._ends[0], low), max(self._ends[1], high)  # between them lies all but 0 and 1
        counts = self._counts if cells.ndim else self._counts[self._lines(cells) :]
        room = np.empty((2, min(len(scores), _BLOCK)))
        for start in range(0, len(scores), _BLOCK):
            block = slice(start, start + _BLOCK)
            places = self._places(scores[block], ones, *room[:, : len(scores) - start])
            if cells.ndim:
                places |= self._lines(cells[block])
            np.add.at(counts, places, _ONE)

    def result(self) -> tuple[Array, Array, None, list[Array]]:
        """Return cells and bins, no weights, and how many rows there are."""
        found = [self._of_cell(cell) for cell in range(self._cells)]
        numbers, counts = map(np.concatenate, zip(*found, strict=True))
        return np.repeat(np.arange(self._cells), [len(some) for some, _ in found]), numbers, None, [counts]

    def _places(self, scores: Array, ones: bool, room: Array, beside: Array) -> Array:
        """The place of each probability, of which some may be 1, among those of the first cell."""
        np.subtract(scores, np.rint(scores, out=room), out=room)
        places, signs = room.view(np.int64), beside.view(np.int64)
        places += np.right_shift(places, 63, out=signs)  # a bin above ½ ends in what is as far from 1 as its lower edge
        np.right_shift(room.view(np.uint64), self._cut, out=room.view(np.uint64))
        if ones:
            places[scores == 1] = self._sign  # as far from 1 as 0 is from 0
        return places

    def _lines(self, cells: Array) -> Array:
        """The bits of cells at their place."""
        spread = cells if self._cells == 2 else cells & 1 | cells.astype(np.int64) >> 1 << 2
        return np.left_shift(spread, 62 - self._cut, dtype=np.int64)

    def _of_cell(self, cell: int) -> tuple[Array, Array]:
        """The bins of a cell, and how many rows lie in each."""
        counts = self._counts[self._lines(np.array(cell)) :]
        low, high = self._places(np.array(self._ends), False, *np.empty((2, 2))).tolist()
        spans = [(0, 1), (max(low, 1), self._half + 1), (max(high, self._sign + 1), self._sign + self._half)]
        zero, below, above = (first + np.flatnonzero(counts[first:end]) for first, end in spans)
        one = np.flatnonzero(counts[self._sign : self._sign + 1])
        last = 2 * self._half
        numbers = np.concatenate([zero, below, last - 1 + self._sign - above[::-1], last + one])
        places = np.concatenate([zero, below, above[::-1], self._sign + one])
        return numbers, counts[places].astype(np.int64)


class SortedSums:
    """Rows, or Σw and Σw², at each cell and bin: batches are sorted, added up, and put together if there are many."""

    def __init__(self, operations: ArrayOperations) -> None:
        self._ops = operations
        self._parts: list[tuple[Array, ...]] = []

    def add(self, cells: Tensor, numbers: Tensor, weight: Tensor | None, sums: list[Array] | None = None) -> None:
        """Add a batch; ``sums`` are columns to add up instead: how many rows each entry stands for, say."""
        ops = self._ops
        keys = ops.cast(cells, "int64") * _SPAN + (numbers + _SPAN // 2)
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
        found = SortedSums(self._ops)
        for keys, *columns in self._parts:
            cells, numbers = _apart(keys)
            numbers = bins.numbers(bins.edges(numbers, "probability", bits), "line", bits)
            found._parts.append(add_up(cells * _SPAN + (numbers + _SPAN // 2), *columns))
        return found

    def entries(self) -> tuple[Array, Array, list[Array]]:
        """Return everything, in the order of cells and numbers."""
        none = np.zeros(0, np.int64)
        keys, *columns = put_together(self._parts or [(none, none)])
        return *_apart(keys), columns

    def result(self, grid: str, bits: int) -> Binned:
        """Return the same with the lower edges of bins."""
        cells, numbers, columns = self.entries()
        sums = columns if len(columns) == 1 else [column.astype(np.float64) for column in columns]
        return Binned(grid, cells, bins.edges(numbers, grid, bits), *sums)


def _apart(keys: Array) -> tuple[Array, Array]:
    return keys >> _SPAN_BITS, (keys & (_SPAN - 1)) - _SPAN // 2
