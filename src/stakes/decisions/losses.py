"""What a way of deciding costs per case on the rungs of a ladder, and how sure that is."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes.decisions.ladder import Ladder
from stakes.metrics import Estimate
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.means import SKEWED, skewed_t
from stakes.uncertainty.sampling import Sampling


@dataclass(frozen=True, eq=False)
class Bill:
    """Adds up costs: how frequent each class counts (``shares``, the positive one first), and what varies.

    ``counts`` are the rows of each cluster (cluster, class, rung) where whole clusters would be drawn again.
    """

    ladder: Ladder
    shares: Array
    apart: bool
    sampling: Sampling
    counts: Array | None = None

    def cost(self, policy: Array) -> float:
        """The cost per case of decisions that are taken with these probabilities: (decision, …, class, rung)."""
        sizes = self.ladder.sizes
        return float(self.shares @ np.divide(self._paid(policy), sizes, out=np.zeros(2), where=sizes > 0))

    def estimate(self, name: str, policy: Array, baseline: float = math.nan) -> Estimate:
        """The cost per case with its interval; a difference of two policies is one too."""
        value = self.cost(policy)
        error, skewness, degrees = self._clusters(policy) if self.counts is not None else self._rows(policy)
        level = self.sampling.confidence
        if not error > 1e-12 * max(abs(value), 1e-300):
            why = "every case costs the same"
            return Estimate(name, value, baseline, confidence=level, no_interval=why)
        low, high = skewed_t(value, error, skewness, degrees, level)
        return Estimate(name, value, baseline, low, high, confidence=level, method=SKEWED)

    def _paid(self, policy: Array) -> Array:
        """What the rows of each class cost together."""
        if self.counts is None:
            return (policy * self.ladder.costs).sum(axis=(0, 2))
        return self._by_cluster(policy).sum(axis=0)

    def _rows(self, policy: Array) -> tuple[float, float, float]:
        """The standard error of the mean over rows, its skewness and degrees of freedom."""
        ladder = self.ladder
        paid = (policy * ladder.costs).sum(axis=0)
        there = ladder.weight > 0
        unit = np.divide(ladder.weight, ladder.rows, out=np.zeros(paid.shape), where=there)  # Σw² / Σw
        each = np.divide(paid, ladder.weight, out=np.zeros(paid.shape), where=there)
        squared = self._scatter() * each**2
        sizes = ladder.sizes
        whole = float(sizes.sum())
        n = whole**2 / float((ladder.weight * unit).sum())
        if self.apart:
            means = np.divide(paid.sum(-1), sizes, out=np.zeros(2), where=sizes > 0)
            around = squared - 2 * means[:, None] * each + means[:, None] ** 2
            variances = np.divide(self.shares, sizes, out=np.zeros(2), where=sizes > 0) ** 2
            return math.sqrt(float((variances[:, None] * ladder.weight * unit * around).sum())), 0.0, n - 1
        mean = float(paid.sum()) / whole
        variance = float((ladder.weight * unit * (squared - 2 * mean * each + mean**2)).sum()) / whole**2
        error = math.sqrt(max(variance, 0.0) * n / (n - 1))
        third = float((ladder.weight * (each - mean) ** 3).sum()) / whole
        spread = float((ladder.weight * (squared - 2 * mean * each + mean**2)).sum()) / whole
        return error, third / spread**1.5 / math.sqrt(n) if spread > 0 else 0.0, n - 1

    def _scatter(self) -> Array:
        """How much larger the mean square of single rows' costs is than the square of their mean (1 if they agree)."""
        ladder = self.ladder
        alike = np.divide(ladder.costs**2, ladder.rows, out=np.zeros(ladder.costs.shape), where=ladder.rows > 0).sum(0)
        return np.divide(ladder.spread.sum(0), alike, out=np.ones(alike.shape), where=alike > 0)

    def _clusters(self, policy: Array) -> tuple[float, float, float]:
        paid, rows = self._by_cluster(policy), self.counts.sum(-1)  # type: ignore[union-attr]
        sizes = rows.sum(axis=0)
        count: Any = self.sampling.clusters.count  # type: ignore[union-attr]
        if self.apart:
            means = np.divide(paid.sum(axis=0), sizes, out=np.zeros(2), where=sizes > 0)
            scale = np.divide(self.shares, sizes, out=np.zeros(2), where=sizes > 0)
            moved = (paid - means * rows) @ scale
        else:
            moved = (paid.sum(-1) - paid.sum() / sizes.sum() * rows.sum(-1)) / sizes.sum()
        return math.sqrt(float((moved**2).sum()) * len(moved) / (len(moved) - 1)), 0.0, count - 1

    def _by_cluster(self, policy: Array) -> Array:
        """What the rows of each cluster and class cost."""
        counts: Any = self.counts
        each = np.divide(
            self.ladder.costs, self.ladder.weight, out=np.zeros(self.ladder.costs.shape), where=self.ladder.weight > 0
        )
        whole = np.zeros(counts.shape[:2])
        for decision, price in zip(policy, each, strict=True):
            whole += np.einsum("gcj,gcj->gc", counts, np.broadcast_to(decision * price, counts.shape))
        return whole
