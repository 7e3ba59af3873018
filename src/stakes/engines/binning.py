"""Scores of rows counted straight into the bins of the fixed grid (``tallies/bins.py``), without keeping any row."""

import numpy as np

from stakes.engines.files.room import memory_left
from stakes.engines.memory import Binned
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.operations import ArrayOperations
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.keys import add_up, put_together

_BLOCK = 1 << 16
"""Rows that are worked on at a time: temporaries stay in the processor's cache."""

_LONGEST = bins.FINE + 2
"""Bits of a cell and of the bins within a power of two that a long table has at most: a gigabyte of addresses."""

_MOST_COUNTED = (1 << 32) - 1
_ONE = np.uint32(1)

_TOP = 1 << (63 - 52 + bins.FINE)
"""The step of 1."""

_HALF = bins.start("probability")
_GAP = _TOP - 2 * _HALF
"""So many steps have no bin: those between ½ and what lies above it."""

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
        """Count a batch of finite scores."""
        low, high = self._ops.ends(scores)
        if (low < 0 or high > 1) and self.grid != "line":  # in whose bins those of probabilities lie
            self._sums, self.grid = self._summed().on_the_line(self._bits), "line"
        most = int(cells.max())
        fits = self._roomy and self._bits + most.bit_length() <= _LONGEST
        if self.grid == "line" or weight is not None or not fits:
            self._sums.add(cells, bins.numbers(scores, self.grid, self._bits, self._ops.xp), weight)
            return
        if self._long is None or not self._long.takes(len(cells), most):
            self._sums = self._summed()
            self._long = LongTable(max(most.bit_length(), 1), self._bits, len(cells))
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
    """Counts of probabilities over all bins there are; memory is given only to the parts that are touched."""

    def __init__(self, cell_bits: int, bits: int, rows: int) -> None:
        self._cell_bits, self._coarser, self._rows = cell_bits, bins.FINE - bits, rows
        self._counts = np.zeros(((_TOP >> self._coarser) + 1) << cell_bits, np.uint32)
        self._ends = 0.5, 0.5

    def takes(self, rows: int, cell: int) -> bool:
        """Whether so many more rows can be counted, in cells up to this one."""
        self._rows += rows
        return self._rows <= _MOST_COUNTED and cell < 1 << self._cell_bits

    def add(self, scores: Array, cells: Array, low: float, high: float) -> None:
        """Count some scores, which reach from one to the other, by their bins and cells."""
        ones = high == 1
        low = low or float(np.min(scores, where=scores > 0, initial=0.5))
        high = float(np.max(scores, where=scores < 1, initial=0.5)) if ones else high
        self._ends = min(self._ends[0], low), max(self._ends[1], high)  # between them lies all but 0 and 1
        for start in range(0, len(scores), _BLOCK):
            block = slice(start, start + _BLOCK)
            places = _steps(scores[block], ones)
            places >>= self._coarser
            places <<= self._cell_bits
            places |= cells[block]
            np.add.at(self._counts, places, _ONE)

    def result(self) -> tuple[Array, Array, None, list[Array]]:
        """Return cells and bins, no weights, and how many rows there are."""
        between = _steps(np.array(self._ends), False).tolist()
        low, high, top, half = (step >> self._coarser for step in (*between, _TOP, _HALF))
        ends = np.array([(0, min(low, 1)), (low, high + 1), (max(top, high + 1), top + 1)]) << self._cell_bits
        places = np.concatenate([first + np.flatnonzero(self._counts[first:end]) for first, end in ends])
        mask = (1 << self._cell_bits) - 1
        places = places[np.argsort((places & mask).astype(np.uint16), kind="stable")]
        counts, cells = self._counts[places].astype(np.int64), places & mask
        places >>= self._cell_bits
        places[places > half] -= _GAP >> self._coarser
        return cells, places, None, [counts]


def _steps(scores: Array, ones: bool) -> Array:
    """The step of each probability, of which some may be 1: its place among all bins there are, with a gap inside.

    The bits of how far a score lies from the nearer one of 0 and 1, cut off below the bin, are its step; from 1 they
    are taken off the last step before they are cut.
    """
    steps = np.subtract(scores, np.rint(scores), dtype=np.float64).view(np.int64)
    signs = steps >> 63
    steps ^= signs
    steps -= signs
    steps >>= 52 - bins.FINE
    if ones:
        steps[scores == 1] = _TOP  # which is as far from 1 as 0 is from 0
    return steps


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
