"""Resamples of rows, and out-of-bag decisions: what the resamples without a row decide for it.

A threshold looks better than it is on the rows that it was chosen on. So it is chosen on resamples, and every row is
decided by those that it is not in (Efron 1983, Journal of the American Statistical Association 78).
"""

import numpy as np

from stakes.decisions.thresholds.threshold_grid import ThresholdGrid
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.sampling import Sampling

RESAMPLES = 1000
_ENOUGH = 64
"""From this many rows on, Poisson counts are approximated by normal ones."""


class Resamples:
    """Resamples of single rows, those of a level drawn together, or of whole clusters.

    ``held`` says how much of each level every resample holds: (resample, class, level). Of n rows of which k were drawn
    with replacement, each one was left out with probability (1 − 1/n)ᵏ: ``without``, of the shape of ``held``. Clusters
    were left out or not: (resample, cluster); ``counts`` are what each of them has in every class and level.
    """

    def __init__(self, grid: ThresholdGrid, sampling: Sampling) -> None:
        """Draw the rows of each level, or clusters where there are any."""
        rows, generator = grid.rows, sampling.generator()
        self.counts = None if sampling.clusters is None else sampling.clusters.by_level(grid.scores, grid.weight)
        if self.counts is None:
            draws = _poisson(rows, generator)
            self.held = draws / np.where(rows > 0, rows, 1.0)
            self.without = np.exp(draws * np.log1p(-1 / np.maximum(rows, 1 + 1e-9)))
        else:
            draws = generator.poisson(1.0, (RESAMPLES, len(self.counts))).astype(np.float64)
            self.held = np.tensordot(draws, self.counts, 1) / np.where(grid.weight > 0, grid.weight, 1.0)
            self.without = (draws == 0).astype(np.float64)

    def policy(self, places: Array) -> Array:
        """How often each decision is taken for rows by the resamples without them: (decision, …, class, level).

        ``places`` are those of the thresholds that each resample chose: (threshold, resample).
        """
        levels = np.arange(self.held.shape[-1])
        higher = [self._share_above(levels < place[:, None]) for place in places]
        return -np.diff([np.ones_like(higher[0]), *higher, np.zeros_like(higher[0])], axis=0)

    def _share_above(self, chosen: Array) -> Array:
        """How often rows lie above the thresholds (resample, level) chosen without them, or without their cluster."""
        whole = self.without.sum(axis=0)
        if self.counts is None:
            return np.asarray(np.einsum("bcj,bj->cj", self.without, chosen) / whole)
        share = self.without.T @ chosen.astype(np.float64) / np.maximum(whole, 1.0)[:, None]
        return np.asarray(share[:, None, :])


def _poisson(rows: Array, generator: np.random.Generator) -> Array:
    """How often the rows of each level are drawn: independent Poisson numbers, which add up to nearly all rows."""
    draws = np.zeros((RESAMPLES, *rows.shape))
    large = rows >= _ENOUGH
    small = (rows > 0) & ~large
    if large.any():
        noise = generator.standard_normal((RESAMPLES, int(large.sum())), np.float32)
        draws[:, large] = np.maximum(rows[large] + np.sqrt(rows[large]) * noise, 0.0)
    if small.any():
        draws[:, small] = generator.poisson(rows[small], (RESAMPLES, int(small.sum())))
    return draws
