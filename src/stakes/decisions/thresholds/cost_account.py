"""What a policy costs per case on the levels of a threshold grid, and how sure that is."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes.decisions.thresholds.out_of_bag import Resamples
from stakes.decisions.thresholds.threshold_grid import ThresholdGrid
from stakes.metrics import Estimate
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.draws import percentiles
from stakes.uncertainty.interval import Interval, figure, none
from stakes.uncertainty.sampling import Sampling


@dataclass(frozen=True, eq=False)
class CostAccount:
    """Adds up costs: how frequent each class counts (``shares``, the positive one first), and what varies.

    A policy says how often each decision is taken: (decision, …, class, level). With classes ``apart`` their shares are
    the same in every sample.
    """

    grid: ThresholdGrid
    shares: Array
    apart: bool
    sampling: Sampling
    resamples: Resamples

    def cost(self, policy: Array) -> float:
        """The cost per case."""
        counts = self.resamples.counts
        paid = self._by_level(policy).sum(-1) if counts is None else self._by_cluster(policy, counts).sum(0)
        return float(self.shares @ divide(paid, self.grid.sizes))

    def estimate(self, name: str, policy: Array) -> Estimate:
        """The cost per case with its interval; a difference of two policies is one too."""
        value, counts = self.cost(policy), self.resamples.counts
        found = self._over_rows(policy) if counts is None else self._over_clusters(policy, counts, value)
        return figure(name, value, math.nan, found.around(value), self.sampling.confidence)

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────
    def _by_level(self, policy: Array) -> Array:
        """What the rows of each class and level cost together."""
        return np.asarray((policy * self.grid.costs).sum(axis=0))

    def _over_rows(self, policy: Array) -> Interval:
        """The percentiles of the cost of resamples."""
        paid = np.einsum("bcj,cj->bc", self.resamples.held, self._by_level(policy))
        drawn = _per_case(paid, self._bootstrap_sizes, self.shares if self.apart else None)
        return percentiles(drawn, self.sampling, f"rows drawn {len(drawn):,} times")

    @cached_property
    def _bootstrap_sizes(self) -> Array:
        return np.asarray(np.einsum("bcj,cj->bc", self.resamples.held, self.grid.weight))

    # ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────
    def _by_cluster(self, policy: Array, counts: Array) -> Array:
        """What the rows of each cluster and class cost: (cluster, class)."""
        each = divide(self.grid.costs, self.grid.weight)
        whole = np.zeros(counts.shape[:2])
        for decision, price in zip(policy, each, strict=True):
            whole += np.einsum("gcj,gcj->gc", counts, np.broadcast_to(decision * price, counts.shape))
        return whole

    def _over_clusters(self, policy: Array, counts: Array, value: float) -> Interval:
        """Student's t over the clusters."""
        paid, rows = self._by_cluster(policy, counts), counts.sum(-1)
        sizes = rows.sum(axis=0)
        if self.apart:
            pulls = (paid - divide(paid.sum(axis=0), sizes) * rows) @ divide(self.shares, sizes)
        else:
            pulls = (paid.sum(-1) - paid.sum() / sizes.sum() * rows.sum(-1)) / sizes.sum()
        error = math.sqrt(float((pulls**2).sum()) * len(pulls) / (len(pulls) - 1))
        if not error > 1e-12 * abs(value):
            return none("every cluster costs the same")
        half = self.sampling.width * error
        return Interval(value - half, value + half, "Student's t over the clusters")


def _per_case(paid: Array, rows: Array, shares: Array | None) -> Array:
    """Costs and rows of the classes (last axis) as a cost per case, at given shares of the classes or the rows' own."""
    if shares is None:
        return divide(paid.sum(-1), rows.sum(-1))
    return np.asarray((shares * divide(paid, rows)).sum(-1))
