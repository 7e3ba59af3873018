"""How many: the smallest study whose interval is narrow enough, or that finds a difference often enough."""

import math
from collections.abc import Callable

import numpy as np

from stakes.errors import InputError
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.sampling import normal

MOST_ROWS = 1e12
"""A study is never planned larger than this."""


_MANY = 20_000
"""With more disagreements than this the exact test is replaced by its normal approximation."""


def smallest(enough: Callable[[float], bool]) -> float:
    """Return the smallest whole number that is enough, where every larger one is enough, too."""
    high = 2.0
    while not enough(high):
        high *= 2
        if high > MOST_ROWS:
            raise InputError("study-too-large", "no study of up to a trillion rows can reach that; ask for less")
    low = high / 2
    while high - low > 1:
        middle = math.floor((low + high) / 2)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def power_of(distance: float, error: float, reach: float) -> float:
    """How often an interval of ``reach`` standard errors excludes a value at this distance."""
    if error <= 0:
        return 1.0
    from scipy.special import ndtr

    return float(ndtr(distance / error - reach))


def mcnemar_power(rows: float, disagreement: float, difference: float, confidence: float) -> float:
    """How often McNemar's exact test finds that two models are not equally often right.

    ``disagreement`` is the share of rows on which one of them alone is right, ``difference`` that of their accuracies.
    The sum over all numbers of such rows is exact; Connor's formula gives 80 % where 77 to 79 % are reached.
    """
    from scipy.special import bdtr, gammaln, ndtr, xlog1py, xlogy

    if rows * disagreement > _MANY:
        reach = normal((1 + confidence) / 2) * math.sqrt(disagreement)
        return float(ndtr((difference * math.sqrt(rows) - reach) / math.sqrt(disagreement - difference**2)))
    spread = 10 * math.sqrt(rows * disagreement * (1 - disagreement)) + 10
    middle = rows * disagreement
    seen = np.arange(max(0, math.floor(middle - spread)), int(min(rows, math.ceil(middle + spread))) + 1)
    choose = gammaln(rows + 1) - gammaln(seen + 1) - gammaln(rows - seen + 1)
    chance = np.exp(choose + xlogy(seen, disagreement) + xlog1py(rows - seen, -disagreement))
    better = (1 + difference / disagreement) / 2
    few = _fewest(seen, 1 - confidence)
    found = np.where(few < 0, 0.0, bdtr(few, seen, better) + bdtr(few, seen, 1 - better))
    return float(np.sum(chance * found))


def _fewest(seen: Array, alpha: float) -> Array:
    """The largest number of wins of one model at which the two-sided test rejects, for numbers of disagreements."""
    from scipy.special import bdtr

    found = np.floor(seen / 2 - normal(1 - alpha / 2) * np.sqrt(seen) / 2).clip(-1)  # within a few of the answer
    while (more := (2 * bdtr(found + 1, seen, 0.5) <= alpha) & (2 * (found + 1) < seen)).any():
        found = found + more
    while (less := (found >= 0) & (2 * bdtr(found.clip(0), seen, 0.5) > alpha)).any():
        found = found - less
    return np.asarray(found)


def mcnemar_rows(disagreement: float, difference: float, power: float, confidence: float) -> float:
    """The fewest rows from which McNemar's exact test finds the difference that often."""

    def enough(rows: float) -> bool:
        # the power of an exact test is not quite monotonic: look somewhat further
        later = {rows, *(math.ceil(rows * (1 + step / 100)) for step in (1, 2, 3))}
        return all(mcnemar_power(more, disagreement, difference, confidence) >= power for more in later)

    return smallest(enough)
