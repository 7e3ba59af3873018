"""Quantiles of the normal and of Student's distribution, and scales on which figures are nearly normal."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stakes.tallies.arithmetic import Number


def normal(probability: float) -> float:
    """The quantile of the standard normal distribution."""
    from statistics import NormalDist  # loads random numbers and decimals, which importing stakes need not

    return NormalDist().inv_cdf(probability)


def student(probability: float, degrees: float) -> float:
    """The quantile of Student's t; below 1 degree of freedom, that of 1."""
    from scipy.special import stdtrit  # takes longer to load than most evaluations, so it waits for its first use

    return float(stdtrit(max(degrees, 1), probability))


@dataclass(frozen=True)
class Scale:
    """A scale without ends, on which intervals are made before they are brought back."""

    name: str
    to: Callable[[Number], Number]
    back: Callable[[Number], Number]
    slope: Callable[[Number], Number]
    """How fast the scale runs at a value."""


def _logistic(x: Number) -> Number:
    return 1 / (1 + np.exp(-x))


PLAIN = Scale("", lambda x: x, lambda x: x, lambda x: 1.0)
LOGIT = Scale("logit", lambda x: np.log(x / (1 - x)), _logistic, lambda x: 1 / (x * (1 - x)))
FISHER = Scale("Fisher's z", np.arctanh, np.tanh, lambda x: 1 / (1 - x * x))
LOG = Scale("logarithmic", np.log, np.exp, lambda x: 1 / x)
SQUARE = Scale("squared", np.square, np.sqrt, lambda x: 2 * x)
LOG_REST = Scale("logarithmic", lambda x: np.log(1 - x), lambda x: 1 - np.exp(x), lambda x: -1 / (1 - x))

_BY_RANGE = {(0, 1): LOGIT, (-1, 1): FISHER, (0, math.inf): LOG, (0, 2): LOG, (-math.inf, 1): LOG_REST}


def scale_of(span: tuple[float, float]) -> Scale:
    """The scale on which a figure of this range has no ends."""
    return _BY_RANGE.get(span, PLAIN)


def on_scale(scale: Scale, value: float, error: float, width: float) -> tuple[float, float]:
    """Return value ± width standard errors, taken on a scale; not for a value at the end of its range."""
    middle, half = float(scale.to(value)), width * error * abs(float(scale.slope(value)))
    with np.errstate(over="ignore"):  # the end of a scale without ends may be infinite
        ends = float(scale.back(middle - half)), float(scale.back(middle + half))
    return min(ends), max(ends)
