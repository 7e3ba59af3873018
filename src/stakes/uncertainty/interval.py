"""An interval, or in words why there is none; Student's intervals of differences and of means."""

import math
from collections.abc import Sequence

import numpy as np

from stakes.frozen import dataclass, replace
from stakes.metrics.estimate import Estimate
from stakes.tallies.arithmetic import Array, weighted_sum
from stakes.uncertainty.sampling import student


@dataclass(frozen=True)
class Interval:
    """Two limits and how they were found; ``note`` is what to keep in mind, ``reason`` says why there are none."""

    low: float | None = None
    high: float | None = None
    method: str = ""
    note: str = ""
    reason: str = ""

    def around(self, value: float) -> "Interval":
        """Return limits between which the value itself lies: small samples can leave it outside by a hair."""
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
    values: Array, weight: Array | None, confidence: float, cluster: Array | None = None, classes: Array | None = None
) -> tuple[float, float] | None:
    """Return Student's interval of a (weighted) mean; None for a single row or infinite values.

    Rows of a ``cluster`` count as one. Of ``classes`` whose counts are fixed only the spread within each counts.
    """
    n = len(values)
    if n < 2 or not np.isfinite(values).all():
        return None
    share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
    mean = weighted_sum(values, share)
    centre = np.full(n, mean)
    if classes is not None:
        centre = (np.bincount(classes, share * values) / np.maximum(np.bincount(classes, share), 1e-300))[classes]
    parts = share * (values - centre)
    if cluster is not None:
        parts = np.bincount(np.unique(cluster, return_inverse=True)[1], parts)
        n = len(parts)
        if n < 2:
            return None
    reach = student((1 + confidence) / 2, n - 1) * math.sqrt(n / (n - 1) * weighted_sum(parts, parts))
    return mean - reach, mean + reach


# ── means over folds ─────────────────────────────────────────────────────────────────────────────────────────────
# Folds share training rows, so their spread understates how other fits would vary. Nadeau and Bengio (2003, Machine
# Learning 52) add the share of judged to fitted rows to the variance of the mean; Bouckaert and Frank (2004, PAKDD)
# found that tests over repeated folds then hold their level.
METHOD = "Nadeau & Bengio's corrected t over {folds:,} folds"


@dataclass(frozen=True)
class FoldMean:
    """The mean of a figure, or of a difference, over those folds on which it is defined."""

    value: float
    limits: Interval
    p_value: float | None = None


def mean_over_folds(
    values: Sequence[float], judged_to_fitted: float, confidence: float, span: tuple[float, float]
) -> FoldMean:
    """Return the mean over folds with its limits, and the p-value of its being 0.

    ``judged_to_fitted`` is how many rows a fold is judged on, for each that it is fitted on; ``span`` are the ends
    between which the figure lies.
    """
    known = np.array([value for value in values if not math.isnan(value)])
    if not len(known):
        return FoldMean(math.nan, none("it is undefined on every fold"))
    mean, folds = float(known.mean()), len(known)
    if folds < 2 or not np.isfinite(known).all():
        return FoldMean(mean, none("there is a single fold" if folds < 2 else "it is infinite on some fold"))
    if not known.any():
        return FoldMean(0.0, Interval(0.0, 0.0, METHOD.format(folds=folds)), 1.0)
    error = math.sqrt((1 / folds + judged_to_fitted) * float(known.var(ddof=1)))
    if error <= 1e-14 * abs(mean):
        return FoldMean(mean, none("it is the same on every fold"))
    low, high, p_value = t_limits(mean, error, folds - 1, math.inf, confidence)
    limits = float(max(low, span[0])), float(min(high, span[1]))
    return FoldMean(mean, Interval(*limits, METHOD.format(folds=folds)), p_value)
