"""Scores of rows counted straight into the bins of the fixed grid (``tallies/bins.py``), without keeping any row."""

from collections.abc import Callable

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

_CUT = 52 - bins.FINE
_HALF = 1022 << bins.FINE
"""The number of the bin that begins at ½; the bins above mirror those below."""

_UPPER = 1023 << bins.FINE
_ABOVE = (_UPPER << _CUT) - 1
"""What is added to the bits of scores above ½; in the long table they come after all others, as bins of any width."""

_LONGEST = bins.FINE + 2
"""Bits of a cell and of the bins within a power of two that a long table has at most: a gigabyte of addresses."""

_MOST_COUNTED = (1 << 32) - 1
_SPAN = 1 << 29
"""More numbers than the bins of any grid have."""

_ROOM = 4 << 30
"""Bytes that are left where the long table, of which few pages are ever touched, does no harm to anybody else."""


class BinnedCounts:
    """How many rows there are of each cell (whatever the caller numbers) in each bin, and perhaps their weights.

    Probabilities without weights are counted in a long table over all bins; everything else, and what that table does
    not hold, is sorted and added up batch by batch. With several numbers of ``bits`` the same rows are counted in bins
    of several widths, each with cells of its own: of fewer bits there are fewer bins in each power of two. Where there
    are many of these, long tables would touch too much memory together; then none is ``long``. Tensors, which have
    ``operations`` of their own, are sorted where they lie.
    """

    def __init__(self, *bits: int, long: bool = True, operations: ArrayOperations | None = None) -> None:
        self.grid = "probability"
        self._ops = operations or ArrayOperations()
        self._widths = [_Width(one, self._ops) for one in bits or (bins.FINE,)]
        self._roomy = long and memory_left() > _ROOM
        self._steps = BinSteps()

    def add(self, scores: Tensor, cells: Tensor, weight: Tensor | None = None, *more: Tensor) -> None:
        """Count a batch of finite scores; ``more`` are the cells for the other widths of bins."""
        low, high = self._ops.ends(scores)
        if low == 0:
            scores = scores + 0.0  # −0.0 becomes 0.0
        if low < 0 or high > 1:
            self._on_the_line()
        quick: list[tuple[LongTable, Array]] = []
        sort = self.grid == "line" or weight is not None or not self._roomy
        for width, own in zip(self._widths, (cells, *more), strict=False):
            if sort or not width.fits(own):
                width.sums.add(own, bins.numbers(scores, self.grid, width.bits, self._ops.xp), weight)
            else:
                narrow = np.uint8 if int(own.max()) < 256 else np.uint32  # narrower numbers would wrap
                quick.append((width.long_table(own), own.astype(narrow, copy=False)))
        for start in range(0, len(scores) if quick else 0, _BLOCK):
            block = slice(start, start + _BLOCK)
            steps = self._steps.of(scores[block])
            for table, own in quick:
                table.add(steps, own[block])

    def result(self) -> Binned:
        """Return what was counted."""
        return self.results()[0]

    def results(self) -> list[Binned]:
        """Return what was counted in the bins of each width."""
        return [width.summed(self._steps.lowest).result(self.grid, width.bits) for width in self._widths]

    def _on_the_line(self) -> None:
        """Go over to the grid for any numbers, in whose bins those of probabilities lie."""
        if self.grid == "line":
            return
        for width in self._widths:
            width.sums = width.summed(self._steps.lowest).renumber(width.on_the_line)
        self.grid = "line"


class _Width:
    """What was counted in bins of one width."""

    def __init__(self, bits: int, operations: ArrayOperations) -> None:
        self.bits = bits
        self.sums = SortedSums(operations)
        self._long: list[LongTable] = []

    def fits(self, cells: Array) -> bool:
        """Whether a long table has room for these cells."""
        return self.bits + _bits(cells) <= _LONGEST

    def long_table(self, cells: Array) -> "LongTable":
        """A long table in which a batch can be counted."""
        if not self._long or not self._long[-1].room_for(len(cells), int(cells.max())):
            self._long.append(LongTable(_bits(cells), self.bits))
        self._long[-1].rows += len(cells)
        return self._long[-1]

    def summed(self, lowest: int) -> "SortedSums":
        """Everything, once the long tables are emptied, in which nothing lies below the ``lowest`` step."""
        for table in self._long:
            self.sums.add(*table.result(lowest))
        self._long = []
        return self.sums

    def on_the_line(self, numbers: Array) -> Array:
        """The numbers of bins of probabilities among those of any numbers."""
        return bins.numbers(bins.edges(numbers, "probability", self.bits), "line", self.bits)


def _bits(cells: Array) -> int:
    return max(int(cells.max()).bit_length(), 1)


class BinSteps:
    """The place of each probability among all bins there are.

    The bits of the smaller one of s and 1 − s, cut off below the bin, are its place. Above ½ the places come after all
    others, and bits are rounded up: to cut off what is less by 1, and add 1 at the end, does just that.
    """

    def __init__(self) -> None:
        self._smaller, self._signs = np.empty(_BLOCK), np.empty(_BLOCK)
        self.lowest = _HALF

    def of(self, scores: Array) -> Array:
        """Number some scores in [0, 1]; the next ones take the same memory."""
        others = np.subtract(1.0, scores, out=self._smaller[: len(scores)])
        above = np.subtract(others, scores, out=self._signs[: len(scores)]).view(np.int64)
        above >>= 63  # all bits of what lies above ½, where the difference has a sign
        above &= _ABOVE
        smaller = np.minimum(others, scores, out=others)
        self._note_lowest(smaller)
        bits = smaller.view(np.int64)
        bits += above
        bits >>= _CUT
        return bits

    def _note_lowest(self, sizes: Array) -> None:
        """Remember from where on there is anything in the table, apart from its very beginning."""
        lowest = float(sizes.min())
        if lowest == 0:
            lowest = float(np.min(sizes, where=sizes > 0, initial=0.5))
        self.lowest = min(self.lowest, int(np.array(lowest).view(np.int64)) >> _CUT)


class LongTable:
    """Counts of probabilities over all bins there are; memory is given only to the parts that are touched."""

    def __init__(self, cell_bits: int, bits: int) -> None:
        self._cell_bits = cell_bits
        self._coarser = bins.FINE - bits
        self._counts = np.zeros(((2 * _UPPER) >> self._coarser) << cell_bits, np.uint32)
        self.rows = 0

    def room_for(self, rows: int, cell: int) -> bool:
        """Whether so many more rows can be counted, in cells up to this one."""
        return self.rows + rows <= _MOST_COUNTED and cell < 1 << self._cell_bits

    def add(self, steps: Array, cells: Array) -> None:
        """Count scores by their steps."""
        places = (steps >> self._coarser if self._coarser else steps) << self._cell_bits
        places |= cells
        np.add.at(self._counts, places, np.uint32(1))

    def result(self, lowest: int) -> tuple[Array, Array, None, list[Array]]:
        """Return cells and bins, no weights, and how many rows there are; nothing but 0 and 1 lies below ``lowest``."""
        half, upper = _HALF >> self._coarser, _UPPER >> self._coarser
        ends = (0, 1), (max(lowest >> self._coarser, 1), upper - 1)
        below, above = ([self._filled(start + low, start + high) for low, high in ends] for start in (0, upper - 1))
        places = np.concatenate([*below, *(part[::-1] for part in reversed(above))])  # from the lowest bin up
        cells = places & ((1 << self._cell_bits) - 1)
        order = np.argsort(cells.astype(np.uint16), kind="stable")
        places, steps = places[order], places[order] >> self._cell_bits
        numbers = np.where(steps <= half, steps, 2 * half - (steps - upper + 1))
        return cells[order], numbers, None, [self._counts[places].astype(np.int64)]

    def _filled(self, low: int, high: int) -> Array:
        first = low << self._cell_bits
        return np.asarray(first + np.flatnonzero(self._counts[first : high << self._cell_bits]))


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

    def renumber(self, change: Callable[[Array], Array]) -> "SortedSums":
        """Return the same sums with other numbers for the bins."""
        found = SortedSums(self._ops)
        for keys, *columns in self._parts:
            cells, numbers = _apart(keys)
            found._parts.append(add_up(cells * _SPAN + (change(numbers) + _SPAN // 2), *columns))
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
    cells, numbers = np.divmod(keys, _SPAN)
    return cells, numbers - _SPAN // 2
