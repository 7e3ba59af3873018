"""What a way of deciding costs per case on the rungs of a ladder, and how sure that is."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stakes.decisions.thresholds.ladder import Ladder
from stakes.metrics import Estimate
from stakes.tallies.arithmetic import Array, divided
from stakes.uncertainty.draws import percentiles
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling


@dataclass(frozen=True, eq=False)
class Bill:
    """Adds up costs: how frequent each class counts (``shares``, the positive one first), and what varies.

    A policy says how often each decision is taken: (decision, …, class, rung). ``held`` is how much of each rung the
    resamples hold (resample, class, rung); with clusters ``counts`` are the rows of each (cluster, class, rung). With
    classes ``apart`` their shares are the same in every sample.
    """

    ladder: Ladder
    shares: Array
    apart: bool
    sampling: Sampling
    held: Array
    counts: Array | None = None

    def cost(self, policy: Array) -> float:
        """The cost per case."""
        paid = self._by_rung(policy).sum(-1) if self.counts is None else self._by_cluster(policy).sum(0)
        return float(self.shares @ divided(paid, self.ladder.sizes))

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
    def _by_rung(self, policy: Array) -> Array:
        """What the rows of each class and rung cost together."""
        return (policy * self.ladder.costs).sum(axis=0)

    def _over_rows(self, policy: Array) -> Interval:
        """The percentiles of the cost of resamples."""
        paid = np.einsum("bcj,cj->bc", self.held, self._by_rung(policy))
        drawn = _per_case(paid, self._drawn_sizes, self.shares if self.apart else None)
        return percentiles(drawn, self.sampling, f"rows drawn {len(drawn):,} times")

    @cached_property
    def _drawn_sizes(self) -> Array:
        return np.einsum("bcj,cj->bc", self.held, self.ladder.weight)

    # ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────
    def _by_cluster(self, policy: Array) -> Array:
        """What the rows of each cluster and class cost: (cluster, class)."""
        counts: Any = self.counts
        each = divided(self.ladder.costs, self.ladder.weight)
        whole = np.zeros(counts.shape[:2])
        for decision, price in zip(policy, each, strict=True):
            whole += np.einsum("gcj,gcj->gc", counts, np.broadcast_to(decision * price, counts.shape))
        return whole

    def _over_clusters(self, policy: Array, value: float) -> Interval:
        """Student's t over the clusters."""
        paid, rows = self._by_cluster(policy), self.counts.sum(-1)  # type: ignore[union-attr]
        sizes = rows.sum(axis=0)
        if self.apart:
            moved = (paid - divided(paid.sum(axis=0), sizes) * rows) @ divided(self.shares, sizes)
        else:
            moved = (paid.sum(-1) - paid.sum() / sizes.sum() * rows.sum(-1)) / sizes.sum()
        error = math.sqrt(float((moved**2).sum()) * len(moved) / (len(moved) - 1))
        if not error > 1e-12 * abs(value):
            return none("every cluster costs the same")
        half = self.sampling.width * error
        return Interval(value - half, value + half, "Student's t over the clusters")


def _per_case(paid: Array, rows: Array, shares: Array | None) -> Array:
    """Costs and rows of the classes (last axis) as a cost per case, at given shares of the classes or the rows' own."""
    if shares is None:
        return divided(paid.sum(-1), rows.sum(-1))
    return (shares * divided(paid, rows)).sum(-1)
