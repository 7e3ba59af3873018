"""Rows that belong together: patients with several visits, pages of one author.

Rows of a cluster resemble each other, so intervals draw whole clusters. Which rows those are no sum can tell; they are
kept beside the tallies, do not add up, and are not saved.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.tallies.confusion import Confusion
from stakes.tallies.scores import ScoreTable

MOST_GROUPS = 2000
"""More clusters than this are put together at random: groups of whole clusters are clusters too."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The group of each row, and of the classes the rows themselves as codes; ``count`` is the number of clusters.

    ``paid`` is what each row costs, where that differs from row to row.
    """

    groups: Array
    count: int
    truth: Array | None = None
    decided: Array | None = None
    scores: Array | None = None
    weight: Array | None = None
    paid: Array | None = None

    @classmethod
    def of(cls, codes: Array, **columns: Array | None) -> Self:
        """Number the clusters that occur (by codes from 0 on), and put them together where there are very many."""
        if int(codes.max(initial=0)) > 8 * len(codes):  # a few rows of many
            codes = np.unique(codes, return_inverse=True)[1]
        occurs = np.bincount(codes) > 0
        count = int(np.count_nonzero(occurs))
        numbers = np.cumsum(occurs) - 1
        if count > MOST_GROUPS:
            numbers = np.random.default_rng(0).integers(0, MOST_GROUPS, count)[numbers]
        return cls(numbers[codes], count, **columns)

    @property
    def size(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1

    def against_rest(self, place: int) -> Self:
        """Return the same rows as one class against all others."""
        truth, decided = (
            None if codes is None else (codes == place).astype(np.int64) for codes in (self.truth, self.decided)
        )
        scores = self.scores if self.scores is None or self.scores.ndim == 1 else self.scores[:, place]
        return replace(self, truth=truth, decided=decided, scores=scores)

    def decided_by(self, starts: Sequence[float], codes: Sequence[int]) -> Self:
        """Decide by the scores: each decision (a code) begins at a lowest score, the first at −∞."""
        if self.scores is None:
            return self
        place = np.searchsorted(np.asarray(starts), self.scores.astype(np.float64), side="right") - 1
        return replace(self, decided=np.asarray(codes)[place])

    def tables(self, table: Confusion) -> Array:
        """The confusion table of each group: groups × truths × decisions."""
        M = len(table.decisions)
        cells = np.asarray(self.truth, np.int64) * M + np.asarray(self.decided, np.int64)
        return self._sums(cells, self.weight, len(table.truths), M)

    def costs(self, classes: int) -> tuple[Array, Array]:
        """The rows of each group and class, and what they cost together."""
        cells, paid = np.asarray(self.truth, np.int64), np.asarray(self.paid)
        paid = paid if self.weight is None else self.weight * paid
        return self._sums(cells, self.weight, classes), self._sums(cells, paid, classes)

    def by_level(self, lowest: Array) -> Array:
        """Groups × class (positive first) × level, for score levels with these lowest scores, highest first."""
        return self._count(self._places(lowest), len(lowest))

    def pieces(self, compressed: ScoreTable) -> tuple[Array, Array]:
        """Return the mean scores of the pieces of a compressed table, and groups × class (positive first) × piece."""
        lowest = compressed.as_columns().scores.astype(np.float64)
        place = self._places(lowest)
        counts = np.maximum(np.bincount(place, minlength=len(lowest)), 1)
        mean = np.bincount(place, np.asarray(self.scores, np.float64), len(lowest)) / counts
        # rounding must not carry a piece below a threshold that it reaches
        return np.maximum(mean, lowest), self._count(place, len(lowest))

    def _places(self, lowest: Array) -> Array:
        """At which of these levels the score of each row lies."""
        return np.searchsorted(-lowest, -np.asarray(self.scores, np.float64))

    def _count(self, place: Array, levels: int) -> Array:
        negative = 1 - np.asarray(self.truth, np.int64)
        return self._sums(negative * levels + place, self.weight, 2, levels)

    def _sums(self, cells: Array, weight: Array | None, *shape: int) -> Array:
        """Add up weights, or count rows, by group and cell; the cells of a group have this shape."""
        each = math.prod(shape)
        sums = np.bincount(self.groups * each + cells, weight, self.size * each)
        return sums.reshape(self.size, *shape).astype(np.float64)
