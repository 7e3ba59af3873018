"""Quantiles of the normal and of Student's distribution, and scales on which figures are nearly normal.

SciPy knows these too, but takes longer to load than all intervals of an evaluation take to calculate.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def normal(probability: float) -> float:
    """The quantile of the standard normal distribution."""
    from statistics import NormalDist  # loads random numbers and decimals, which importing stakes need not

    return NormalDist().inv_cdf(probability)


def student(probability: float, degrees: float) -> float:
    """The quantile of Student's t; of a broken number of degrees of freedom below 10, that of the whole number."""
    if degrees < _FEW_DEGREES:
        return _student_of_few(probability, max(int(degrees), 1))
    z = normal(probability)
    terms = (  # Cornish and Fisher's expansion; off by a ten-thousandth at 10 degrees of freedom
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees ** (i + 1) for i, term in enumerate(terms))


_FEW_DEGREES = 10


def _student_of_few(probability: float, degrees: int) -> float:
    """Turn the distribution function, a finite sum for whole degrees of freedom, around by bisection of the angle."""
    low, high = -math.pi / 2, math.pi / 2
    for _ in range(80):
        angle = (low + high) / 2
        low, high = (angle, high) if _share_below(angle, degrees) < probability else (low, angle)
    return math.tan((low + high) / 2) * math.sqrt(degrees)


def _share_below(angle: float, degrees: int) -> float:
    """The share below t = tan(angle)·√degrees (Abramowitz & Stegun, 26.7.3 and 26.7.4)."""
    odd, cosine = degrees % 2, math.cos(angle)
    term, whole = (cosine, 0.0) if odd else (1.0, 0.0)
    for i in range(1 + odd, degrees, 2):
        whole += term
        term *= cosine**2 * i / (i + 1)
    twice = 2 / math.pi * (angle + math.sin(angle) * whole) if odd else math.sin(angle) * whole
    return (1 + twice) / 2


@dataclass(frozen=True)
class Scale:
    """A scale without ends, on which intervals are made before they are brought back."""

    name: str
    to: Callable[[Any], Any]
    back: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    """How fast the scale runs at a value."""


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


PLAIN = Scale("", lambda x: x, lambda x: x, lambda x: 1.0)
LOGIT = Scale("logit", lambda x: np.log(x / (1 - x)), _logistic, lambda x: 1 / (x * (1 - x)))
FISHER = Scale("Fisher's z", np.arctanh, np.tanh, lambda x: 1 / (1 - x * x))
LOG = Scale("logarithmic", np.log, np.exp, lambda x: 1 / x)
SQUARE = Scale("squared", np.square, np.sqrt, lambda x: 2 * x)
LOG_REST = Scale("logarithmic", lambda x: np.log(1 - x), lambda x: 1 - np.exp(x), lambda x: -1 / (1 - x))

_BY_RANGE = {
    (0, 1): LOGIT,
    (-1, 1): FISHER,
    (0, math.inf): LOG,
    (0, 2): LOG,
    (-math.inf, 1): LOG_REST,
}


def scale_of(span: tuple[float, float]) -> Scale:
    """The scale on which a figure of this range has no ends."""
    return _BY_RANGE.get(span, PLAIN)


def on_scale(scale: Scale, value: float, error: float, width: float) -> tuple[float, float]:
    """Return value ± width standard errors, taken on a scale; not for a value at the end of its range."""
    middle, half = float(scale.to(value)), width * error * abs(float(scale.slope(value)))
    with np.errstate(over="ignore"):  # the end of a scale without ends may be infinite
        ends = float(scale.back(middle - half)), float(scale.back(middle + half))
    return min(ends), max(ends)
