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

_LONGEST = bins.FINE + 2
"""Bits of a cell and of the bins within a power of two that a long table has at most: a gigabyte of addresses."""

_MOST_COUNTED = (1 << 32) - 1
_WINDOW = 1 << 20
"""So many neighbours in a long table are counted at once where there are as many rows."""

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
            if sort or not width.fits(most := int(own.max())):
                width.sums.add(own, bins.numbers(scores, self.grid, width.bits, self._ops.xp), weight)
            else:
                quick.append((width.long_table(len(own), most), own))
        for start in range(0, len(scores) if quick else 0, _BLOCK):
            block = slice(start, start + _BLOCK)
            steps = self._steps.of(scores[block])
            for table, own in quick:
                table.find(steps, own[block], block)
        for table, _ in quick:
            table.count(len(scores))

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

    def fits(self, cell: int) -> bool:
        """Whether a long table has room for cells up to this one."""
        return self.bits + cell.bit_length() <= _LONGEST

    def long_table(self, rows: int, cell: int) -> "LongTable":
        """A long table in which so many rows can be counted, in cells up to this one."""
        if not self._long or not self._long[-1].room_for(rows, cell):
            self._long.append(LongTable(max(cell.bit_length(), 1), self.bits, rows))
        self._long[-1].expect(rows)
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


class BinSteps:
    """The place of each probability among all bins there are, from 0 to 1.

    The bits of the smaller one of s and 1 − s, cut off below the bin, are its place. Above ½, where places are counted
    from the other end, bits are rounded up: to cut off what is less by 1, and add 1 at the end, does just that.
    """

    def __init__(self) -> None:
        self._smaller, self._signs = np.empty(_BLOCK), np.empty(_BLOCK)
        self.lowest = _HALF

    def of(self, scores: Array) -> Array:
        """Number some scores in [0, 1]; the next ones take the same memory."""
        others = np.subtract(1.0, scores, out=self._smaller[: len(scores)])
        above = np.subtract(others, scores, out=self._signs[: len(scores)]).view(np.int64)
        above >>= 63  # all bits, which are −1, of what lies above ½, where the difference has a sign
        smaller = np.minimum(others, scores, out=others)
        self._note_lowest(smaller)
        bits = smaller.view(np.int64)
        bits += above
        bits >>= _CUT
        bits ^= above  # what was x is −1 − x
        above &= 2 * _HALF
        bits += above
        return bits

    def _note_lowest(self, sizes: Array) -> None:
        """Remember from where on there is anything in the table, apart from its very beginning."""
        lowest = float(sizes.min())
        if lowest == 0:
            lowest = float(np.min(sizes, where=sizes > 0, initial=0.5))
        self.lowest = min(self.lowest, int(np.array(lowest).view(np.int64)) >> _CUT)


class LongTable:
    """Counts of probabilities over all bins there are; memory is given only to the parts that are touched.

    Around the middle of the first rows lies a window in which most others are. Those are counted at once, which lets
    other threads work meanwhile.
    """

    def __init__(self, cell_bits: int, bits: int, rows: int) -> None:
        self._cell_bits = cell_bits
        self._coarser = bins.FINE - bits
        self._counts = np.zeros((2 * (_HALF >> self._coarser) + 1) << cell_bits, np.uint32)
        self._start: int | None = None
        self._window: Array = np.zeros(min(_WINDOW, 1 << rows.bit_length()) + 1, np.int64)
        self._places: Array = np.empty(rows, np.int64)
        self._rows = 0

    def room_for(self, rows: int, cell: int) -> bool:
        """Whether so many more rows can be counted, in cells up to this one."""
        return self._rows + rows <= _MOST_COUNTED and cell < 1 << self._cell_bits

    def expect(self, rows: int) -> None:
        """Make room for the places of a batch, which the next one takes too."""
        self._rows += rows
        if rows > len(self._places):
            self._places = np.empty(rows, np.int64)

    def find(self, steps: Array, cells: Array, block: slice) -> None:
        """Find the places of some scores in the window, by their steps; those that are far from it are counted."""
        places = self._places[block][: len(steps)]
        np.left_shift(steps >> self._coarser if self._coarser else steps, self._cell_bits, out=places)
        places |= cells
        outside = len(self._window) - 1
        if self._start is None:
            self._start = max(int(np.median(places)) - outside // 2, 0)
        places -= self._start
        near = places.view(np.uint64)
        far = np.flatnonzero(near >= outside)
        if len(far):
            np.add.at(self._counts, places[far] + self._start, np.uint32(1))
            np.minimum(near, outside, out=near)

    def count(self, rows: int) -> None:
        """Count what was found in the window; its last place is that of all that is far away."""
        self._window += np.bincount(self._places[:rows], minlength=len(self._window))

    def result(self, lowest: int) -> tuple[Array, Array, None, list[Array]]:
        """Return cells and bins, no weights, and how many rows there are; nothing but 0 and 1 lies below ``lowest``."""
        here = self._counts[self._start :][: len(self._window) - 1]
        here += self._window[: len(here)].astype(np.uint32)
        end, first = 2 * (_HALF >> self._coarser), max(lowest >> self._coarser, 1)
        places = np.concatenate([self._filled(0, 1), self._filled(first, end - first + 1), self._filled(end, end + 1)])
        cells = places & ((1 << self._cell_bits) - 1)
        order = np.argsort(cells.astype(np.uint16), kind="stable")
        places = places[order]
        return cells[order], places >> self._cell_bits, None, [self._counts[places].astype(np.int64)]

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
