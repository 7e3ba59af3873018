"""Resamples of rows, and what the resamples without a row would have decided for it.

A threshold that was chosen on some rows looks better on them than it is. So it is chosen on resamples, and every row is
judged by those that it is not in (Efron 1983, Journal of the American Statistical Association 78).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes.decisions.thresholds.threshold_grid import ThresholdGrid
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters

_ENOUGH = 64
"""From this many rows on, how often they are drawn is as good as normal."""


@dataclass(frozen=True, eq=False)
class RowResamples:
    """Resamples of single rows; the rows of a level are drawn together.

    ``held`` says how much of each level every resample holds: (resample, class, level). Of n rows of which k were drawn
    with replacement, each one was left out with probability (1 − 1/n)ᵏ: ``without``.
    """

    held: Array
    without: Array

    @classmethod
    def of(cls, grid: ThresholdGrid, resamples: int, generator: Any) -> "RowResamples":
        """Draw the rows of each level."""
        rows = grid.rows
        drawn = _poisson(rows, resamples, generator)
        shrink = np.log1p(-1 / np.maximum(rows, 1 + 1e-9))
        return cls(drawn / np.where(rows > 0, rows, 1.0), np.exp(drawn * shrink))

    def out_of_bag_share(self, chosen: Array) -> Array:
        """How often the rows of each class and level lie above the thresholds (resample, level) chosen without them."""
        found: Array = np.einsum("bcj,bj->cj", self.without, chosen) / self.without.sum(axis=0)
        return found


@dataclass(frozen=True, eq=False)
class ClusterResamples:
    """Resamples of whole clusters; ``counts`` are what each of them has in every class and level."""

    held: Array
    without: Array
    counts: Array

    @classmethod
    def of(cls, grid: ThresholdGrid, clusters: Clusters, resamples: int, generator: Any) -> "ClusterResamples":
        """Draw clusters."""
        counts = clusters.by_level(grid.scores)
        drawn = generator.poisson(1.0, (resamples, len(counts))).astype(np.float64)
        weight = np.where(grid.weight > 0, grid.weight, 1.0)
        return cls(np.tensordot(drawn, counts, 1) / weight, (drawn == 0).astype(np.float64), counts)

    def out_of_bag_share(self, chosen: Array) -> Array:
        """How often the rows of a cluster and level lie above the thresholds chosen without it: (cluster, 1, level)."""
        often = self.without.T @ chosen.astype(np.float64)
        found: Array = (often / np.maximum(self.without.sum(axis=0), 1.0)[:, None])[:, None, :]
        return found


def _poisson(rows: Array, resamples: int, generator: Any) -> Array:
    """How often the rows of each level are drawn: independent Poisson numbers, which add up to nearly all rows."""
    drawn = np.zeros((resamples, *rows.shape))
    large = rows >= _ENOUGH
    small = (rows > 0) & ~large
    if large.any():
        noise = generator.standard_normal((resamples, int(large.sum())), np.float32)
        drawn[:, large] = np.maximum(rows[large] + np.sqrt(rows[large]) * noise, 0.0)
    if small.any():
        drawn[:, small] = generator.poisson(rows[small], (resamples, int(small.sum())))
    return drawn
