"""How errors of predicted numbers vary, told by sums: what intervals need where no rows are kept.

Every figure of predicted numbers is a function of the means of a few terms of a row: |error|, error, error², truth,
truth², truth·error, |truth − baseline|, the squared difference of logarithms, and |error| as a share of the truth. How
these means vary together, a matrix of sums of their products says. It is additive, as everything in a tally is.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.bins import FINE, edges, numbers
from stakes.tallies.moments import differences

TERMS = ("one", "size", "error", "square", "truth", "truth2", "cross", "away", "logs", "share")
"""What is added up of each row: 1, |e|, e, e², t, t², t·e, |t − baseline|, (log1p t − log1p p)², |e|/|t|.

The truth is counted from a centre, which keeps its digits.
"""

_BLOCK = 1 << 13
_ABOVE_0 = 1e-16
AWAY = TERMS.index("away")
OWN = tuple(TERMS.index(name) for name in ("size", "error", "square", "cross", "logs", "share"))
"""The terms that depend on what is predicted."""

COARSE = 11
"""Where no size is asked about powers of two are cut into 2¹¹ bins."""

HEAVY = 20
"""So many rows are kept of those that weigh most in a figure."""

Term = Any
"""A column of numbers: an array, or what another engine makes of its columns."""


class Operations(Protocol):
    """What is done with columns, whatever they are."""

    def size(self, column: Term) -> Term:
        """Return |x|."""

    def log1p(self, column: Term) -> Term:
        """Return log(1 + x), and anything where there is none."""

    def sign(self, column: Term) -> Term:
        """Return 1, 0 or −1."""

    def share(self, size: Term, of: Term) -> Term:
        """Return a size as a share of that of another column, 0 where that is 0."""


def terms_of(
    truth: Term, prediction: Term, error: Term, centre: float, baseline: Term, do: Operations
) -> tuple[list[Term], list[Term]]:
    """Return the terms of rows but for the first, which is 1, and what always saying the baseline loses beside them.

    That is the sign of truth − baseline, the squared difference of logarithms, and |truth − baseline|/|truth|. It is
    written once, for arrays and for queries.
    """
    t, size, away = truth - centre, do.size(error), do.size(truth - baseline)
    log = do.log1p(truth)
    logs, logs_away = log - do.log1p(prediction), log - do.log1p(baseline)
    lost = [do.sign(truth - baseline), logs_away * logs_away, do.share(away, truth)]
    return [size, error, error * error, t, t * t, t * error, away, logs * logs, do.share(size, truth)], lost


class OfArrays:
    """The operations on arrays of NumPy, or of another library that spells them alike."""

    def __init__(self, xp: Any = np) -> None:
        self._xp = xp

    def size(self, column: Term) -> Term:
        """Return |x|."""
        return abs(column)

    def log1p(self, column: Term) -> Term:
        """Return log(1 + x), of numbers at −1 and below that of one above it."""
        return self._xp.log(self._xp.clip(column + 1.0, _ABOVE_0, None))

    def sign(self, column: Term) -> Term:
        """Return 1, 0 or −1."""
        return self._xp.sign(column)

    def share(self, size: Term, of: Term) -> Term:
        """Return |x| as a share of the truth; 0 where the truth is, which has no shares."""
        with np.errstate(over="ignore"):
            if of.all():
                return size / abs(of)
            none = of == 0
            return self._xp.where(none, 0.0, size / self._xp.where(none, 1.0, abs(of)))


def terms_of_rows(
    truth: Array, prediction: Array, weight: Array | None, centre: float, baseline: float
) -> tuple[Array, Array]:
    """Return all terms of rows in memory and what the baseline loses, times their weights: terms × rows."""
    t, p = truth.astype(np.float64, copy=False), prediction.astype(np.float64, copy=False)
    return weighed_terms(t, p, differences(truth, prediction), weight, centre, np.float64(baseline))


def weighed_terms(
    truth: Term, prediction: Term, error: Term, weight: Term | None, centre: float, baseline: Term, xp: Any = np
) -> tuple[Term, Term]:
    """The same of arrays of any library, in 64 bits."""
    terms, lost = terms_of(truth, prediction, error, centre, baseline, OfArrays(xp))
    found = xp.stack([xp.ones_like(truth), *terms])
    return (found, lost) if weight is None else (found * weight, [one * weight for one in lost])


# ── how terms vary together ──────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class ErrorVariation:
    """Sums of products of two terms of a row, times its squared weight; ``balance`` adds up the signs of t − baseline.

    ``clusters`` are sums of the terms (times weights) of each cluster instead, where rows come in clusters.
    """

    centre: float
    baseline: float
    balance: float
    products: Array | None
    clusters: Array | None = None

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self | None:
        """Add up, about one centre; the baseline's own term is lost where parts have different ones."""
        first = parts[0]
        if any(part.products is None for part in parts):
            return None
        same = all(part.baseline == first.baseline for part in parts)
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
            terms, lost = terms_of_rows(truth[rows], prediction[rows], unit, centre, baseline)
            products += terms @ terms.T
            balance += float(lost[0].sum())
        return cls(centre, baseline, balance, products)

    @property
    def squared_weight(self) -> float | None:
        """The sum of the squared weights of all rows, where no clusters hide it."""
        return None if self.products is None else float(self.products[0, 0])

    def _about(self, centre: float) -> Array:
        """The products with truths counted from another centre."""
        assert self.products is not None
        move, by = np.eye(len(TERMS)), self.centre - centre
        one, error, t, t2, cross = (TERMS.index(name) for name in ("one", "error", "truth", "truth2", "cross"))
        move[t, one], move[t2, t], move[t2, one], move[cross, error] = by, 2 * by, by**2, by
        return np.asarray(move @ self.products @ move.T)

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
    """Rows that can carry a figure by themselves: for each of ``KEYS`` those that have most of it, times weight.

    ``chosen`` has for each key what they have of it, their truths, predictions and weights, and whether they are among
    the rows (1), or elsewhere and heavier than all that was not chosen (0). ``all_rows`` is how many rows there are.
    """

    chosen: tuple[Array, ...]
    all_rows: int

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

    Most lie in the bins of the fixed grid, as wide as a 2¹⁵-th of their size, or a 2¹¹-th far from the median.
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
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Put parts together; what is known better in one of them than in another goes back to its bin."""
        lower, upper, counts = (
            np.concatenate(each) for each in zip(*((p.lower, p.upper, p.counts) for p in parts), strict=True)
        )
        coarse = edges(numbers(lower, "line", COARSE), "line", COARSE)
        wide = np.isin(coarse, coarse[upper > _after(lower)])
        found, first, place = np.unique(
            np.where(wide, coarse, edges(numbers(lower, "line"), "line")), return_index=True, return_inverse=True
        )
        bits = np.where(wide[first], COARSE, FINE)
        return cls.of_bins(found, np.bincount(place, counts, len(found)), bits)

    def refined(self, sizes: Array, counts: Array) -> Self:
        """Put sizes that are known (those of all rows in some of the bins) in place of their bins."""
        known = np.zeros(len(self.lower), bool)
        known[np.searchsorted(self.lower, sizes, side="right") - 1] = True
        parts = [(self.lower[~known], sizes), (self.upper[~known], sizes), (self.counts[~known], counts)]
        lower, upper, many = (np.concatenate(both) for both in parts)
        order = np.argsort(lower, kind="stable")
        return type(self)(lower[order], upper[order], many[order])

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

    @cached_property
    def around_median(self) -> tuple[float, float]:
        """Between which sizes the median lies."""
        place = list(self._median_place)
        return float(self.lower[place].mean()), float(self.upper[place].mean())

    @property
    def median_range(self) -> tuple[float, float]:
        """From where to where the bins reach that say what the median is; what is in them beside it does no harm."""
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
