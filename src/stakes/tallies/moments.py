"""Sums of products of powers of error, truth and prediction, carried without rounding."""

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from stakes.tallies.arithmetic import Array, weighted_sum

Power = tuple[int, int, int, int]
"""The powers of |error|, error, truth and prediction in a product."""

COLUMN: dict[str, Power] = {"a": (1, 0, 0, 0), "e": (0, 1, 0, 0), "t": (0, 0, 1, 0), "p": (0, 0, 0, 1)}
"""The power of each column alone."""

_FEW_ROWS_TO_CENTRE = 1 << 8


class Moments(Mapping[Power, Fraction]):
    """Moments about 0, each made when it is asked for: sums of products of powers, block by block, about a centre that
    the first rows give, and moved from there.

    Columns whose powers could overflow or vanish are scaled by a power of two, which is exact.
    """

    def __init__(self, powers: Sequence[Power], extremes: Sequence[float]) -> None:
        self._made: dict[Power, Fraction | None] = dict.fromkeys(powers)
        self._shifts = [_shift(size) for size in (sum(extremes), sum(extremes), *extremes)]
        self._scales = any(self._shifts)
        self._centres: dict[int, float] = {}
        self._blocks: list[dict[Power, float]] = []
        self._spreads: dict[tuple[Power, Power], Fraction] = {}

    def add(self, columns: Sequence[Array], weight: Array | None, room: dict[Power, Array] | None) -> None:
        """Take a block: its sums are made at once, in the ``room`` that products of all blocks share.

        Without room they are made when they are asked for, of columns that nobody changes until then.
        """
        scaled = [np.ldexp(c, -s) if s else c for c, s in zip(columns, self._shifts, strict=True)]
        self._centres = self._centres or _Centres(scaled)
        block = _Block(scaled, self._centres, weight, {} if room is None else room)
        self._blocks.append(block if room is None else {power: block[power] for power in self})
        if room is not None:  # the columns are forgotten
            self._centres = dict(self._centres)

    def __getitem__(self, power: Power) -> Fraction:
        found = self._made[power]
        if found is None:
            found = self._made[power] = self._move(power)
        return found

    def __iter__(self) -> Iterator[Power]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def spread(self, one: Power, other: Power) -> Fraction:
        """Σxy − Σx·Σy/n, which is the same about the centres and needs no moving."""
        if (one, other) in self._spreads:
            return self._spreads[one, other]
        both = product_of(one, other)
        (xy, a), (x, b), (y, c), (n, d) = map(self._sum, (both, one, other, (0, 0, 0, 0)))
        self._spreads[one, other] = found = self._scaled(both, xy * b * c * n - x * y * a * d, a * b * c * n)
        return found

    def _move(self, power: Power) -> Fraction:
        """Expand Σ Π (x + c)ᵏ; floats are whole numbers over powers of two, added up as such: fractions are slow."""
        centres = [self._centres[i] if k else 0.0 for i, k in enumerate(power)]
        whole, below = 0, 1
        for lower, factor, more in _expansion(power, tuple(map(bool, centres))):
            number, divisor = self._sum(lower)
            for i, k in more:
                top, bottom = centres[i].as_integer_ratio()
                number, divisor = number * top**k, divisor * bottom**k
            common = max(below, divisor)
            whole, below = whole * (common // below) + factor * number * (common // divisor), common
        return self._scaled(power, whole, below)

    def _sum(self, power: Power) -> tuple[int, int]:
        return math.fsum([block[power] for block in self._blocks]).as_integer_ratio()

    def _scaled(self, power: Power, whole: int, below: int) -> Fraction:
        scale = sum(map(operator.mul, self._shifts, power)) if self._scales else 0
        return Fraction(whole, below) * Fraction(2) ** scale if scale else Fraction(whole, below)


class _Centres(dict[int, float]):
    """A middle value of each column, one that occurs, so that a constant column has no spread; |error| has none."""

    def __init__(self, columns: Sequence[Array]) -> None:
        self.columns = columns

    def __missing__(self, column: int) -> float:
        first = self.columns[column][:_FEW_ROWS_TO_CENTRE]
        self[column] = found = float(np.partition(first, len(first) // 2)[len(first) // 2]) if column else 0.0
        return found


class _Block(dict[Power, float]):
    """The sums of some rows about the centres, each made when it is asked for."""

    def __init__(
        self, columns: Sequence[Array], centres: Mapping[int, float], weight: Array | None, room: dict[Power, Array]
    ) -> None:
        self.columns, self.centres, self.weight, self.room = columns, centres, weight, room
        self.products: dict[Power, Array] = {}

    def __missing__(self, power: Power) -> float:
        total = weighted_sum(self.product(power), self.weight) if any(power) else _count(self.columns[0], self.weight)
        self[power] = total
        return total

    def product(self, power: Power) -> Array:
        if power not in self.products:
            lower, unit, column = _factors(power)
            if any(lower):
                self._put(power, np.multiply, self.product(lower), self.product(unit))
            else:
                self._put(power, np.subtract, self.columns[column], self.centres[column])
        return self.products[power]

    def _put(self, power: Power, operation: np.ufunc, left: Array, right: Array | float) -> None:
        """Keep a product where that of the block before was: new memory takes longer than the numbers."""
        if power not in self.room:
            self.room[power] = np.empty(len(left))
        self.products[power] = operation(left, right, out=self.room[power][: len(left)])


@cache
def _expansion(power: Power, moved: tuple[bool, ...]) -> Sequence[tuple[Power, int, Sequence[tuple[int, int]]]]:
    """Π (x + c)ᵏ as terms: the power of x, how often it occurs, and the powers of the centres (number, power)."""
    terms = []
    lowest = (0 if away else k for k, away in zip(power, moved, strict=True))
    for a, e, t, p in itertools.product(*(range(low, k + 1) for low, k in zip(lowest, power, strict=True))):
        factor = math.prod(map(math.comb, power, (a, e, t, p)))
        more = [(i, k - lower) for i, (k, lower) in enumerate(zip(power, (a, e, t, p), strict=True)) if k > lower]
        terms.append(((a, e, t, p), factor, more))
    return terms


@cache
def _factors(power: Power) -> tuple[Power, Power, int]:
    """A power as one of a degree less times a column: that one, the power of the column, and its number."""
    last = max(i for i in range(4) if power[i])
    unit = [*COLUMN.values()][last]
    a, e, t, p = map(operator.sub, power, unit)
    return (a, e, t, p), unit, last


@cache
def product_of(one: Power, other: Power) -> Power:
    """The powers of a product of two products."""
    a, e, t, p = map(operator.add, one, other)
    return a, e, t, p


def _shift(size: float) -> int:
    """The power of two that brings numbers near 1, or 0 where their fourth powers are safe as they are."""
    exponent = math.frexp(size)[1] if size and math.isfinite(size) else 1024 if size else 0
    return exponent if abs(exponent) > 200 else 0


def _count(column: Array, weight: Array | None) -> float:
    return float(len(column)) if weight is None else float(weight.sum())
