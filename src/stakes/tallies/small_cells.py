"""Which bins to merge so that no cell is small: shared counts must not reveal single rows.

A cell is the positives or the negatives in a bin; it is empty or holds at least so many rows. Between two bins that are
not empty there is room for an edge, and the edge that is divisible by the highest power of two is taken (counted in
bins from ½, or from 0 on the line). Edges are kept from the most divisible ones down, each if no cell on either side of
it becomes small. So the tables of different rows keep much the same edges, and their sum, which has the edges that all
of them kept, stays fine. Sums are right on any grids, and no cell of a sum is smaller than in its parts.

The edge ½ is always kept: what lies on either side of it is the confusion table of the usual threshold. Where a whole
side is small it is one bin; so is a whole line.
"""

import numpy as np

from stakes.tallies import bins
from stakes.tallies.arithmetic import Array

_BINADE = 15
"""Outer edges are rounded to powers of two, so that they do not reveal the lowest and the highest score."""

_SIGN = 64
"""The rank of the edge at which the count of bins begins; all others are smaller."""


def ranges_without_small_cells(numbers: Array, cells: Array, squares: Array, kind: str, minimum: float) -> Array:
    """Return the ranges of bins to merge.

    ``numbers`` are those of the occupied bins, rising; ``cells`` (class × bin) their counts or sums of weights,
    ``squares`` the sums of squared weights (of counts: the counts). The size of a weighted cell is Kish's effective
    number of rows: Σw² / Σ(w²).
    """
    if not len(numbers):
        return np.empty((0, 2), np.int64)
    start = bins.start(kind)
    places = numbers - start
    sides = [0, int(np.searchsorted(places, 0)), len(places)] if kind == "probability" else [0, len(places)]
    sizes = _Sizes(cells, squares, minimum)
    kept = _keep_edges(places, np.unique(sides), sizes)
    return _ranges(places, kept, sizes, kind) + start


class _Sizes:
    """How many rows lie between two places, from sums up to each place."""

    def __init__(self, cells: Array, squares: Array, minimum: float) -> None:
        self.minimum = minimum
        columns = np.concatenate([cells, squares, cells > 0]).astype(np.float64)
        self.reached = np.zeros((columns.shape[1] + 1, len(columns)))
        np.cumsum(columns.T, axis=0, out=self.reached[1:])

    def fit(self, start: Array, stop: Array) -> Array:
        """Whether no cell from place to place is small."""
        sums, squares, occupied = np.split(self.reached[stop] - self.reached[start], 3, axis=1)
        return np.asarray(((occupied == 0) | (sums**2 >= self.minimum * squares)).all(axis=1))


def _keep_edges(places: Array, sides: Array, sizes: _Sizes) -> Array:
    """Return where blocks begin and end among the occupied bins: from the most divisible edges down."""
    kept, ranks = sides, _ranks(places)
    ranks[sides[1:-1] - 1] = -1  # those are kept already
    order = np.argsort(-ranks, kind="stable")[: np.count_nonzero(ranks >= 0)]
    ends = np.flatnonzero(np.diff(ranks[order])) + 1
    for waiting in np.split(order + 1, ends):
        while len(waiting):
            after = np.searchsorted(kept, waiting)
            fine = sizes.fit(kept[after - 1], waiting) & sizes.fit(waiting, kept[after])
            waiting, after = waiting[fine], after[fine]
            first = np.flatnonzero(np.diff(after, prepend=0))  # one for each block: others must fit what it leaves
            kept = np.insert(kept, after[first], waiting[first])
            waiting = np.delete(waiting, first)
    return kept


def _ranks(places: Array) -> Array:
    """How divisible the best edge between each two neighbours is: the highest bit in which they differ."""
    differ = places[:-1] ^ places[1:]
    return np.where(differ < 0, _SIGN, np.frexp(differ.astype(np.float64))[1])


def _ranges(places: Array, kept: Array, sizes: _Sizes, kind: str) -> Array:
    """Return the edges of the blocks of more than one bin, and of sides that are small."""
    lowest, highest = (end - bins.start(kind) for end in bins.domain(kind))
    low, high = (int(places[0]) >> _BINADE) << _BINADE, ((int(places[-1]) >> _BINADE) + 1) << _BINADE
    inner = kept[1:-1]
    shifts = np.minimum(_ranks(places)[inner - 1] - 1, _SIGN - 2)
    starts = np.append(max(low, lowest), (places[inner] >> shifts) << shifts)
    starts = np.where(_is_a_float(starts, kind), starts, places[kept[:-1]])
    ends = np.append(starts[1:], min(high, highest + 1))
    small = ~sizes.fit(kept[:-1], kept[1:])
    halves = kind == "probability"
    whole = np.where(halves & (starts >= 0), 0, lowest), np.where(halves & (ends <= 0), 0, highest + 1)
    ranges = np.column_stack([np.where(small, side, end) for side, end in zip(whole, (starts, ends), strict=True)])
    return ranges[small | (np.diff(kept) > 1)]


def _is_a_float(places: Array, kind: str) -> Array:
    """Whether the lower edge of a bin is that of no other bin: just below 1 bins are finer than floats."""
    numbers = places + bins.start(kind)
    return np.asarray(bins.numbers(bins.edges(numbers, kind), kind) == numbers)
