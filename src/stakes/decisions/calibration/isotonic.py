"""The rising curve nearest to the data: neighbours that fall are pooled until none does (pool adjacent violators)."""

from dataclasses import dataclass

import numpy as np

from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array

_STRETCH = 1 << 17
"""Entries pooled at a time: few enough to stay in the processor's cache."""

_WORTHWHILE = 0.5
"""Another pass pays while it leaves at most this share of the blocks."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Neighbours that share one level: where each block begins, and what lies in it."""

    starts: Array
    sums: Array
    weights: Array
    length: int

    @property
    def levels(self) -> Array:
        """The mean of each block; they rise."""
        return self.sums / self.weights

    @property
    def last(self) -> Array:
        """The place of the last entry of each block."""
        return np.append(self.starts[1:], self.length) - 1

    def fitted(self) -> Array:
        """The level of each entry."""
        return np.repeat(self.levels, np.diff(self.starts, append=self.length))


def rising_curve(table: ScoreTable) -> tuple[Array, Array]:
    """Return the points between which the rising curve runs straight: both ends of each block, and their levels."""
    scores, positives, negatives = table.upwards()
    blocks = pool_adjacent(positives, positives + negatives)
    ends = np.unique(np.concatenate([blocks.starts, blocks.last]))
    return scores[ends], blocks.fitted()[ends]


def pool_adjacent(sums: Array, weights: Array | None = None) -> Blocks:
    """Pool entries in the order of their scores (ties put together before) into blocks whose means rise.

    ``sums`` are the weighted sums of the truth at each score, ``weights`` the weights there; without weights ``sums``
    are the labels (booleans) of single rows. What must be pooled within a stretch of entries must be pooled in the
    whole, so stretches are worked off one by one, and SciPy pools the few blocks that they leave.
    """
    edges = range(0, len(sums), _STRETCH)
    parts = [_stretch(sums, weights, slice(start, start + _STRETCH)) for start in edges]
    starts = [part.starts + start for part, start in zip(parts, edges, strict=True)]
    pooled, counted = (np.concatenate([getattr(part, name) for part in parts]) for name in ("sums", "weights"))
    return _finish(Blocks(np.concatenate(starts), pooled, counted, len(sums)))


def _stretch(sums: Array, weights: Array | None, place: slice) -> Blocks:
    """Pool most of what must be pooled: whole falling runs at once, again and again while that pays."""
    blocks = _labels(sums[place]) if weights is None else _falling(sums[place], weights[place])
    left = 0.0
    while left <= _WORTHWHILE:
        kept = _rises(blocks.levels)
        left = len(kept) / len(blocks.starts)
        blocks = _merge(blocks, kept)
    return blocks


def _labels(labels: Array) -> Blocks:
    """Pool single rows: ones with the zeros that follow them. Where the labels change tells how many there are."""
    changes = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    odd = (len(changes) + bool(labels[0])) % 2  # whether the last run is one of ones, without zeros after it
    edges = np.concatenate([[0] if labels[0] else [0, 0], changes, [len(labels)] * (1 + odd)])
    starts = edges[:-1:2]
    sums, weights = (column.astype(np.float64) for column in (edges[1::2] - starts, np.diff(edges[::2])))
    return Blocks(starts, sums, weights, len(labels))


def _falling(sums: Array, weights: Array) -> Blocks:
    """Pool runs of entries whose means fall."""
    each = Blocks(np.arange(len(sums)), sums.astype(np.float64), weights.astype(np.float64), len(sums))
    return _merge(each, _rises(each.levels))


def _rises(means: Array) -> Array:
    """The entries that lie above the one before; the first always counts."""
    return np.append(0, np.flatnonzero(means[1:] > means[:-1]) + 1)


def _merge(blocks: Blocks, kept: Array) -> Blocks:
    """Put blocks together from one kept place to the next."""
    sums, weights = (np.add.reduceat(column, kept) for column in (blocks.sums, blocks.weights))
    return Blocks(blocks.starts[kept], sums, weights, blocks.length)


def _finish(blocks: Blocks) -> Blocks:
    """Let SciPy pool the rest; means that are equal but for its rounding are put together afterwards."""
    from scipy.optimize import isotonic_regression

    kept = isotonic_regression(blocks.levels, weights=blocks.weights).blocks[:-1]
    while len(kept) < len(blocks.starts):
        blocks = _merge(blocks, kept)
        kept = _rises(blocks.levels)
    return blocks
