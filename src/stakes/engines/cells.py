"""Groups of rows alike, counted batch by batch while their names are still becoming known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stakes.engines.labels import Labels
from stakes.engines.memory import sums_by
from stakes.tallies.arithmetic import Array

Combination = tuple[str, ...]

_BLOCK = 1 << 16
_MANY = 1 << 22
"""So many possible combinations are not counted in a table: few of them occur."""


@dataclass(frozen=True, eq=False)
class Found:
    """The combinations of a batch: a code for each row, the codes that occur, how often, and their cells."""

    codes: Array
    present: Array
    counts: Array
    cells: Array

    @property
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
        if self._last is None or names != self._last[0] or not np.array_equal(present, self._last[1]):
            cells = np.array([self._number(combination) for combination in _names(labels, present)])
            self._last = names, present, cells  # the next batch is most often like this one
        return Found(codes, present, counts, self._last[2])

    def _number(self, names: Combination) -> int:
        if names not in self._numbers:
            self._numbers[names] = len(self.names)
            self.names.append(names)
        return self._numbers[names]


class CellSums:
    """How many rows there are in each cell, and perhaps Σw and Σw²."""

    def __init__(self) -> None:
        self._sizes: Array = np.zeros(0, np.int64)
        self._sums: Array = np.zeros((2, 0), np.longdouble)  # sums of billions must not drift

    def add(self, found: Found, weight: Array | None) -> None:
        """Count a batch."""
        most = int(found.cells.max()) + 1
        self._sizes = _grow(self._sizes, most)
        self._sizes[found.cells] += found.counts
        if weight is not None:
            self._sums = _grow(self._sums, most)
            cells = found.of_rows.astype(np.int64)
            for sums, values in zip(self._sums, (weight, weight**2), strict=True):
                sums[:most] += sums_by(cells, values, most)

    @property
    def weights(self) -> tuple[Array, Array | None]:
        """How many rows there are in each cell, and nothing else; if they have weights, Σw and Σw²."""
        if not self._sums.size:
            return self._sizes, None
        weights, squares = self._sums.astype(np.float64)
        return weights, squares


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


def _grow(array: Array, length: int) -> Array:
    """Return the array with room for so many cells."""
    more = length - array.shape[-1]
    return array if more <= 0 else np.concatenate([array, np.zeros((*array.shape[:-1], more), array.dtype)], axis=-1)
