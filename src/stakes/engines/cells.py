"""Cells: groups of equal rows, counted batch by batch while their names are still becoming known."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes.engines.columns import Values
from stakes.engines.labels import Labels
from stakes.engines.memory import Binned, sums_by
from stakes.tallies.arithmetic import Array
from stakes.tallies.losses import SHAPE, each_loss, losses_either_way

Combination = tuple[str, ...]

Apart = tuple[Array, Array, Array | None, Array | None]
"""Some rows: the cell of all or of each, their scores, weights, and groups of clusters."""

_VALUES: dict[str, Callable[[str], object]] = {"number": int, "boolean": "true".__eq__, "text": str}
"""Converts a cell's name to a value, by the kind of its column."""

_BLOCK = 1 << 16
"""Rows per block."""

_FEW = 8
"""Up to this many cells are processed one after the other."""

_MANY = 1 << 22
"""With this many possible combinations they are not counted in a table: few of them occur."""


@dataclass(frozen=True, eq=False)
class Found:
    """The combinations of a batch: a code for each row, the codes that occur, how often, and their cells."""

    codes: Array
    present: Array
    counts: Array
    cells: Array

    @cached_property
    def of_rows(self) -> Array:
        """The cell of each row."""
        if np.array_equal(self.cells, self.present):
            return self.codes
        cells = self.cells.astype(np.min_scalar_type(int(self.cells.max())))
        if self.present[-1] >= _MANY:
            return cells[np.searchsorted(self.present, self.codes)]
        places = np.zeros(int(self.present[-1]) + 1, cells.dtype)
        places[self.present] = cells
        return places[self.codes]

    def apart(self, scores: Array, weight: Array | None, groups: Array | None) -> Iterator[Apart]:
        """The rows of each cell by themselves where cells are few, otherwise all with the cell of each."""
        if len(self.cells) > _FEW:
            yield self.of_rows, scores, weight, groups
            return
        import polars as pl  # loaded by whoever opened the files, and takes some rows ten times as fast as NumPy

        rows = pl.Series(self.of_rows)
        for cell in self.cells:
            mine = rows == int(cell)
            yield (
                cell,
                pl.Series(scores).filter(mine).to_numpy(),
                *(None if one is None else pl.Series(one).filter(mine).to_numpy() for one in (weight, groups)),
            )


class Cells:
    """The combinations of labels that occur, numbered in the order in which they come up."""

    def __init__(self) -> None:
        self.names: list[Combination] = []
        self._numbers: dict[Combination, int] = {}
        self._last: tuple[list[Combination], Array, Array] | None = None

    def of(self, labels: Sequence[Labels]) -> Found:
        """Find the cells of a batch."""
        codes, present, counts = _combine(labels)
        names = [label.names for label in labels]
        last = self._last  # which another thread may change meanwhile
        if last is None or names != last[0] or not np.array_equal(present, last[1]):
            cells = np.array([self._number(combination) for combination in _names(labels, present)])
            last = self._last = names, present, cells  # the next batch is most often like this one
        return Found(codes, present, counts, last[2])

    def of_names(self, names: Combination) -> int:
        """The number of a combination that occurred; 0 where there are no labels at all."""
        return self._numbers[names] if names else 0

    def columns(self, kinds: Mapping[str, str]) -> dict[str, Values]:
        """The labels of all cells by argument, as values of their kind; labels without a kind are left out."""
        texts = zip(*self.names, strict=True)
        return {name: list(map(_VALUES[kind], text)) for (name, kind), text in zip(kinds.items(), texts, strict=False)}

    def _number(self, names: Combination) -> int:
        if names not in self._numbers:
            self._numbers[names] = len(self.names)
            self.names.append(names)
        return self._numbers[names]


class CellSums:
    """The number of rows in each cell, and Σw and Σw² if they have weights."""

    def __init__(self) -> None:
        self.sizes: Array = np.zeros(0, np.int64)
        self._sums: Array = np.zeros((2, 0), np.longdouble)  # sums of billions must not drift

    def add(self, found: Found, weight: Array | None) -> None:
        """Count a batch."""
        most = int(found.cells.max()) + 1
        self.sizes = np.pad(self.sizes, (0, max(most - len(self.sizes), 0)))
        self.sizes[found.cells] += found.counts
        if weight is not None:
            self._sums = np.pad(self._sums, ((0, 0), (0, len(self.sizes) - self._sums.shape[1])))
            cells = found.of_rows.astype(np.int64)
            for sums, values in zip(self._sums, (weight, weight**2), strict=True):
                sums[:most] += sums_by(cells, values, most)

    @property
    def weights(self) -> tuple[Array, Array | None]:
        """The number of rows in each cell and None, or Σw and Σw² if rows have weights."""
        if not self._sums.size:
            return self.sizes, None
        weights, squares = self._sums.astype(np.float64)
        return weights, squares


class CellLosses:
    """Losses of the probabilities of each cell, were its rows positive and were they negative (``tallies/losses.py``).

    The positive class is not known before the last row. Nor is it known before a batch is counted whether all of its
    scores are probabilities; if they are not, the sums mean nothing.
    """

    def __init__(self) -> None:
        self._sums: Array = np.zeros((0, *SHAPE), np.longdouble)

    @np.errstate(invalid="ignore")
    def add(self, scores: Array, cells: Array, weight: Array | None) -> None:
        """Add some rows, of which each has a cell, or all have the same."""
        more = int(cells.max()) + 1 - len(self._sums)
        self._sums = np.pad(self._sums, ((0, max(more, 0)), (0, 0), (0, 0)))
        columns = [scores.astype(np.float64, copy=False)] + ([] if weight is None else [weight])
        for start in range(0, len(scores), _BLOCK):
            block = [column[start : start + _BLOCK] for column in columns]
            if cells.ndim:
                self._add_many(cells[start : start + _BLOCK], *block)
            else:
                self._sums[cells] += losses_either_way(*block)

    def of_classes(self, positive: Array) -> Array:
        """The sums of the rows of both classes, given which cells are positive."""
        own = [self._sums[: len(mine), :, place][mine].sum(0) for place, mine in enumerate((positive, ~positive))]
        return np.stack(own, axis=-1).astype(np.float64)

    def in_bins(self, found: Binned) -> Array:
        """The sums of each cell beside the first of its bins, which are in the order of the cells."""
        first = np.flatnonzero(np.append(True, found.cells[1:] != found.cells[:-1]))
        lost = np.zeros((len(found.cells), *SHAPE))
        lost[first] = self._sums[found.cells[first]]
        return lost

    def _add_many(self, cells: Array, scores: Array, weight: Array | float = 1.0) -> None:
        lost = each_loss(scores) * weight
        for place in np.ndindex(SHAPE):
            self._sums[:, *place] += np.bincount(cells, lost[place], len(self._sums))


def _combine(labels: Sequence[Labels]) -> tuple[Array, Array, Array]:
    """Number the combinations of a batch; return the number of each row, those that occur, and how often they do."""
    codes = labels[0].codes
    for other in labels[1:]:
        kind = np.min_scalar_type((int(codes.max()) + 1) * len(other.names))  # narrower numbers would wrap
        codes = codes.astype(kind) * kind.type(len(other.names)) + other.codes.astype(kind, copy=False)
    if codes.max() >= _MANY:
        return codes, *np.unique(codes, return_counts=True)
    counts = _counts(codes)
    present = np.flatnonzero(counts)
    return codes, present, counts[present]


def _counts(codes: Array) -> Array:
    """Count each code, block by block so that temporaries stay small."""
    if codes.dtype == np.uint8 and codes.max() <= 1:
        ones = int(np.count_nonzero(codes))
        return np.array([len(codes) - ones, ones])
    counts: Array = np.zeros(int(codes.max()) + 1, np.int64)
    block = max(_BLOCK, len(counts))
    for start in range(0, len(codes), block):
        counts += np.bincount(codes[start : start + block], minlength=len(counts))
    return counts


def _names(labels: Sequence[Labels], present: Array) -> list[Combination]:
    """The names of numbered combinations."""
    columns: list[list[str]] = []
    for label in reversed(labels[1:]):
        present, place = np.divmod(present, len(label.names))
        columns.append([label.names[i] for i in place.tolist()])
    columns.append([labels[0].names[i] for i in present.tolist()])
    return list(zip(*reversed(columns), strict=True))
