"""Sums of products of powers of error, truth and prediction, carried without rounding."""

import itertools
import math
import operator
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.tallies.parallel import run_all

Power = tuple[int, int, int, int]
"""The powers of |error|, error, truth and prediction in a product."""

Block = tuple[Sequence[Array], Array | None]
"""|error|, error, truth and prediction of some rows, and their weights."""

COLUMN: dict[str, Power] = {"a": (1, 0, 0, 0), "e": (0, 1, 0, 0), "t": (0, 0, 1, 0), "p": (0, 0, 0, 1)}
"""The power of each column alone."""

_ROWS: Power = (0, 0, 0, 0)
"""The power that adds up to the (weighted) number of rows."""

_OF_TRUTH: tuple[Power, ...] = ((0, 0, 1, 0), (0, 0, 2, 0), (0, 2, 0, 0))
_OF_BOTH: tuple[Power, ...] = ((0, 0, 1, 0), (0, 0, 2, 0), (0, 0, 1, 1), (0, 0, 0, 1), (0, 0, 0, 2))
"""The powers behind figures that compare errors with the spread of the truth, or predictions with the truth."""

_FEW_ROWS_TO_CENTRE = 1 << 6


BLOCK = 1 << 15
"""Rows handled at a time: few enough that temporaries stay in the processor's cache."""

SPAN = 16 * BLOCK
"""Rows that a thread adds up at a time."""

_DOT = 1 << 13
"""Rows whose products are added up at a time."""

_VANISHING, _HUGE = 1e-200, 1e100
"""Smaller sums of squares may have underflowed; no sum of weights is larger than that."""


class UnusualNumbersError(ArithmeticError):
    """Numbers that are not finite, or whose products overflow or vanish."""


Room = dict[tuple[int, ...] | str, Array]
"""Where products of a block are kept, by their powers; errors and weighed columns have one number, terms a name."""

_WEIGHED = (4,)
_thread = threading.local()

Sums = dict[Power, float]
"""The sums of a block about the centres."""


class Moments(Mapping[Power, Fraction]):
    """Moments about 0, each made when it is asked for: sums of products of powers, block by block, about a centre that
    the first rows give, and moved from there.

    Columns whose powers could overflow or vanish are scaled by a power of two, which is exact. Powers that are wanted
    ``later`` are summed up once one of them is asked for, by a second walk over the blocks (columns and weight).
    """

    def __init__(
        self,
        powers: Sequence[Power],
        extremes: Sequence[float] = (),
        later: tuple[Sequence[Power], Callable[[], Iterable[Block]]] | None = None,
    ) -> None:
        self._later: Sequence[Power] = later[0] if later else ()
        self._walk = later[1] if later else None
        self._made: dict[Power, Fraction | None] = dict.fromkeys([*powers, *self._later])
        self._at_once = powers
        self._shifts = [_shift(size) for size in (sum(extremes), sum(extremes), *extremes)] if extremes else []
        self._scales = any(self._shifts)
        self._centres: dict[int, float] = {}
        self._blocks: list[Sums] = []
        self._spreads: dict[tuple[Power, Power], Fraction] = {}

    @classmethod
    def of_sums(cls, sums: Mapping[Power, float], truth: float, prediction: float) -> "Moments":
        """Take sums that were made elsewhere, of truths and predictions counted from these centres.

        Errors were counted from 0. Where nearly all errors are far from it, those about the difference of the centres
        are smaller, and so is what was rounded away: they follow from the squares of truths and predictions, unless
        the errors are those of whole numbers that no float holds.
        """
        moments, found, error = cls(list(sums)), dict(sums), 0.0
        squares, cross = found[0, 0, 2, 0] + found[0, 0, 0, 2], found[0, 0, 1, 1]
        apart, whole = found[0, 0, 1, 0] - found[0, 0, 0, 1], found[0, 1, 0, 0]
        same = math.isclose(apart + (truth - prediction) * found[0, 0, 0, 0], whole, rel_tol=1e-9)
        if same and squares < found[0, 2, 0, 0]:
            error = truth - prediction
            found |= {(0, 1, 0, 0): apart, (0, 2, 0, 0): squares - 2 * cross}
        moments._centres = {0: 0.0, 1: error, 2: truth, 3: prediction}
        moments._blocks = [found]
        return moments

    def centre(self, columns: Sequence[Array]) -> None:
        """Take the centres from the first block."""
        centres = _Centres(self._scaled_columns(columns))
        self._centres = {column: centres[column] for column in range(len(columns))}

    def sums_of(self, block: Block, room: Room, powers: Sequence[Power] | None = None) -> Sums:
        """The sums of a block, made in the ``room`` that products of several blocks share."""
        columns, weight = block
        found = _Block(self._scaled_columns(columns), self._centres, weight, room)
        return {power: found.total(power) for power in (self._at_once if powers is None else powers)}

    def add(self, sums: Iterable[Sums]) -> None:
        """Take the sums of blocks, in their order."""
        self._blocks += sums

    def _scaled_columns(self, columns: Sequence[Array]) -> Sequence[Array]:
        if not self._scales:
            return columns
        return [np.ldexp(c, -s) if s else c for c, s in zip(columns, self._shifts, strict=True)]

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
        self._prepare((one, other, both))
        (xy, a), (x, b), (y, c), (n, d) = map(self._sum, (both, one, other, (0, 0, 0, 0)))
        self._spreads[one, other] = found = self._scaled(both, xy * b * c * n - x * y * a * d, a * b * c * n)
        return found

    def _move(self, power: Power) -> Fraction:
        """Expand Σ Π (x + c)ᵏ; floats are whole numbers over powers of two, added up as such: fractions are slow."""
        centres = [self._centres[i] if k else 0.0 for i, k in enumerate(power)]
        whole, below = 0, 1
        terms = _expansion(power, tuple(map(bool, centres)))
        self._prepare([lower for lower, _, _ in terms])
        for lower, factor, more in terms:
            number, divisor = self._sum(lower)
            for i, k in more:
                top, bottom = centres[i].as_integer_ratio()
                number, divisor = number * top**k, divisor * bottom**k
            common = max(below, divisor)
            whole, below = whole * (common // below) + factor * number * (common // divisor), common
        return self._scaled(power, whole, below)

    def _prepare(self, powers: Sequence[Power]) -> None:
        """Make the sums of these powers, if they are not there yet."""
        if self._walk is None or not any(power in self._later for power in powers):
            return
        room: Room = {}
        later, walk, self._walk = self._later, self._walk, None
        for sums, block in zip(self._blocks, walk(), strict=True):
            sums |= self.sums_of(block, room, later)

    def _sum(self, power: Power) -> tuple[int, int]:
        return math.fsum([block[power] for block in self._blocks]).as_integer_ratio()

    def _scaled(self, power: Power, whole: int, below: int) -> Fraction:
        scale = sum(map(operator.mul, self._shifts, power)) if self._scales else 0
        return Fraction(whole, below) * Fraction(2) ** scale if scale else Fraction(whole, below)


class MomentsOnDemand(Moments):
    """The same for two columns that do not change meanwhile: a power is summed up when it is needed, and no other.

    Nothing is checked beforehand and nothing is scaled: numbers that would need it are refused.
    """

    def __init__(self, powers: Sequence[Power], truth: Array, prediction: Array, weight: Array | None = None) -> None:
        super().__init__(powers)
        self._columns, self._weight = (truth, prediction), weight
        first = slice(_FEW_ROWS_TO_CENTRE)
        self._centres = _Centres(_LazyColumns(truth[first], prediction[first], {}))
        self._sums: dict[Power, tuple[int, int]] = {}
        if weight is None:
            self._sums[_ROWS], self._made[_ROWS] = (len(truth), 1), Fraction(len(truth))

    def spread(self, one: Power, other: Power) -> Fraction:
        """Sum up in one walk what is asked for beside a spread: those of both columns, or squared errors."""
        if (one, other) not in self._spreads:
            self._prepare(_OF_BOTH if COLUMN["p"] in self._made else _OF_TRUTH)
        return super().spread(one, other)

    def _prepare(self, powers: Sequence[Power]) -> None:
        wanted = [power for power in powers if power not in self._sums]
        if not wanted:
            return
        if self._weight is not None and _ROWS not in self._sums and _ROWS not in wanted:
            wanted.append(_ROWS)
        length = len(self._columns[0])
        spans = run_all([partial(self._span, start, wanted) for start in range(0, length, SPAN)], length)
        found = itertools.chain.from_iterable(spans)
        for power, parts in zip(wanted, zip(*found, strict=True), strict=True):
            total = _checked_sum(parts)
            if (max(power) > 1 and total < _VANISHING) or (power == _ROWS and total > _HUGE):
                raise UnusualNumbersError
            self._sums[power] = total.as_integer_ratio()

    def _span(self, first: int, wanted: Sequence[Power]) -> list[list[float]]:
        """The sums of each block of a span of rows."""
        found: list[list[float]] = []
        room = room_of_thread()
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(first, min(first + SPAN, len(self._columns[0])), BLOCK):
                rows = slice(start, start + BLOCK)
                truth, prediction = (column[rows] for column in self._columns)
                weight = None if self._weight is None else self._weight[rows]
                block = _Block(_LazyColumns(truth, prediction, room), self._centres, weight, room)
                found.append([block.total(power) for power in wanted])
        return found

    def _sum(self, power: Power) -> tuple[int, int]:
        if power not in self._sums:
            self._prepare((power,))
        return self._sums[power]


def _checked_sum(parts: Sequence[float]) -> float:
    try:
        total = math.fsum(parts)
    except (ValueError, OverflowError):
        raise UnusualNumbersError from None
    if not math.isfinite(total):
        raise UnusualNumbersError
    return total


class _LazyColumns(Sequence[Array]):
    """|error|, error, truth and prediction of some rows, each made when it is asked for, in this room."""

    def __init__(self, truth: Array, prediction: Array, room: Room) -> None:
        self._rows, self._room = (truth, prediction), room
        self._made: dict[int, Array] = {}

    def __len__(self) -> int:
        return 4

    def __getitem__(self, column: Any) -> Any:
        if column not in self._made:
            self._made[column] = self._make(column)
        return self._made[column]

    def _make(self, column: int) -> Array:
        truth, prediction = self._rows
        if column > 1:
            return self._rows[column - 2].astype(np.float64, copy=False)
        out = room_for(self._room, (column,), len(truth))
        if column == 0:
            return np.asarray(np.abs(self[1], out=out))
        if truth.dtype == prediction.dtype == np.float64:
            return np.asarray(np.subtract(truth, prediction, out=out))
        return differences(truth, prediction)


def differences(truth: Array, prediction: Array) -> Array:
    """Truth − prediction as float64, rounded once: whole numbers are subtracted as such, however large or unsigned."""
    if truth.dtype.kind == "f" or prediction.dtype.kind == "f":
        return truth.astype(np.float64, copy=False) - prediction.astype(np.float64, copy=False)
    small = all(
        column.dtype.itemsize < 8 or (int(column.min()) > -(2**62) and int(column.max()) < 2**62)
        for column in (truth, prediction)
    )
    whole = np.int64 if small else object
    return np.asarray((truth.astype(whole) - prediction.astype(whole)).astype(np.float64))


class _Centres(dict[int, float]):
    """A middle value of each column, one that occurs, so that a constant column has no spread.

    It is 0 where the middle half of the rows lies on both sides of that, which needs no moving, and for |error|.
    """

    def __init__(self, columns: Sequence[Array]) -> None:
        self.columns = columns

    def __missing__(self, column: int) -> float:
        self[column] = found = self._middle(self.columns[column][:_FEW_ROWS_TO_CENTRE]) if column else 0.0
        return found

    @staticmethod
    def _middle(rows: Array) -> float:
        ordered, quarter = np.sort(rows), len(rows) // 4
        return 0.0 if ordered[quarter] < 0 < ordered[-1 - quarter] else float(ordered[len(rows) // 2])


class _Block:
    """Some rows about the centres, whose products are made when they are asked for."""

    def __init__(
        self, columns: Sequence[Array], centres: Mapping[int, float], weight: Array | None, room: Room
    ) -> None:
        self.columns, self.centres, self.weight, self.room = columns, centres, weight, room
        self.products: dict[Power, Array] = {}
        self.weighed: Power | None = None

    def total(self, power: Power) -> float:
        """The (weighted) sum of a product."""
        if power == _ROWS:
            return float(len(self.columns[2]) if self.weight is None else np.add.reduce(self.weight))
        lower, unit, _ = _factors(power)
        if sum(power) == 2:
            return _dot(self._weighed(lower), self.product(unit))
        product = self.product(power)
        return float(np.add.reduce(product)) if self.weight is None else _dot(product, self.weight)

    def _weighed(self, power: Power) -> Array:
        """A column times its weights, until another one is asked for: few columns stay in the processor's cache."""
        if self.weight is None:
            return self.product(power)
        space = room_for(self.room, _WEIGHED, len(self.weight))
        if power != self.weighed:
            np.multiply(self.product(power), self.weight, out=space)
            self.weighed = power
        return space

    def product(self, power: Power) -> Array:
        """The product of the columns about their centres."""
        found = self.products.get(power)
        if found is None:
            found = self.products[power] = self._made(power)
        return found

    def _made(self, power: Power) -> Array:
        lower, unit, column = _factors(power)
        if lower != _ROWS:
            left, right = self.product(lower), self.product(unit)
            return np.asarray(np.multiply(left, right, out=room_for(self.room, power, len(left))))
        values, centre = self.columns[column], self.centres[column]
        out = room_for(self.room, power, len(values)) if centre else None
        return np.asarray(np.subtract(values, centre, out=out)) if centre else values


def room_of_thread() -> Room:
    """The room that each thread keeps: new memory takes longer than to fill it."""
    room: Room = _thread.__dict__.setdefault("room", {})
    return room


def room_for(room: Room, key: tuple[int, ...] | str, rows: int) -> Array:
    """The array of the previous block, reused: new memory takes longer than the sums."""
    if key not in room or len(room[key]) < rows:
        room[key] = np.empty(rows)
    return room[key][:rows]


def _dot(one: Array, other: Array) -> float:
    """Σxy, without an array of products; of more rows at once a library would start threads, which take longer."""
    whole = len(one) - len(one) % _DOT
    if not whole:
        return float(np.dot(one, other))
    pieces = np.vecdot(one[:whole].reshape(-1, _DOT), other[:whole].reshape(-1, _DOT))
    return float(np.add.reduce(pieces) + np.dot(one[whole:], other[whole:]))


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
