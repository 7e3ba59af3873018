"""An interval, or in words why there is none; Student's limits of means and differences, and limits of shares."""

import math
from collections.abc import Sequence

import numpy as np

from stakes.frozen import dataclass, replace
from stakes.metrics.estimate import Estimate
from stakes.tallies.arithmetic import Array, Number, weighted_sum
from stakes.uncertainty.sampling import normal, student


@dataclass(frozen=True)
class Interval:
    """Two limits and how they were found; ``note`` is what to keep in mind, ``reason`` says why there are none.

    ``bounds`` is the range of the figure that merged bins leave open.
    """

    low: float | None = None
    high: float | None = None
    method: str = ""
    note: str = ""
    reason: str = ""
    bounds: tuple[float, float] | None = None

    def around(self, value: float) -> "Interval":
        """Return limits that contain the value itself: in small samples it can lie just outside."""
        if self.low is None or self.high is None or self.low <= value <= self.high:
            return self
        return replace(self, low=float(min(self.low, value)), high=float(max(self.high, value)))


def none(reason: str) -> Interval:
    """There is no interval, for this reason."""
    return Interval(reason=reason)


def figure(name: str, value: float, baseline: float, limits: Interval, confidence: float, reason: str = "") -> Estimate:
    """Put a figure together with its interval; ``reason`` says why it is undefined, where it is."""
    words = (limits.method, limits.reason, limits.note)
    return Estimate(name, value, baseline, limits.low, limits.high, reason, confidence, *words)


def t_limits(gap: float, error: float, degrees: float, size: float, confidence: float) -> tuple[float, float, float]:
    """Return Student's interval of a difference and the p-value that is below 1 − confidence just when 0 is outside."""
    from scipy.special import stdtr

    half = student((1 + confidence) / 2, degrees) * error
    p_value = 2 * float(stdtr(max(degrees, 1.0), -abs(gap) / error))
    return max(gap - half, -size), min(gap + half, size), min(p_value, 1.0)


def mean_interval(
    values: Array,
    weight: Array | None,
    confidence: float,
    cluster: Array | None = None,
    classes: Array | None = None,
    squares: Array | None = None,
) -> tuple[float, float] | None:
    """Return Student's interval of a (weighted) mean; None for a single row or infinite values.

    Rows of a ``cluster`` count as one. Where counts of ``classes`` are fixed, only the spread within each class counts.
    Where a value stands for many equal rows, its weight is their sum and ``squares`` the sum of their squared weights.
    """
    n = len(values) if squares is None or weight is None else float(weight.sum() ** 2 / squares.sum())
    if n < 2 or not np.isfinite(values).all():
        return None
    share = np.full(len(values), 1 / n) if weight is None else weight / weight.sum()
    mean = weighted_sum(values, share)
    centre = np.full(len(values), mean)
    if classes is not None:
        centre = (np.bincount(classes, share * values) / np.maximum(np.bincount(classes, share), 1e-300))[classes]
    parts = share * (values - centre)
    each = parts if squares is None or weight is None else parts * (squares / weight**2)  # by what one of the rows adds
    if cluster is not None:
        each = parts = np.bincount(np.unique(cluster, return_inverse=True)[1], parts)
        n = len(parts)
        if n < 2:
            return None
    reach = student((1 + confidence) / 2, n - 1) * math.sqrt(n / (n - 1) * weighted_sum(parts, each))
    return mean - reach, mean + reach


# ── means over folds ─────────────────────────────────────────────────────────────────────────────────────────────
# Folds share training rows, so their spread understates how other fits would vary. Nadeau and Bengio (2003, Machine
# Learning 52) add the ratio of test to training rows to the variance of the mean; Bouckaert and Frank (2004, PAKDD)
# found that tests over repeated folds then hold their level.
METHOD = "Nadeau & Bengio's corrected t over {folds:,} folds"


@dataclass(frozen=True)
class FoldMean:
    """The mean of a figure, or of a difference, over those folds on which it is defined."""

    value: float
    limits: Interval
    p_value: float | None = None


def mean_over_folds(
    values: Sequence[float], test_to_train: float, confidence: float, span: tuple[float, float]
) -> FoldMean:
    """Return the mean over folds with its limits, and the p-value of its being 0.

    ``test_to_train`` is the ratio of a fold's test rows to its training rows; ``span`` is the range of the figure.
    """
    known = np.array([value for value in values if not math.isnan(value)])
    if not len(known):
        return FoldMean(math.nan, none("it is undefined on every fold"))
    mean, folds = float(known.mean()), len(known)
    if folds < 2 or not np.isfinite(known).all():
        return FoldMean(mean, none("there is a single fold" if folds < 2 else "it is infinite on some fold"))
    if not known.any():
        return FoldMean(0.0, Interval(0.0, 0.0, METHOD.format(folds=folds)), 1.0)
    error = math.sqrt((1 / folds + test_to_train) * float(known.var(ddof=1)))
    if error <= 1e-14 * abs(mean):
        return FoldMean(mean, none("it is the same on every fold"))
    low, high, p_value = t_limits(mean, error, folds - 1, math.inf, confidence)
    limits = float(max(low, span[0])), float(min(high, span[1]))
    return FoldMean(mean, Interval(*limits, METHOD.format(folds=folds)), p_value)


# ── shares of rows ─────────────────────────────────────────────────────────────────────────────────────────────────
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


SHARE_METHODS = {
    "wilson": (wilson, "Wilson"),
    "clopper-pearson": (clopper_pearson, "Clopper–Pearson"),
    "jeffreys": (jeffreys, "Jeffreys"),
    "agresti-coull": (agresti_coull, "Agresti–Coull"),
}
"""The methods of a share by the names that users give, with those that intervals carry."""


# ── two models on the same rows ──────────────────────────────────────────────────────────────────────────────────
# Only the rows on which one of them is right and the other wrong make a difference.
_CLOSE, _FAR = 1e-15, 1e9
"""Tolerance of the ends of the interval, and a score that stands for infinity."""


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
