"""How much more one model is worth than another to those who act on its probabilities, on the same rows.

The difference of two means over the same rows is the mean of the rows' differences, so its standard error is known at
each threshold, and rows on which both models act alike add nothing to it.
"""

import math
from typing import Any

import numpy as np

from stakes.decisions.curve import Band, Curve
from stakes.decisions.decision_curve import threshold_probabilities
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.paired import Sample
from stakes.uncertainty.quantiles import student


def decision_difference(
    sample: Sample, first: Array, second: Array, confidence: float, *, thresholds: Any = None
) -> Curve:
    """Return how much more net benefit the first model's probabilities have than the second's, on the same rows."""
    at = threshold_probabilities(thresholds)
    units = _Units(sample)
    found = [units.mean_and_error(*_differing(sample.hits, first, second, t)) for t in at.tolist()]
    y, errors_of = np.array(found).T
    reach = units.width(confidence) * errors_of
    band = Band(at, y - reach, y + reach, confidence, units.reason)
    return Curve(
        "decision",
        "threshold_probability",
        "net_benefit_difference",
        at,
        y,
        at,
        lambda: band,
        {"no difference": np.zeros(len(at))},
    )


def _differing(hits: Array, first: Array, second: Array, t: float) -> tuple[Array, Array]:
    """The rows on which one model acts and the other does not, and what the first gains there."""
    acts = first >= t
    rows = np.flatnonzero(acts != (second >= t))
    gains = np.where(hits[rows], 1.0, -t / (1 - t))
    return rows, np.where(acts[rows], gains, -gains)


class _Units:
    """What varies independently of each other: the rows, or their clusters; ``shares`` are their parts of the whole."""

    def __init__(self, sample: Sample) -> None:
        n = len(sample.truth)
        self.rows = np.full(n, 1 / n) if sample.weight is None else sample.weight / sample.weight.sum()
        self.clusters = None if sample.cluster is None else Clusters.of(sample.cluster)
        self.shares = self.rows if self.clusters is None else np.bincount(self.clusters.groups, self.rows)
        self.squares = float(self.shares @ self.shares)

    @property
    def reason(self) -> str:
        return "there is a single cluster" if self.clusters is not None and self.clusters.count < 2 else ""

    def mean_and_error(self, rows: Array, gains: Array) -> tuple[float, float]:
        """The mean of what some rows gain and all others do not, and its standard error."""
        parts, shares = self.rows[rows] * gains, self.rows[rows]
        mean = float(parts.sum())
        if self.clusters is not None:
            parts, shares = np.bincount(self.clusters.groups[rows], parts, len(self.shares)), self.shares
        spread = float(parts @ parts) - 2 * mean * float(parts @ shares) + mean**2 * self.squares
        count = len(self.shares)
        return mean, math.sqrt(max(spread, 0.0) * count / (count - 1)) if count > 1 else math.nan

    def width(self, confidence: float) -> float:
        """How many standard errors the band reaches to either side."""
        count = len(self.rows) if self.clusters is None else self.clusters.count
        return student((1 + confidence) / 2, max(count - 1, 1))
