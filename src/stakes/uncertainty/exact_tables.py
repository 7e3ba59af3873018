"""Two classes, shuffled: given its margins a table has one free cell, so every table can be looked at."""

import bisect
import math
import sys
from collections.abc import Callable, Iterator

import numpy as np

from stakes import errors
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array

_BLOCK = 1 << 16
_MOST = 1 << 27
"""More tables than this, from some 10¹³ rows on, take minutes."""

_UNDERFLOW = 760.0
"""Tables e⁷⁶⁰ times rarer than the most likely one have a probability that no float holds."""


def probability(table: Confusion, as_good: Callable[[Confusion], Array]) -> tuple[float, bool]:
    """Return how probable the tables are that are as good, when the truth is shuffled.

    And whether those are the tables with at least as many positives found: then it is Fisher's exact test.
    """
    tp, P, PP, n = (int(count) for count in (table.tp, table.P, table.PP, table.total))
    good = total = 0.0
    fisher = True
    for found, likelihood in _tables(P, PP, n):
        shuffled = Confusion.two_class(
            tp=found,
            fn=P - found,
            fp=PP - found,
            tn=n - P - PP + found,
            positive=str(table.positive),
            negative=next(name for name in table.truths if name != table.positive),
        )
        chosen = as_good(shuffled)
        good += float(likelihood[chosen].sum())
        total += float(likelihood.sum())
        fisher = fisher and bool((chosen == (found >= tp)).all())
    return max(good / total, sys.float_info.min), fisher


def _tables(P: int, PP: int, n: int) -> Iterator[tuple[Array, Array]]:
    """Yield the possible numbers of positives found, block by block, and their likelihoods up to a factor.

    Each likelihood comes from the one before it, which keeps its digits where differences of factorials lose them.
    """
    log = _log_likelihood(P, PP, n)
    low, high = _window(log, P, PP, n)
    if high - low >= _MOST:
        raise errors.too_many_rows_to_shuffle(n)
    level = log(low)
    for start in range(low, high + 1, _BLOCK):
        found = np.arange(start, min(start + _BLOCK, high + 1))
        later = found[1:] if start == low else found
        t = later.astype(np.float64)
        steps = np.log((P - t + 1) * (PP - t + 1) / (t * (n - P - PP + t)))
        if start == low:
            steps = np.append(0.0, steps)
        logs = level + np.cumsum(steps)
        level = float(logs[-1])
        yield found, np.exp(logs)


def _log_likelihood(P: int, PP: int, n: int) -> Callable[[int], float]:
    """The logarithm of the likelihood of a number of positives found, 0 for the most likely one."""

    def ways(t: int) -> float:
        return -sum(math.lgamma(cell + 1) for cell in (t, P - t, PP - t, n - P - PP + t))

    most = ways((P + 1) * (PP + 1) // (n + 2))
    return lambda t: ways(t) - most


def _window(log: Callable[[int], float], P: int, PP: int, n: int) -> tuple[int, int]:
    """The fewest and the most positives found that have a probability to speak of."""
    least, most, mode = max(0, P + PP - n), min(P, PP), (P + 1) * (PP + 1) // (n + 2)
    low = bisect.bisect_left(range(least, mode), True, key=lambda t: log(t) > -_UNDERFLOW)
    high = bisect.bisect_left(range(mode, most), True, key=lambda t: log(t + 1) <= -_UNDERFLOW)
    return least + low, mode + high
