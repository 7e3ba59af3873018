"""How large errors are, batch by batch: each of those around the median, and all of them in bins of the fixed grid."""

from collections.abc import Sequence

import numpy as np

from stakes.engines.tensors.arrays import Tensor
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_variation import COARSE, SizeCounts
from stakes.tallies.keys import add_up
from stakes.tallies.operations import ArrayOperations

_BESIDE = 4.0
"""Roots of ranks by which the median of the first rows may miss that of all rows."""

_SURE = 2.0
"""Ranks on either side of a median that its interval needs at most, in roots of the number of rows."""


class MedianWindow:
    """Numbers whose distances from ``start`` lie around their median, and how many are nearer: a window that narrows.

    Some numbers like them say where it begins; ``start`` may yet be moved by as much as ``reach``.
    """

    def __init__(self, some: Array, start: float, weight: Array | None, reach: float = 0.0) -> None:
        self.start = start
        self.low, self.high, self.below, self.total = 0.0, np.inf, 0.0, 0.0
        self._kept, self._waiting = [(np.zeros(0), np.zeros(0))], 0
        beside = _BESIDE / len(some) ** 0.5
        if beside < 0.5:
            sizes = abs(some - start)
            order = np.argsort(sizes)
            sizes, reached = sizes[order], np.cumsum(np.ones(len(some)) if weight is None else weight[order])
            ends = np.searchsorted(reached, [(0.5 - beside) * reached[-1], (0.5 + beside) * reached[-1]])
            self.low, self.high = max(sizes[ends[0]] - reach, 0.0), sizes[ends[1]] + reach

    def add(self, numbers: Tensor, sizes: Tensor, weight: Tensor | None, ops: ArrayOperations) -> None:
        """Add some numbers, whose distances are these."""
        under = sizes < self.low
        here = ops.places((sizes <= self.high) & ~under)
        self.below += int(ops.xp.count_nonzero(under)) if weight is None else float(weight[under].sum())
        self.total += len(sizes) if weight is None else float(weight.sum())
        if len(here):
            many = np.ones(len(here)) if weight is None else ops.home(weight[here])
            self._kept.append((ops.home(numbers[here]), many))
            self._waiting += len(here)

    def narrow(self, most: int) -> None:
        """Keep at most this many: equal ones count as one, and the outermost are given up."""
        if self._waiting <= most:
            return
        numbers, many = self.kept
        if len(numbers) > most // 2:
            sizes = abs(numbers - self.start)
            order = np.argsort(sizes, kind="stable")
            sizes, numbers, many = sizes[order], numbers[order], many[order]
            middle = int(np.searchsorted(self.below + np.cumsum(many), self.total / 2))
            first, last = max(middle - most // 4, 0), min(middle + most // 4, len(numbers) - 1)
            self.low = sizes[first] if first else self.low
            self.high = sizes[last] if last < len(numbers) - 1 else self.high
            self.below += float(many[:first].sum())
            numbers, many = numbers[first : last + 1], many[first : last + 1]
        self._kept, self._waiting = [(numbers, many)], len(numbers)

    @property
    def kept(self) -> tuple[Array, ...]:
        """The numbers in the window, and how many there are of each."""
        return add_up(*map(np.concatenate, zip(*self._kept, strict=True)))


def around_median(parts: Sequence[MedianWindow], start: float, rows: int, largest: float) -> tuple[SizeCounts, bool]:
    """How many distances from a number there are of each size, and whether all around the median are known."""
    low = max(part.low + abs(part.start - start) if part.low else 0.0 for part in parts)
    high = max(min(part.high - abs(part.start - start) for part in parts), low)
    kept = [(abs(numbers - start), many) for numbers, many in (part.kept for part in parts)]
    sizes, many = add_up(*(np.concatenate(both) for both in zip(*kept, strict=True)))
    inside = (sizes >= low) & (sizes <= high)
    total, below = sum(part.total for part in parts), sum(part.below for part in parts) + float(many[sizes < low].sum())
    above = 0.0 if high == np.inf else max(total - below - float(many[inside].sum()), 0.0)
    few = (0.5 - _SURE / rows**0.5) * total
    between, counts = sizes[inside], np.concatenate([[below], many[inside], [above]])
    lower, upper = (np.concatenate([[one], between, [two]])[counts > 0] for one, two in ((0.0, high), (low, largest)))
    return SizeCounts(lower, upper, counts[counts > 0]), max(below * bool(low), above) <= few


class SizeBins:
    """How many sizes (or what weight of them) lie in each bin of the fixed grid, of which a power of two has 2¹¹."""

    def __init__(self, operations: ArrayOperations) -> None:
        self._ops = operations
        self._zeros = 0.0
        self._start, self._counts = 0, np.zeros(0)

    def add(self, sizes: Tensor, weight: Tensor | None) -> None:
        """Count some sizes, whose memory is used for it."""
        ops = self._ops
        numbers = ops.bits(sizes)
        numbers >>= 52 - COARSE  # as bins.numbers() of what is not < 0
        low, high = map(int, ops.ends(numbers))
        if low == 0:
            positive = numbers > 0
            self._zeros += float((~positive).sum() if weight is None else weight[~positive].sum())
            numbers, weight = numbers[positive], None if weight is None else weight[positive]
            low = int(numbers.min()) if high else 0
        if high:
            numbers -= low
            self._add(low, ops.home(ops.count(numbers, high - low + 1, weight)))

    def joined(self, other: "SizeBins") -> "SizeBins":
        """Add what was counted elsewhere."""
        self._zeros += other._zeros
        self._add(other._start, other._counts)
        return self

    def _add(self, start: int, counts: Array) -> None:
        """Add the counts of neighbouring bins."""
        if not len(self._counts):
            self._start = start
        before = max(self._start - start, 0)
        after = max(start + len(counts) - self._start - len(self._counts), 0)
        if before or after:
            self._start, self._counts = self._start - before, np.pad(self._counts, (before, after))
        first = start - self._start
        self._counts[first : first + len(counts)] += counts

    def result(self) -> SizeCounts:
        """Return the bins that hold any."""
        there = np.flatnonzero(self._counts)
        lower, counts = bins.edges(there + self._start, "line", COARSE), self._counts[there]
        if self._zeros:
            lower, counts = np.append(0.0, lower), np.append(self._zeros, counts)
        return SizeCounts.of_bins(lower, counts, COARSE)
