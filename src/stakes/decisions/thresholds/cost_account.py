"""What a policy costs per case on the levels of a threshold grid, and how sure that is."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stakes.decisions.thresholds.threshold_grid import ThresholdGrid
from stakes.metrics import Estimate
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.draws import percentiles
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling


@dataclass(frozen=True, eq=False)
class CostAccount:
    """Adds up costs: how frequent each class counts (``shares``, the positive one first), and what varies.

    A policy says how often each decision is taken: (decision, …, class, level). ``held`` is how much of each level the
    resamples hold (resample, class, level); with clusters ``counts`` are the rows of each (cluster, class, level). With
    classes ``apart`` their shares are the same in every sample.
    """

    grid: ThresholdGrid
    shares: Array
    apart: bool
    sampling: Sampling
    held: Array
    counts: Array | None = None

    def cost(self, policy: Array) -> float:
        """The cost per case."""
        paid = self._by_level(policy).sum(-1) if self.counts is None else self._by_cluster(policy).sum(0)
        return float(self.shares @ divide(paid, self.grid.sizes))

    def estimate(self, name: str, policy: Array) -> Estimate:
        """The cost per case with its interval; a difference of two policies is one too."""
        value, level = self.cost(policy), self.sampling.confidence
        found = (self._over_rows(policy) if self.counts is None else self._over_clusters(policy, value)).around(value)
        return Estimate(
            name,
            value,
            math.nan,
            found.low,
            found.high,
            confidence=level,
            method=found.method,
            no_interval=found.reason,
        )

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────
    def _by_level(self, policy: Array) -> Array:
        """What the rows of each class and level cost together."""
        found: Array = (policy * self.grid.costs).sum(axis=0)
        return found

    def _over_rows(self, policy: Array) -> Interval:
        """The percentiles of the cost of resamples."""
        paid = np.einsum("bcj,cj->bc", self.held, self._by_level(policy))
        drawn = _per_case(paid, self._bootstrap_sizes, self.shares if self.apart else None)
        return percentiles(drawn, self.sampling, f"rows drawn {len(drawn):,} times")

    @cached_property
    def _bootstrap_sizes(self) -> Array:
        found: Array = np.einsum("bcj,cj->bc", self.held, self.grid.weight)
        return found

    # ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────
    def _by_cluster(self, policy: Array) -> Array:
        """What the rows of each cluster and class cost: (cluster, class)."""
        counts: Any = self.counts
        each = divide(self.grid.costs, self.grid.weight)
        whole = np.zeros(counts.shape[:2])
        for decision, price in zip(policy, each, strict=True):
            whole += np.einsum("gcj,gcj->gc", counts, np.broadcast_to(decision * price, counts.shape))
        return whole

    def _over_clusters(self, policy: Array, value: float) -> Interval:
        """Student's t over the clusters."""
        paid, rows = self._by_cluster(policy), self.counts.sum(-1)  # type: ignore[union-attr]
        sizes = rows.sum(axis=0)
        if self.apart:
            cost_of_moving = (paid - divide(paid.sum(axis=0), sizes) * rows) @ divide(self.shares, sizes)
        else:
            cost_of_moving = (paid.sum(-1) - paid.sum() / sizes.sum() * rows.sum(-1)) / sizes.sum()
        error = math.sqrt(float((cost_of_moving**2).sum()) * len(cost_of_moving) / (len(cost_of_moving) - 1))
        if not error > 1e-12 * abs(value):
            return none("every cluster costs the same")
        half = self.sampling.width * error
        return Interval(value - half, value + half, "Student's t over the clusters")


def _per_case(paid: Array, rows: Array, shares: Array | None) -> Array:
    """Costs and rows of the classes (last axis) as a cost per case, at given shares of the classes or the rows' own."""
    if shares is None:
        return divide(paid.sum(-1), rows.sum(-1))
    found: Array = (shares * divide(paid, rows)).sum(-1)
    return found
