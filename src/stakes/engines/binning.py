"""Scores of rows counted straight into the bins of the fixed grid (``tallies/bins.py``), without keeping any row."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stakes.engines.files.room import memory_left
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array

_BLOCK = 1 << 15
"""Rows that are worked on at a time: temporaries stay in the processor's cache."""

_CUT = 52 - bins.FINE
_HALF = 1022 << bins.FINE
"""The number of the bin that begins at ½; the bins above mirror those below."""

_UPPER = _HALF + 2
_ABOVE = (_UPPER << _CUT) - 1
"""What is added to the bits of scores above ½; in the long table they come after all others."""

_FEW_CELLS = 4
_MOST_COUNTED = (1 << 32) - 1
_SPAN = 1 << 29
"""More numbers than the bins of any grid have."""

_ROOM = 4 << 30
"""Bytes that are left where the long table, of which few pages are ever touched, does no harm to anybody else."""


class BinnedCounts:
    """How many rows there are of each cell (whatever the caller numbers) in each bin, and perhaps their weights.

    Probabilities without weights are counted in a long table over all bins; everything else, and what that table does
    not hold, is sorted and added up batch by batch.
    """

    def __init__(self) -> None:
        self.grid = "probability"
        self._long: LongTable | None = None
        self._roomy = memory_left() > _ROOM
        self._sums = SortedSums()

    def add(self, scores: Array, cells: Array, weight: Array | None = None) -> None:
        """Count a batch of finite scores."""
        low, high = float(scores.min()), float(scores.max())
        if low == 0:
            scores = scores + scores.dtype.type(0)  # −0.0 becomes 0.0
        if low < 0 or high > 1:
            self._on_the_line()
        highest = int(cells.max())
        if self.grid == "line" or weight is not None or highest >= _FEW_CELLS or not self._roomy:
            self._sums.add(cells, bins.numbers(scores, self.grid), weight)
            return
        if self._long is None or not self._long.room_for(len(scores), highest):
            self._empty_long_table()
            self._long = LongTable(1 if highest < 2 else 2)
        self._long.add(scores, cells.astype(np.uint8, copy=False))

    def result(self) -> "Binned":
        """Return what was counted."""
        self._empty_long_table()
        return self._sums.result(self.grid)

    def _on_the_line(self) -> None:
        """Go over to the grid for any numbers, in whose bins those of probabilities lie."""
        if self.grid == "line":
            return
        self._empty_long_table()
        self._sums = self._sums.renumber(lambda numbers: bins.numbers(bins.edges(numbers, "probability"), "line"))
        self.grid = "line"

    def _empty_long_table(self) -> None:
        if self._long is not None:
            self._sums.add(*self._long.result())
            self._long = None


@dataclass(frozen=True, eq=False)
class Binned:
    """Cells with the lower edges of their bins, and how many rows lie there; of weighted rows Σw, and Σw²."""

    grid: str
    cells: Array
    edges: Array
    weights: Array
    squares: Array | None = None


class LongTable:
    """Counts of probabilities over all bins there are; memory is given only to the parts that are touched.

    The bits of the smaller one of s and 1 − s, cut off below the bin, are a place in the table. Above ½ the places come
    after all others, and bits are rounded up: to cut off what is less by 1, and add 1 at the end, does just that.
    """

    def __init__(self, cell_bits: int) -> None:
        self._cell_bits = cell_bits
        self._counts = np.zeros((2 * _UPPER) << cell_bits, np.uint32)
        self._upper, self._smaller, self._above = np.empty(_BLOCK, bool), np.empty(_BLOCK), np.empty(_BLOCK, np.int64)
        self._rows = 0
        self._lowest = _HALF

    def room_for(self, rows: int, cell: int) -> bool:
        """Whether so many more rows can be counted, in cells up to this one."""
        return self._rows + rows <= _MOST_COUNTED and cell < 1 << self._cell_bits

    def add(self, scores: Array, cells: Array) -> None:
        """Count scores in [0, 1]."""
        self._rows += len(scores)
        one = np.uint32(1)
        for start in range(0, len(scores), _BLOCK):
            places = self._places(scores[start : start + _BLOCK], cells[start : start + _BLOCK])
            np.add.at(self._counts, places, one)

    def _places(self, scores: Array, cells: Array) -> Array:
        length = len(scores)
        upper = np.greater(scores, 0.5, out=self._upper[:length])
        smaller = np.subtract(1.0, scores, out=self._smaller[:length])
        np.minimum(smaller, scores, out=smaller)
        self._note_lowest(smaller)
        bits = smaller.view(np.int64)
        bits += np.multiply(upper, _ABOVE, out=self._above[:length])
        bits >>= _CUT
        places = bits.astype(np.uint32)
        places <<= self._cell_bits
        places |= cells
        return places

    def _note_lowest(self, sizes: Array) -> None:
        """Remember from where on there is anything in the table, apart from its very beginning."""
        lowest = float(sizes.min())
        if lowest == 0:
            lowest = float(np.min(sizes, where=sizes > 0, initial=0.5))
        self._lowest = min(self._lowest, int(np.array(lowest).view(np.int64)) >> _CUT)

    def result(self) -> tuple[Array, Array, None, Array]:
        """Return cells and bins, no weights, and how many rows there are."""
        found: list[Array] = []
        for start in (0, _UPPER - 1):
            for low, high in ((0, 1), (max(self._lowest, 1), _UPPER - 1)):
                first, last = start + low << self._cell_bits, start + high << self._cell_bits
                found.append(first + np.flatnonzero(self._counts[first:last]))
        places = np.concatenate(found)
        steps = places >> self._cell_bits
        numbers = np.where(steps <= _HALF, steps, 2 * _HALF - (steps - _UPPER + 1))
        return places & ((1 << self._cell_bits) - 1), numbers, None, self._counts[places].astype(np.int64)


class SortedSums:
    """Rows, or Σw and Σw², at each cell and bin: batches are sorted, added up, and put together if there are many."""

    def __init__(self) -> None:
        self._parts: list[tuple[Array, list[Array]]] = []

    def add(self, cells: Array, numbers: Array, weight: Array | None, sizes: Array | None = None) -> None:
        """Add a batch; ``sizes`` say how many rows each entry stands for."""
        keys = cells.astype(np.int64) * _SPAN + (numbers.astype(np.int64) + _SPAN // 2)
        columns = [np.ones(len(keys), np.int64) if sizes is None else sizes]
        if weight is not None:
            exact = weight.astype(np.longdouble)  # sums of billions must not drift
            columns = [exact, exact**2]
        self._parts.append(_add(keys, columns))
        if len(self._parts) > 1 and sum(len(k) for k, _ in self._parts[1:]) > len(self._parts[0][0]):
            self._put_together()

    def renumber(self, change: Callable[[Array], Array]) -> "SortedSums":
        """Return the same sums with other numbers for the bins."""
        found = SortedSums()
        for keys, columns in self._parts:
            cells, numbers = _apart(keys)
            found._parts.append(_add(cells * _SPAN + (change(numbers) + _SPAN // 2), columns))
        return found

    def result(self, grid: str) -> Binned:
        """Return everything, in the order of cells and bins."""
        self._put_together()
        keys, columns = self._parts[0]
        cells, numbers = _apart(keys)
        sums = columns if len(columns) == 1 else [column.astype(np.float64) for column in columns]
        return Binned(grid, cells, bins.edges(numbers, grid), *sums)

    def _put_together(self) -> None:
        columns = [np.concatenate(pieces) for pieces in zip(*(columns for _, columns in self._parts), strict=True)]
        self._parts = [_add(np.concatenate([keys for keys, _ in self._parts]), columns)]


def _apart(keys: Array) -> tuple[Array, Array]:
    cells, numbers = np.divmod(keys, _SPAN)
    return cells, numbers - _SPAN // 2


def _add(keys: Array, columns: list[Array]) -> tuple[Array, list[Array]]:
    """Add up what has the same key."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[starts], [np.add.reduceat(column[order], starts) for column in columns]
