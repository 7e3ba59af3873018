"""Shares of rows: their limits, McNemar's exact test of two of them, and Tango's interval of the difference."""

import math

import numpy as np

from stakes.tallies.arithmetic import Number
from stakes.uncertainty.sampling import normal


def wilson(share: Number, n: Number, confidence: float) -> tuple[Number, Number]:
    """Return the limits that a score test does not reject; inside [0, 1] and of use for few rows (Wilson, 1927).

    Takes numbers, or arrays of them.
    """
    z2 = normal((1 + confidence) / 2) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return np.where(share == 0, 0.0, middle - half)[()], np.where(share == 1, 1.0, middle + half)[()]


def clopper_pearson(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Return limits that cover at least as often as stated, whatever the share (Clopper & Pearson, 1934)."""
    from scipy.special import betaincinv

    tail, hits = (1 - confidence) / 2, share * n
    low = 0.0 if share == 0 else float(betaincinv(hits, n - hits + 1, tail))
    high = 1.0 if share == 1 else float(betaincinv(hits + 1, n - hits, 1 - tail))
    return low, high


def jeffreys(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Return the percentiles of a Beta law with half a hit and half a miss more (Brown, Cai & DasGupta, 2001)."""
    from scipy.special import betaincinv

    tail, hits = (1 - confidence) / 2, share * n
    low, high = (float(betaincinv(hits + 0.5, n - hits + 0.5, end)) for end in (tail, 1 - tail))
    return (0.0 if share == 0 else low), (1.0 if share == 1 else high)


def agresti_coull(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Return Wald's limits after z² rows were added, half of them hits (Agresti & Coull, 1998)."""
    z = normal((1 + confidence) / 2)
    more = n + z**2
    middle = (share * n + z**2 / 2) / more
    half = z * math.sqrt(middle * (1 - middle) / more)
    return max(middle - half, 0.0), min(middle + half, 1.0)


METHODS = {
    "wilson": wilson,
    "clopper-pearson": clopper_pearson,
    "jeffreys": jeffreys,
    "agresti-coull": agresti_coull,
}


# ── two models on the same rows ──────────────────────────────────────────────────────────────────────────────────
# Only the rows on which one of them is right and the other wrong tell the two apart.
_CLOSE, _FAR = 1e-15, 1e9
"""How exactly an end of the interval is found, and a score that is as good as infinite."""


def exact_p_value(only_first: int, only_second: int) -> float:
    """Return the two-sided binomial p-value: were both equally good, either would win half of the rows they differ on.

    McNemar (1947), Psychometrika 12.

    >>> round(exact_p_value(1, 5), 12)
    0.21875
    """
    from scipy.special import bdtr

    differing = only_first + only_second
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), differing, 0.5))) if differing else 1.0


def interval_and_test(only_first: int, only_second: int, rows: int, confidence: float) -> tuple[float, float, float]:
    """Return Tango's interval and the exact p-value, which agree: where the test does not reject, 0 is inside.

    The exact test rejects less often than the score test whose interval it is.
    """
    low, high = tango_interval(only_first, only_second, rows, confidence)
    p_value = exact_p_value(only_first, only_second)
    if p_value >= 1 - confidence:
        return min(low, 0.0), max(high, 0.0), p_value
    return low, high, p_value


def tango_interval(only_first: int, only_second: int, rows: int, confidence: float) -> tuple[float, float]:
    """Return the score interval of the difference of two paired shares, (only_first − only_second) / rows.

    It holds the differences that the score test does not reject; it has width also where the models never differ.
    Tango (1998), Statistics in Medicine 17.
    """
    z = normal((1 + confidence) / 2)
    low = -_highest_kept(only_second, only_first, rows, z)
    return low, _highest_kept(only_first, only_second, rows, z)


def _highest_kept(only_first: int, only_second: int, rows: int, z: float) -> float:
    """The highest difference that is not rejected: where the score falls to −z between the estimate and 1."""
    from scipy.optimize import brentq

    def beyond(difference: float) -> float:
        return max(_score(only_first, only_second, rows, difference), -_FAR) + z

    estimate = (only_first - only_second) / rows
    return float(brentq(beyond, estimate, 1.0, xtol=_CLOSE)) if beyond(1.0) < 0 else 1.0


def _score(only_first: int, only_second: int, rows: int, difference: float) -> float:
    """How many standard errors the estimate lies above a difference, with the shares that fit the difference best."""
    a = 2 * rows
    b = (2 * rows - only_first + only_second) * difference - only_first - only_second
    c = -only_second * difference * (1 - difference)
    share = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    spread = rows * (2 * share + difference * (1 - difference))
    distance = only_first - only_second - rows * difference
    return distance / math.sqrt(spread) if spread > 0 else math.copysign(math.inf, distance) if distance else 0.0
