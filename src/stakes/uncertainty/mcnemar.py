"""Two models' hits on the same rows: McNemar's exact test, and Tango's interval for the difference of their shares.

Only the rows on which one of them is right and the other wrong tell the two apart.
"""

import math

from stakes.uncertainty.quantiles import normal

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
