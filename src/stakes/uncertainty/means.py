"""Intervals of means of losses, which are skewed more often than not."""

import math

from stakes.uncertainty.quantiles import student

_MOST_SKEWED = 0.3

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


def held_back(skewness: float) -> float:
    """Return a skewness for which the bent limits can be trusted: beyond this one of them runs away."""
    return max(-_MOST_SKEWED, min(_MOST_SKEWED, skewness))


def skewness_of_rows(first: float, second: float, third: float) -> float:
    """Return the skewness of single rows from the means of their first three powers."""
    variance = second - first**2
    if variance <= 1e-14 * second or variance < 1e-200:  # nothing but rounding, or too small for its power
        return 0.0
    return float((third - 3 * first * second + 2 * first**3) / variance**1.5)
