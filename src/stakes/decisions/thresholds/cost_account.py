"""What a policy costs per case on the levels of a threshold grid, and how sure that is."""

import math
from dataclasses import dataclass

import numpy as np

from stakes.decisions.thresholds.out_of_bag import Resamples
from stakes.decisions.thresholds.threshold_grid import Policy, ThresholdGrid
from stakes.metrics import Estimate
from stakes.metrics.cost import expected_cost
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.interval import figure
from stakes.uncertainty.one_more_row import Cells, mean_interval, two_costs
from stakes.uncertainty.sampling import Sampling


@dataclass(frozen=True, eq=False)
class CostAccount:
    """Adds up costs: how frequent each class counts (``shares``, the positive one first), and what varies.

    With classes ``apart`` their shares are the same in every sample, or known from so many ``cases`` (the negative
    class first). ``prices`` are what each decision costs a row of each class (class, decision); None if that differs
    from row to row.
    """

    grid: ThresholdGrid
    shares: Array
    apart: bool
    sampling: Sampling
    resamples: Resamples
    prices: Array | None
    cases: tuple[int, ...] | None = None

    def cost(self, policy: Policy) -> float:
        """The cost per case."""
        counts, paid = self.resamples.counts, np.zeros(2)
        if counts is None:
            paid = (policy.taken * self.grid.costs).sum(axis=(0, -1))
        else:  # clusters are decided apart
            each = divide(self.grid.costs, self.grid.weight)
            for often, price in zip(policy.taken, each, strict=True):
                paid = paid + np.einsum("gcj,gcj->c", counts, np.broadcast_to(often * price, counts.shape))
        return float(self.shares @ divide(paid, self.grid.sizes))

    def estimate(self, taken: Policy) -> Estimate:
        """The cost per case, with its interval; compared with a single decision for everybody, which costs nothing."""
        everybody = Policy(np.ones((1, 1, len(self.grid.scores))), np.ones((1, 2), bool))
        return self._figure(expected_cost.name, self.cost(taken), self._cells(everybody, taken, self.prices))

    def saving(self, other: Policy, taken: Policy) -> Estimate:
        """What one policy saves per case against another, with its interval."""
        prices = None if self.prices is None else self.prices[:, :, None] - self.prices[:, None, :]
        return self._figure("saving", self.cost(other) - self.cost(taken), self._cells(other, taken, prices))

    def _figure(self, name: str, value: float, cells: Cells) -> Estimate:
        limits = mean_interval(cells, self.sampling, by_row=self.prices is None)
        return figure(name, value, math.nan, limits.around(value), self.sampling.confidence)

    # ── cells ────────────────────────────────────────────────────────────────────────────────────────────────
    def _cells(self, other: Policy, taken: Policy, prices: Array | None) -> Cells:
        """Cells of class, other decision and decision; the negative class first, as in a table."""
        reach: Array = np.broadcast_to(other.places @ taken.places.T, (2, len(other.taken), len(taken.taken)))
        shares = self.shares[::-1] if self.apart else None
        if prices is None:
            return self._cells_of_amounts(other, taken, reach, shares)
        values = np.broadcast_to(prices.reshape(2, -1, len(taken.taken)), reach.shape)[::-1]
        squares = None if self.grid.squares is None else _joint(self.grid.squares, other, taken)[::-1]
        if self.resamples.counts is None:
            counts = _joint(self.grid.weight, other, taken)[::-1]
            return Cells(values, counts, reach, shares, squares, None, self.cases)
        clusters = _joint_clusters(self.resamples.counts, other, taken)[:, ::-1]
        return Cells(values, clusters.sum(axis=0), reach, shares, squares, clusters, self.cases)

    def _cells_of_amounts(self, other: Policy, taken: Policy, reach: Array, shares: Array | None) -> Cells:
        """The same where costs differ by row: each cell as rows of two costs.

        One more row of a class could cost what decisions cost its rows where the money is.
        """
        unit = divide(self._squares.sum(axis=-1), self.grid.sizes)[:, None, None]  # what a row of each class weighs
        amounts = self._amounts(saving=len(other.taken) > 1)
        sums, squares = (_joint(part, other, taken, pair=True) for part in amounts)
        costs, counts = two_costs(_joint(self.grid.weight, other, taken), sums, squares / unit)
        sums, squares = (np.moveaxis(part.sum(axis=-1), -1, 0) for part in amounts)
        sizes = np.broadcast_to(self.grid.sizes[:, None, None], reach.shape)
        unseen, exist = two_costs(sizes, sums, squares / unit)
        values = np.stack([costs, unseen], axis=-1)[::-1]
        counts = np.stack([counts, np.zeros_like(counts)], axis=-1)[::-1]
        possible = np.stack([np.zeros(exist.shape, bool), reach[..., None] & (exist > 0)], axis=-1)[::-1]
        weights = None if self.grid.squares is None else counts * unit[::-1, ..., None, None]
        return Cells(values, counts, possible, shares, weights)

    @property
    def _squares(self) -> Array:
        return self.grid.weight if self.grid.squares is None else self.grid.squares

    def _amounts(self, saving: bool) -> tuple[Array, Array]:
        """What the rows of a level cost, or save against another decision, and the squares: (other, own, class, level).

        What two decisions cost rows of the same score and class is taken as uncorrelated.
        """
        costs, squares = self.grid.costs, self.grid.spread
        if not saving:
            return costs[None], squares[None]
        each = divide(costs, self.grid.weight)
        both = squares[:, None] + squares - 2 * self._squares * each[:, None] * each
        unlike = ~np.eye(len(costs), dtype=bool)[..., None, None]
        return costs[:, None] - costs, np.maximum(both, 0.0) * unlike


def _joint(levels: Array, other: Policy, taken: Policy, pair: bool = False) -> Array:
    """Add up levels (class, level) by class, other decision and decision; of a pair if they differ by those, too.

    A policy that differs from cluster to cluster is followed on average.
    """
    often = (p.taken if p.taken.ndim == 3 else p.taken.mean(axis=1) for p in (other, taken))
    one, two = (np.broadcast_to(p, (len(p), *levels.shape[-2:])) for p in often)
    return np.asarray(np.einsum(f"{'ed' if pair else ''}cj,ecj,dcj->ced", levels, one, two))


def _joint_clusters(counts: Array, other: Policy, taken: Policy) -> Array:
    """The same of each cluster: (cluster, class, other decision, decision)."""
    found = np.empty((*counts.shape[:2], len(other.taken), len(taken.taken)))
    for e, one in enumerate(other.taken):
        for d, two in enumerate(taken.taken):
            found[:, :, e, d] = np.einsum("gcj,gcj->gc", counts, np.broadcast_to(one * two, counts.shape))
    return found
