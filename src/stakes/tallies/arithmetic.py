"""Division and roots that know two kinds of numbers.

Single tables hold exact numbers (Python integers, or fractions when weighted): their ratios come out correctly
rounded, also at 10¹⁵ counts. Tables with leading axes hold float64 arrays: there a few ulp are enough.
"""

import math
import numbers
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np

Number = Any
"""An exact scalar (int or Fraction), or a float64 array with leading axes."""

Array = np.ndarray[Any, Any]

Index = int | slice | tuple[int, ...] | Array
"""Which of the leading axes."""

Values = Any
"""A column of a user's: a list, an array, a series of any library."""


def is_real(value: object) -> TypeGuard[float]:
    """Whether a value is a real number that a float can hold; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        float(value)
    except (OverflowError, TypeError):  # a whole number beyond all floats, or a span of time, which calls itself real
        return False
    return True


def finite(values: Array) -> bool:
    """Whether an array holds nothing but finite numbers (Python integers of any size among them)."""
    if values.dtype == object:
        return all(isinstance(value, int) for value in values.ravel().tolist())
    return values.dtype.kind in "biuf" and bool(np.isfinite(values).all())


MOST = 1e150
"""No number of rows is larger, and no sum of weights: its square must be a number, too."""


def are_counts(values: Array, weighted: bool, most: float = MOST) -> bool:
    """Whether an array can say how many rows there are: whole numbers, unless they are sums of weights."""
    if not finite(values) or not (values >= 0).all():
        return False
    whole = weighted or values.dtype.kind != "f" or bool((values == np.floor(values)).all())
    total = values.sum(dtype=None if values.dtype == object else np.float64)
    return whole and bool(total <= most)


def distinct(values: Array) -> Array:
    """Return the numbers that occur, in order.

    ``np.unique`` does so too, but hashes whole numbers since NumPy 2.3: thirty times as long where most of them differ.
    """
    found: Array = np.sort(values, axis=None)
    return np.asarray(found[np.append(True, found[1:] != found[:-1])[: len(found)]])  # places take six times as long


def run_starts(values: Array) -> Array:
    """Return where runs of equal values begin."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def as_float(number: Number) -> Number:
    """Return an exact number as a float, so that it can meet a float; arrays stay as they are."""
    return number if isinstance(number, np.ndarray) else float(number)


def alike(one: Number, other: Number) -> bool:
    """Whether two numbers of rows are the same, apart from the rounding of sums of weights."""
    return math.isclose(float(one), float(other), rel_tol=1e-9)


def exact(values: Array) -> Array:
    """Return counts as exact Python numbers: integers as int, weights as Fraction."""
    if values.dtype == object:
        return values
    if values.dtype.kind == "f":
        flat = np.empty(values.size, object)
        flat[:] = [Fraction(v) for v in values.ravel().tolist()]
        return flat.reshape(values.shape)
    return values.astype(object)


def room_for(counts: Array, parts: int) -> Array:
    """Return counts as Python integers when the sum of that many parts could pass 64 bits."""
    if counts.dtype.kind in "iu" and counts.size and int(counts.max()) > 2**62 // parts:
        return exact(counts)
    return counts


def ratio(numerator: Number, denominator: Number) -> Number:
    """Divide; x/0 is infinite, 0/0 is NaN."""
    if isinstance(numerator, np.ndarray) or isinstance(denominator, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(numerator, denominator)
    if denominator == 0:
        return math.nan if numerator == 0 else math.copysign(math.inf, numerator)
    return _round((numerator if isinstance(numerator, float | Fraction) else Fraction(numerator)) / denominator)


def divide(numerator: Number, denominator: Number, otherwise: float = 0.0) -> Array:
    """Divide arrays; where there is nothing to divide by, the answer is ``otherwise``."""
    there = np.asarray(denominator) > 0
    if np.shape(numerator) != there.shape:
        there = np.broadcast_to(there, np.broadcast_shapes(np.shape(numerator), there.shape))
    return np.asarray(np.divide(numerator, denominator, out=np.full(there.shape, otherwise), where=there))


def weighted_sum(values: Array, weight: Array | None) -> float:
    """Add up values, each times its weight if there is one.

    Not by ``@``: BLAS wakes threads for that, which take a hundred times longer than the sum on a busy machine.
    """
    return float(values.sum() if weight is None else (values * weight).sum())


def _round(number: float | Fraction) -> float:
    """Return the nearest float; numbers beyond all floats are infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def root_ratio(numerator: Number, squared_denominator: Number) -> Number:
    """Return numerator / √squared_denominator; 0/0 is NaN."""
    if isinstance(numerator, np.ndarray) or isinstance(squared_denominator, np.ndarray):
        return ratio(numerator, np.sqrt(squared_denominator))
    if squared_denominator == 0:
        return ratio(numerator, 0)
    root = _root(Fraction(numerator) ** 2 / Fraction(squared_denominator))
    return -root if numerator < 0 else root


def root(square: Number) -> Number:
    """Return the square root of an exact number, correctly rounded, or of an array."""
    return np.sqrt(square) if isinstance(square, np.ndarray) else _root(Fraction(square))


def _root(square: Fraction) -> float:
    """Correctly rounded: an integer root of some 64 bits, its last bit set when anything was cut off.

    Differences of rounded sums can leave a square just below 0, which is one of 0.
    """
    if square <= 0:
        return 0.0
    size = square.numerator.bit_length() - square.denominator.bit_length()
    shift = max(0, 130 - size) // 2
    quotient, remainder = divmod(square.numerator << (2 * shift), square.denominator)
    whole = math.isqrt(quotient)
    cut = remainder != 0 or whole * whole != quotient
    return math.ldexp(float(whole | cut), -shift)
