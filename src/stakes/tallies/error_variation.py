"""Covariances of errors of predicted numbers, from sums: what intervals need where no rows are kept.

Every figure of predicted numbers is a function of the means of a few terms of a row: |error|, error, error², truth,
truth², truth·error, |truth − baseline|, the squared difference of logarithms, and |error| as a share of the truth. The
covariances of these means follow from a matrix of sums of products, which adds up as everything in a tally does.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.bins import FINE, edges, numbers
from stakes.tallies.error_terms import TERMS, Origin, move, weighed_terms

_BLOCK = 1 << 13
AWAY = TERMS.index("away")

COARSE = 11
"""Far from the median powers of two are cut into 2¹¹ bins."""

_ROUNDING = 1e-12
"""Sums of weights that differ by less than this share of all are the same."""

HEAVY = 20
"""Number of rows that are kept of those that weigh most in a figure."""


# ── how terms vary together ──────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class ErrorVariation:
    """Sums of products of two terms of a row, times its squared weight; ``balance`` adds up the signs of t − baseline.

    ``clusters`` are sums of the terms (times weights) of each cluster instead, where rows come in clusters, and
    ``squares`` is then the sum of squared weights.
    """

    centre: float
    baseline: float
    balance: float
    products: Array | None
    clusters: Array | None = None
    squares: float | None = None

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self | None:
        """Add up, about one centre; the baseline's own term is lost where parts have different ones."""
        first = parts[0]
        if any(part.products is None for part in parts):
            return None
        same = all(part.baseline == first.baseline for part in parts)
        with np.errstate(over="ignore", invalid="ignore"):  # figures of what no float holds have no interval
            products = np.sum([part._about(first.centre) for part in parts], axis=0)
        if not same:
            products[AWAY], products[:, AWAY] = 0.0, 0.0
        return cls(first.centre, first.baseline, sum(part.balance for part in parts), products)

    @classmethod
    def of_rows(cls, truth: Array, prediction: Array, weight: Array | None, centre: float, baseline: float) -> Self:
        """Add up rows."""
        products, balance = np.zeros((len(TERMS), len(TERMS))), 0.0
        for start in range(0, len(truth), _BLOCK):
            rows = slice(start, start + _BLOCK)
            unit = None if weight is None else weight[rows]
            terms, signs = weighed_terms(truth[rows], prediction[rows], unit, Origin(centre, baseline))
            products += terms @ terms.T
            balance += float(signs.sum())
        return cls(centre, baseline, balance, products)

    @property
    def squared_weight(self) -> float | None:
        """The sum of the squared weights of all rows, where it is known."""
        return self.squares if self.products is None else float(self.products[0, 0])

    def _about(self, centre: float) -> Array:
        """The products with truths counted from another centre."""
        assert self.products is not None
        products = self.products.copy()
        for each in (products, products.T):
            move(each, TERMS, self.centre - centre)
        return products

    def saved(self) -> list[object]:
        """Return numbers and lists."""
        return [self.centre, self.baseline, self.balance, self.products]

    @classmethod
    def restored(cls, saved: Sequence[object]) -> Self:
        """Restore what :meth:`saved` gave."""
        centre, baseline, balance, products = saved
        matrix, numbers = np.asarray(products, np.float64), np.array([centre, baseline, balance], np.float64)
        square = matrix.shape == (len(TERMS), len(TERMS)) and np.allclose(matrix, matrix.T)
        if not square or not (np.diagonal(matrix) >= 0).all() or not np.isfinite(numbers).all():
            raise ValueError("the variation of errors")
        return cls(float(numbers[0]), float(numbers[1]), float(numbers[2]), matrix)


KEYS = tuple(TERMS.index(name) for name in ("square", "truth2", "logs", "share"))
"""The terms that make a row heavy: those that grow without end."""


@dataclass(frozen=True, eq=False)
class HeavyRows:
    """Rows that can carry a figure by themselves: for each of ``KEYS`` those with the largest values, times weight.

    ``chosen`` has for each key these values, the truths, predictions and weights of the rows, and whether they are
    among the rows (1), or elsewhere and heavier than all that was not chosen (0). ``all_rows`` is the number of rows.
    """

    chosen: tuple[Array, ...]
    all_rows: int

    @classmethod
    @np.errstate(over="ignore")  # whose squares no float holds are the heaviest
    def of_rows(cls, truth: Array, prediction: Array, centre: float) -> Self:
        """Choose by squared errors, and by how far truths lie from a centre: those are keys of all rows."""
        t, p = truth.astype(np.float64), prediction.astype(np.float64)
        chosen = []
        for value in ((t - p) ** 2, (t - centre) ** 2):
            top = np.argpartition(value, -HEAVY)[-HEAVY:] if len(value) > HEAVY else np.arange(len(value))
            chosen.append(np.stack([value[top], t[top], p[top], np.ones(len(top)), np.ones(len(top))]))
        return cls(tuple(chosen), len(t))

    @classmethod
    def without_each(cls, parts: Sequence[Self]) -> list[Self]:
        """Choose among those of all parts but one, for each of them."""
        owners = np.repeat(np.arange(len(parts)), [part.chosen[0].shape[1] for part in parts])
        tops = []
        for each in zip(*(part.chosen for part in parts), strict=True):
            rows = np.concatenate(each, axis=1)
            top = np.argsort(-rows[0], kind="stable")[: 2 * HEAVY]  # no part has more than half of these
            tops.append((rows[:, top], owners[top]))
        whole = sum(part.all_rows for part in parts)
        return [
            cls(tuple(rows[:, owner != place][:, :HEAVY] for rows, owner in tops), whole - part.all_rows)
            for place, part in enumerate(parts)
        ]

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Choose among those of all parts."""
        each = zip(*(part.chosen for part in parts), strict=True)
        return cls(tuple(map(heaviest, each)), sum(part.all_rows for part in parts))

    @property
    def rows(self) -> Array:
        """Truths, predictions and weights, and how many rows there are of each kind (0: those are elsewhere).

        A row may have most of several keys; rows that are alike count as often as they were chosen for one of them.
        """
        each = [np.unique(rows[1:], axis=1, return_counts=True) for rows in self.chosen]
        kinds, place = np.unique(np.concatenate([kind for kind, _ in each], axis=1), axis=1, return_inverse=True)
        many = np.zeros(kinds.shape[1])
        np.maximum.at(many, np.ravel(place), np.concatenate([count for _, count in each]))
        return np.vstack([kinds[:3], kinds[3] * many])


def heaviest(parts: Sequence[Array]) -> Array:
    """Choose among rows that were chosen (as in ``HeavyRows``, what they have of the key first)."""
    rows = np.concatenate(parts, axis=1)
    many = rows.shape[1]
    return rows if many <= HEAVY else rows[:, np.argpartition(rows[0], many - HEAVY)[-HEAVY:]]


# ── how many errors there are of each size ───────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class SizeCounts:
    """How many |errors| (or what weight of them) lie between two sizes, in their order; both are the same where known.

    Those around the median are known, or lie in bins of the fixed grid, as wide as a 2¹⁵-th of their size; far from it
    bins are as wide as a 2¹¹-th, or what remains on that side.
    """

    lower: Array
    upper: Array
    counts: Array

    @classmethod
    def of_bins(cls, lower: Array, counts: Array, bits: int | Array = FINE) -> Self:
        """Take bins by their lower edges; each power of two is cut into 2 to the ``bits``."""
        order = np.argsort(lower)
        lower, wide = lower[order], np.broadcast_to(bits == COARSE, lower.shape)[order]
        return cls(lower, np.where(lower > 0, np.where(wide, _after(lower, COARSE), _after(lower)), 0.0), counts[order])

    @classmethod
    def of_rows(cls, sizes: Array, weight: Array | None) -> Self:
        """Count sizes, or what they weigh, in wide bins."""
        found, places = np.unique(np.where(sizes > 0, numbers(sizes, "line", COARSE), -1), return_inverse=True)
        return cls.of_bins(np.where(found < 0, 0.0, edges(found, "line", COARSE)), np.bincount(places, weight), COARSE)

    def shared(self, least: float) -> Self:
        """Return wide bins, merged until each holds at least so many: what can be told without telling of a row."""
        lower = np.where(self.lower > 0, edges(numbers(self.lower, "line", COARSE), "line", COARSE), 0.0)
        wide = self.joined([type(self)(lower, np.maximum(self.upper, _after(lower, COARSE)), self.counts)])
        starts, held = [0], 0.0
        for place, count in enumerate(wide.counts.tolist()):
            if held >= least:
                starts.append(place)
                held = 0.0
            held += count
        if held < least and len(starts) > 1:
            starts.pop()
        ends = [start - 1 for start in (*starts[1:], len(wide.counts))]
        return type(self)(wide.lower[starts], wide.upper[ends], np.add.reduceat(wide.counts, starts))

    def saved(self) -> list[Array]:
        """Return columns of numbers."""
        return [self.lower, self.upper, self.counts]

    @classmethod
    def restored(cls, saved: Sequence[object]) -> Self:
        """Restore what :meth:`saved` gave."""
        lower, upper, counts = (np.asarray(column, np.float64) for column in saved)
        alike = lower.ndim == 1 and lower.shape == upper.shape == counts.shape and len(lower) > 0
        if not alike or not np.isfinite([lower, upper, counts]).all() or not (counts > 0).all():
            raise ValueError("the sizes of errors")
        if not (lower >= 0).all() or not (upper >= lower).all() or not (lower[1:] >= upper[:-1]).all():
            raise ValueError("the sizes of errors")
        return cls(lower, upper, counts)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Put parts together: where those of two overlap, they become one."""
        lower, upper, counts = (
            np.concatenate(each) for each in zip(*((p.lower, p.upper, p.counts) for p in parts), strict=True)
        )
        order = np.lexsort((upper, lower))
        lower, reach = lower[order], np.maximum.accumulate(upper[order])
        starts = np.flatnonzero(np.append(True, lower[1:] >= reach[:-1]))
        ends = np.append(starts[1:], len(lower)) - 1
        return cls(lower[starts], reach[ends], np.add.reduceat(counts[order], starts))

    def refined(self, sizes: Array, counts: Array) -> Self:
        """Put sizes that are known (those of all rows in some of the bins) in place of their bins."""
        known = np.zeros(len(self.lower), bool)
        known[np.searchsorted(self.lower, sizes, side="right") - 1] = True
        parts = [(self.lower[~known], sizes), (self.upper[~known], sizes), (self.counts[~known], counts)]
        lower, upper, many = (np.concatenate(both) for both in parts)
        order = np.argsort(lower, kind="stable")
        return type(self)(lower[order], upper[order], many[order])

    def among(self, grid: Self) -> Self:
        """Return these sizes, which are known around the median, with all others in the bins of a grid.

        Of a bin that reaches into what is known the rest is left: how many are smaller, and how many larger, is known.
        """
        known = self.lower == self.upper
        low = 0.0 if known[0] else self.upper[0]
        high = math.inf if known[-1] else self.lower[-1]
        below, above = (grid.upper <= low) & (grid.lower < low), grid.lower > high
        rests = [
            0.0 if known[end] else float(self.counts[end] - grid.counts[side].sum())
            for end, side in ((0, below), (-1, above))
        ]
        smaller, larger = (rest if rest > _ROUNDING * grid.total else 0.0 for rest in rests)
        start = grid.lower[np.searchsorted(grid.lower, low) - 1]
        end = grid.upper[np.searchsorted(grid.lower, high, side="right") - 1]
        parts = [
            (grid.lower[below], grid.upper[below], grid.counts[below]),
            ([start], [low], [smaller]),
            (self.lower[known], self.upper[known], self.counts[known]),
            ([high], [end], [larger]),
            (grid.lower[above], grid.upper[above], grid.counts[above]),
        ]
        lower, upper, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        there = counts > 0
        return type(self)(lower[there], upper[there], counts[there])

    @cached_property
    def _reached(self) -> Array:
        return np.cumsum(self.counts)

    @property
    def total(self) -> float:
        """How many there are."""
        return float(self._reached[-1])

    def at_rank(self, rank: float) -> tuple[float, float]:
        """Between which sizes the one of this rank (from 0 on) lies."""
        place = min(int(np.searchsorted(self._reached, rank, side="right")), len(self.lower) - 1)
        return float(self.lower[place]), float(self.upper[place])

    def near_rank(self, rank: float, unit: float = 1.0) -> float:
        """The size of this rank, or about that: within a bin rows, of this weight, are taken to be spread evenly."""
        low, high = self.at_rank(rank)
        if low == high:
            return low
        place = int(np.searchsorted(self.lower, low))
        before = self._reached[place] - self.counts[place]
        return low + (high - low) * min(max(float((rank + 0.5 * unit - before) / self.counts[place]), 0.0), 1.0)

    @cached_property
    def around_median(self) -> tuple[float, float]:
        """Between which sizes the median lies."""
        place = list(self._median_place)
        return float(self.lower[place].mean()), float(self.upper[place].mean())

    @property
    def median_range(self) -> tuple[float, float]:
        """The range of the bins that hold the median; other sizes in them do no harm."""
        place, last = self._median_place
        return float(self.lower[place]), float(self.upper[last])

    def around(self, ranks: float) -> tuple[float, float]:
        """The same with so many ranks on either side of the median."""
        (low, high), middle = self.median_range, self.total / 2
        return min(low, self.at_rank(middle - ranks)[0]), max(high, self.at_rank(middle + ranks)[1])

    @property
    def _median_place(self) -> tuple[int, int]:
        """Where the median lies: in one place, or halfway between two with half of the weight on either side."""
        half = self.total / 2
        place = int(np.searchsorted(self._reached, half * (1 - 1e-12)))
        return place, place + int(abs(self._reached[place] - half) <= half * 1e-12)

    @property
    def median(self) -> float:
        """The median, or the middle of the bin in which it lies."""
        low, high = self.around_median
        return (low + high) / 2


@dataclass(frozen=True, eq=False)
class MedianSides:
    """Groups of rows by where the errors of two models lie: below the median of each (−1), at it (0) or above (1).

    ``signs`` say so (models × groups), ``weight`` and ``squares`` are sums of weights and of squared weights;
    ``clusters`` are the numbers of the clusters, which then are groups of their own.
    """

    signs: Array
    weight: Array
    squares: Array
    clusters: Array | None = None


def _after(lower: Array, bits: int = FINE) -> Array:
    """The edges after these."""
    return edges(numbers(lower, "line", bits) + 1, "line", bits)


def centred(products: Array, means: Array) -> Array:
    """Return sums of products of deviations from these means of the terms (the first of which is 1)."""
    one = products[0]
    return np.asarray(products - np.outer(means, one) - np.outer(one, means) + np.outer(means, means) * one[0])


def without(totals: Array, parts: Array) -> tuple[Array, Array]:
    """Return what is left without each part: its weight, and the means of the terms."""
    rest = totals - parts
    return rest[:, 0], np.asarray(divide(rest, np.maximum(rest[:, :1], 0.0), np.nan))
