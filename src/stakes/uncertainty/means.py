"""Intervals of means of losses, which are skewed more often than not."""

import math
from typing import Any

from stakes.uncertainty.quantiles import student

SKEWED = "Student's t, corrected for skewness"


def skewed_t(mean: float, error: float, skewness: float, degrees: float, confidence: float) -> tuple[float, float]:
    """Return the limits of Hall (1992): Student's t, bent by the skewness of the mean (0 leaves it as it is)."""
    t = student((1 + confidence) / 2, degrees)

    def bent(quantile: float) -> float:
        if abs(skewness) < 1e-9:
            return quantile
        inner = 1 + skewness * (quantile - skewness / 6)
        return 3 / skewness * (math.copysign(abs(inner) ** (1 / 3), inner) - 1)

    ends = mean - bent(t) * error, mean - bent(-t) * error
    return min(ends), max(ends)


def spread_and_skewness(n: float, first: Any, second: Any, third: Any) -> tuple[float, float]:
    """Return the standard error of a mean, and its skewness, from sums of powers over n rows."""
    mean = first / n
    variance = max(second / n - mean**2, 0.0)
    if variance <= 1e-14 * second / n:  # nothing but rounding
        return 0.0, 0.0
    skewed = third / n - 3 * mean * second / n + 2 * mean**3
    return math.sqrt(variance / (n - 1)), skewed / variance**1.5 / math.sqrt(n)
