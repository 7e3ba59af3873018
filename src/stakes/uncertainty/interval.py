"""An interval, or in words why there is none."""

import math
from dataclasses import dataclass, replace

import numpy as np

from stakes.metrics.estimate import Estimate
from stakes.tallies.arithmetic import Array, weighted_sum
from stakes.uncertainty.quantiles import student


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
