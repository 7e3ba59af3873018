"""Two samples of different rows: how far apart are their figures, and could that be chance?

Many pairs are judged at once: every argument is an array with an entry for each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stakes.tallies.arithmetic import Array, Values

_SPREAD = 30.0
"""Hits that spread further than this when chance alone deals them out are as good as normal."""


@dataclass(frozen=True, eq=False)
class Side:
    """Figures of one sample of each pair with the ends of their intervals, and how many rows each rests on."""

    value: Array
    low: Array
    high: Array
    rows: Array


@dataclass(frozen=True, eq=False)
class Differences:
    """First minus second, with intervals and two-sided p-values; NaN where something is unknown."""

    value: Array
    low: Array
    high: Array
    p_value: Array


def mover(one: Side, other: Side, confidence: float, correlation: Values = 0.0) -> Differences:
    """Return differences whose intervals are put together from those of both figures.

    The distances from each figure to the end of its own interval add up like standard errors. A p-value is one minus
    the confidence at which the interval would end at 0, on Student's t with the rows of the smaller sample, so that it
    is below 0.05 just when a 95 % interval leaves 0 out. Figures of rows of the same clusters have a ``correlation``.
    Newcombe (1998), Statistics in Medicine 17, method 10; Zou & Donner (2008), Statistics in Medicine 27.
    """
    from scipy.special import stdtr, stdtrit

    with np.errstate(invalid="ignore", divide="ignore"):  # what is unknown is NaN, and stays so
        value = one.value - other.value
        below = _apart(one.value - one.low, other.high - other.value, correlation)
        above = _apart(one.high - one.value, other.value - other.low, correlation)
        degrees = np.maximum(np.minimum(one.rows, other.rows) - 1, 1)
        away = np.abs(value) / np.where(value > 0, below, above) * stdtrit(degrees, (1 + confidence) / 2)
        p_value = np.where(value == 0, 1.0, 2 * stdtr(degrees, -away))
    unknown = ~np.isfinite(value - below) | ~np.isfinite(value + above)
    return Differences(*(np.where(unknown, np.nan, each) for each in (value, value - below, value + above, p_value)))


def _apart(one: Array, other: Array, correlation: Values) -> Array:
    """How far a difference of figures reaches that reach so far by themselves."""
    if not np.any(correlation):
        return np.hypot(one, other)
    return np.asarray(np.sqrt(np.maximum(one**2 + other**2 - 2 * correlation * one * other, 0.0)))


def agree(found: Differences, p_value: Array, confidence: float) -> Differences:
    """Return other p-values with these intervals, such that 0 is left out just when p is below 1 − confidence.

    A test that is more careful than the interval widens it to 0; where the interval is more careful its p-value stays.
    """
    with np.errstate(invalid="ignore"):
        inside = (found.low <= 0) & (found.high >= 0)
        p_value = np.where(np.isnan(found.low) | (inside & (p_value < 1 - confidence)), found.p_value, p_value)
        still_open = p_value >= 1 - confidence
    low = np.where(still_open, np.minimum(found.low, 0.0), found.low)
    high = np.where(still_open, np.maximum(found.high, 0.0), found.high)
    return Differences(found.value, low, high, p_value)


def dealt_means(powers: Array, means: Array, rows: Array) -> Array:
    """Return two-sided p-values of means: would so many rows, dealt from all, lie that far from the mean?

    ``powers`` are the number of all rows and the sums of their first three powers. The means of all possible hands
    have a known mean, variance and skewness; a gamma distribution with the same ones gives the p-value. Student's t
    would be too sure where rows are skewed: a hand of small losses has a small spread, too.
    Mielke & Berry (2007), Permutation Methods, chapter 2 (Pearson's type III).
    """
    from scipy.special import gammainc, gammaincc, ndtr

    total, (first, second, third) = float(powers[0]), (powers[1:] / powers[0]).tolist()
    left = total - rows
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(max(second - first**2, 0.0) / rows * left / (total - 1))
        z = (means - first) / error
        dealt = (left - rows) * np.sqrt(total - 1) / ((total - 2) * np.sqrt(rows * left))
        skewness = skewness_of_rows(first, second, third) * dealt
        skewed = np.abs(skewness) > 1e-4
        shape = 4 / np.where(skewed, skewness, 1.0) ** 2
        place = np.maximum(shape + np.sign(skewness) * z * np.sqrt(shape), 0.0)
        below, above = gammainc(shape, place), gammaincc(shape, place)
        one_side = np.where(skewed, np.minimum(below, above), ndtr(-np.abs(z)))
    return np.asarray(np.minimum(2 * one_side, 1.0))


def of_shares(one: Side, other: Side, confidence: float) -> Differences:
    """Return differences of shares of unweighted rows: Newcombe's intervals, and exact p-values."""
    found = mover(one, other, confidence)
    hits = [np.rint(side.value * side.rows) for side in (one, other)]
    p_value = np.full(len(one.value), np.nan)
    known = np.flatnonzero(np.isfinite(found.value))
    p_value[known] = fisher(hits[0][known], one.rows[known], hits[1][known], other.rows[known])
    return agree(found, p_value, confidence)


def fisher(hits: Values, rows: Values, other_hits: Values, other_rows: Values) -> Array:
    """Return the two-sided p-values of Fisher's exact test: how probable are numbers of hits no likelier than these?

    Where hundreds of hits are dealt out, the score test says the same.
    """
    from scipy.special import ndtr

    hits, rows, other_hits, other_rows = (np.asarray(each, np.float64) for each in (hits, rows, other_hits, other_rows))
    of_all, total = hits + other_hits, rows + other_rows
    mean = rows * of_all / total
    spread = np.sqrt(mean * (1 - of_all / total) * (1 - rows / total) * total / np.maximum(total - 1, 1))
    p_values: Array = 2 * ndtr(-np.abs(hits - mean) / np.maximum(spread, 1e-300))
    few = np.flatnonzero(spread <= _SPREAD)
    if len(few):
        p_values[few] = _exact(hits[few], rows[few], of_all[few], total[few], mean[few], spread[few])
    return p_values


def _exact(hits: Array, rows: Array, of_all: Array, total: Array, mean: Array, spread: Array) -> Array:
    """Add up hypergeometric probabilities, those of all pairs in one array."""
    from scipy.special import gammaln

    # further away lies less than a float holds; the hits themselves always count
    reach = 40 * spread + 50
    low = np.maximum(np.maximum(0, rows + of_all - total), np.minimum(np.floor(mean - reach), hits))
    high = np.minimum(np.minimum(rows, of_all), np.maximum(np.ceil(mean + reach), hits))
    lengths = (high - low + 1).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    pair = np.repeat(np.arange(len(hits)), lengths)
    x = np.arange(len(pair)) - starts[pair] + low[pair]

    def ways(x: Array, which: Array | slice) -> Array:
        r, k, n = rows[which], of_all[which], total[which]
        cells = (x, k - x, r - x, n - r - k + x)
        return np.asarray(-sum(gammaln(cell + 1) for cell in cells))

    logs, seen = ways(x, pair), ways(hits, slice(None))
    likely = np.exp(logs - np.maximum.reduceat(logs, starts)[pair])
    as_rare = logs <= seen[pair] + 1e-7
    return np.minimum(np.add.reduceat(likely * as_rare, starts) / np.add.reduceat(likely, starts), 1.0)


def skewness_of_rows(first: float, second: float, third: float) -> float:
    """Return the skewness of single rows from the means of their first three powers."""
    variance = second - first**2
    if variance <= 1e-14 * second or variance < 1e-200:  # nothing but rounding, or too small for its power
        return 0.0
    return float((third - 3 * first * second + 2 * first**3) / variance**1.5)


# ── several tests at once ──────────────────────────────────────────────────────────────────────────────────────────
def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that may each be compared with the level of the whole family; their order is kept.

    The smallest is multiplied by the number of tests, the next by one less, and so on, never falling.
    Holm (1979), Scandinavian Journal of Statistics 6.

    >>> holm([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.25]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    found, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        found[place] = least
    return found
