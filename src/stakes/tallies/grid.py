"""The grid that the scores of a table lie on: the fixed bins, some of them merged.

Bins are merged so that no cell of a table is small (``small_cells.py``). Which ones differs from table to table, so the
grid of a sum is the finest one that fits all parts: ranges of bins that overlap become one.
"""

import math
from collections.abc import Iterable
from typing import Self

import numpy as np

from stakes.frozen import dataclass, field, replace
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.fields import Content


@dataclass(frozen=True, eq=False)
class Grid:
    """A kind of bins ("probability" or "line"), and the ranges of bin numbers that were merged.

    ``ranges`` has a row for each range, in order: the first bin in it and the first one after it. A bin outside of all
    ranges stands for itself. ``cuts`` are scores inside bins for which the number of rows above is known, too. Of fewer
    ``bits`` there are fewer bins in each power of two; each has the number of the first fine one that lies in it.

    >>> grid = Grid("probability", np.array([[0, bins.start("probability")]]))
    >>> grid.lower_edges(np.array([0.25, 0.5])).tolist()
    [0.0, 0.5]
    """

    kind: str
    ranges: Array = field(default_factory=lambda: np.empty((0, 2), np.int64))
    cuts: tuple[float, ...] = ()
    bits: int = bins.FINE

    def numbers(self, scores: Array) -> Array:
        """Return the number of each score's bin; merged bins have the number of the first."""
        found = bins.numbers(scores, self.kind) & -self._fine_bins
        place = np.searchsorted(self.ranges[:, 0], found, side="right") - 1
        if not len(self.ranges):
            return found
        first, stop = self.ranges[place].T
        return np.where((place >= 0) & (found < stop), first, found)

    @property
    def _fine_bins(self) -> int:
        """How many of the finest bins lie in one."""
        return 1 << (bins.FINE - self.bits)

    def lower_edges(self, scores: Array) -> Array:
        """Return the lower edge of each score's bin, as float64."""
        return bins.edges(self.numbers(scores), self.kind)

    def middles(self, edges: Array) -> Array:
        """Return a value inside each bin, which is named by its lower edge; that of 1 holds nothing else."""
        return (edges + self.upper_edges(edges)) / 2

    def upper_edges(self, edges: Array) -> Array:
        """Return where the bins end that are named by these lower edges; the last one holds its end, too."""
        numbers = self.numbers(edges)
        after = numbers + self._fine_bins
        if len(self.ranges):
            place = np.searchsorted(self.ranges[:, 0], numbers)
            first, stop = self.ranges[np.minimum(place, len(self.ranges) - 1)].T
            after = np.where(first == numbers, stop, after)
        return bins.edges(np.minimum(after, bins.domain(self.kind)[1]), self.kind)

    def around(self, score: float) -> tuple[float, float]:
        """Return the lower edge of a score's bin and that of the next bin, or cuts; +∞ when there is none."""
        low, high = self._bin_around(score)
        return max([low, *(cut for cut in self.cuts if cut <= score)]), min(
            [high, *(c for c in self.cuts if c > score)]
        )

    def _bin_around(self, score: float) -> tuple[float, float]:
        number = int(self.numbers(np.array([score]))[0])
        low = float(bins.edges(np.array([number]), self.kind)[0])
        inside = self.ranges[self.ranges[:, 0] == number]
        if not len(inside):
            return low, bins.next_edge(low, self.kind, self.bits)
        stop = int(inside[0, 1])
        return low, math.inf if stop > bins.domain(self.kind)[1] else float(bins.edges(inside[0, 1:], self.kind)[0])

    def joined(self, others: Iterable["Grid"]) -> "Grid":
        """Return the finest grid that is no finer than any of these, all of one kind."""
        grids = [self, *others]
        plain = Grid(self.kind, bits=min(grid.bits for grid in grids))
        ranges = plain._whole_bins(np.concatenate([grid.ranges for grid in grids]))
        if not len(ranges):
            return plain
        ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
        reach = np.maximum.accumulate(ranges[:, 1])
        starts = np.flatnonzero(np.append(True, ranges[1:, 0] >= reach[:-1]))
        joined = np.column_stack([ranges[starts, 0], np.maximum.reduceat(ranges[:, 1], starts)])
        return replace(plain, ranges=joined)

    def _whole_bins(self, ranges: Array) -> Array:
        """The ranges, each with all of the bins in which it begins and ends."""
        fine, (_, highest) = self._fine_bins, bins.domain(self.kind)
        stop = np.minimum(ranges[:, 1] + (fine - 1) & -fine, highest + 1)
        return np.column_stack([ranges[:, 0] & -fine, stop])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grid):
            return NotImplemented
        alike = (self.kind, self.cuts, self.bits) == (other.kind, other.cuts, other.bits)
        return alike and np.array_equal(self.ranges, other.ranges)

    def saved(self) -> Content:
        """Return the content, for :meth:`restored`."""
        coarser = {} if self.bits == bins.FINE else {"bits": self.bits}
        return {"kind": self.kind, "ranges": self.ranges, **coarser}

    @classmethod
    def restored(cls, saved: Content) -> Self:
        """Check and restore what :meth:`saved` gave."""
        kind = saved["kind"]
        if kind not in bins.GRIDS:
            raise ValueError("a grid of no known kind")
        bits = saved.get("bits", bins.FINE)
        if type(bits) is not int or not 0 <= bits <= bins.FINE:
            raise ValueError("a grid of no known fineness")
        ranges = np.asarray(saved["ranges"])
        if ranges.size and ranges.dtype.kind not in "iu":
            raise ValueError("ranges of bins are whole numbers")
        ranges = ranges.astype(np.int64).reshape(-1, 2)
        lowest, highest = bins.domain(kind)
        ends = ranges.ravel()
        if ends.size and (ends[0] < lowest or ends[-1] > highest + 1):
            raise ValueError("ranges beyond the grid")
        if not (ranges[:, 0] < ranges[:, 1]).all() or not (ranges[1:, 0] >= ranges[:-1, 1]).all():
            raise ValueError("ranges that overlap")
        found = cls(kind, ranges, bits=bits)
        if not np.array_equal(ranges, found._whole_bins(ranges)):
            raise ValueError("ranges that end inside bins")
        return found
