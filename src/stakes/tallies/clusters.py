"""Rows that belong together: patients with several visits, pages of one author.

Rows of a cluster resemble each other, so intervals resample whole clusters. Sums do not contain the rows of each
cluster, so clusters are kept beside the tallies, do not add up, and are not saved.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from stakes.frozen import dataclass, replace
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array, Values, divide
from stakes.tallies.confusion import Confusion
from stakes.tallies.on_demand import remembered
from stakes.tallies.scores import ScoreTable

if TYPE_CHECKING:
    from scipy.sparse import csc_array

MOST_GROUPS = 2000
"""More clusters than this are grouped at random: groups of whole clusters are clusters, too."""

MOST_CLASSES = 50
"""With more classes than this, figures of all classes have no interval by clusters."""

_FINE = 1 << 14
"""Number of cells of the line in which places are looked up."""


def places_among(levels: Array, values: Array) -> Array:
    """How many of some ordered levels lie below each of many values: ``numpy.searchsorted``, but quicker.

    A cell of a fine grid that holds no level has one answer for all of its values; only values elsewhere are sought.
    """
    span = float(levels[-1] - levels[0]) if len(levels) else 0.0
    if len(values) < 4 * _FINE or not 0 < span < math.inf:
        return np.searchsorted(levels, values)

    def cells(numbers: Array) -> Array:
        places = np.clip((numbers - levels[0]) * (_FINE / span), -1.0, _FINE)
        return np.asarray((places + 1.0).astype(np.int64))

    held = np.bincount(cells(levels), minlength=_FINE + 2)
    if np.count_nonzero(held[cells(values[:_FINE])]) > _FINE // 4:  # ties, or most values in a few cells
        return np.searchsorted(levels, values)
    own = cells(values)
    found = (np.cumsum(held) - held)[own]
    sought = np.flatnonzero(held[own])
    found[sought] = np.searchsorted(levels, values[sought])
    return np.asarray(found)


def deal_out(clusters: Array) -> Array:
    """Assign clusters to groups at random, the same cluster always to the same group (SplitMix64)."""
    x = clusters.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # which wraps, as is meant
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(((x ^ (x >> np.uint64(31))) % np.uint64(MOST_GROUPS)).astype(np.int64))


_ROUNDING = 1e-12
"""A smaller share of rows is what rounding left."""

_COLUMNS = ("truth", "decided", "scores", "weight", "paid", "alike", "squares", "ranks", "lost")


@dataclass(frozen=True, eq=False)
class Clusters:
    """The group of each row, and of the classes the rows themselves as codes; ``count`` is the number of clusters.

    ``paid`` is what each row costs, where that differs from row to row. ``names`` are the numbers of the clusters that
    the groups are, the same in every part of the rows; None where very many clusters were grouped.

    Where rows were not kept, an entry stands for many rows of a group: ``alike`` is their number, ``weight`` their sum
    of weights and ``squares`` that of squared weights. Their scores lie in the cells of a coarse ``grid``, a kind and a
    number of bits. For scores of several classes ``cells`` are such entries for each class's own score; beside the
    decisions there are ``ranks`` (how many classes went before the true one) and ``lost``, the sums of log loss and
    squared distances.
    """

    groups: Array
    count: int
    truth: Array | None = None
    decided: Array | None = None
    scores: Array | None = None
    weight: Array | None = None
    paid: Array | None = None
    names: Array | None = None
    alike: Array | None = None
    squares: Array | None = None
    grid: tuple[str, int] | None = None
    cells: tuple["Clusters", ...] = ()
    ranks: Array | None = None
    lost: Array | None = None

    @classmethod
    def of(
        cls,
        codes: Array,
        truth: Array | None = None,
        decided: Array | None = None,
        scores: Array | None = None,
        weight: Array | None = None,
        paid: Array | None = None,
    ) -> Self:
        """Number the clusters that occur (by codes from 0 on), and group them where there are very many."""
        columns = truth, decided, scores, weight, paid
        if int(codes.max(initial=0)) > 8 * len(codes):  # a few rows of many
            names, groups = np.unique(codes, return_inverse=True)
        else:
            occurs = np.bincount(codes) > 0
            names, groups = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]
        if len(names) > MOST_GROUPS:
            return cls(deal_out(names)[groups], len(names), *columns)
        return cls(groups, len(names), *columns, names=names)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self | None:
        """Put together groups of rows of several parts, which have the same names in each; None on different grids."""
        if any(part.grid != parts[0].grid for part in parts):
            return None
        named = [part.groups if part.names is None else part.names[part.groups] for part in parts]
        names, groups = np.unique(np.concatenate(named), return_inverse=True)
        columns = {name: [getattr(part, name) for part in parts] for name in _COLUMNS}
        together = {
            name: None if any(one is None for one in each) else np.concatenate(each) for name, each in columns.items()
        }
        cells = [cls.joined(each) for each in zip(*(part.cells for part in parts), strict=True)]
        known = tuple(one for one in cells if one is not None)
        if len(known) < len(cells):
            return None
        return cls(groups, len(names), **together, names=names, grid=parts[0].grid, cells=known)

    @property
    def size(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1

    @property
    def rows(self) -> float:
        """The number of rows."""
        return float(len(self.groups) if self.alike is None else self.alike.sum())

    @property
    def weights(self) -> Array:
        """The weight of each entry."""
        return np.ones(len(self.groups)) if self.weight is None else self.weight.astype(np.float64)

    @property
    def squared_weights(self) -> Array:
        """The sum of squared weights of each entry."""
        return self.weights**2 if self.squares is None else self.squares.astype(np.float64)

    @remembered
    def kinds(self) -> "tuple[Array, csc_array]":
        """The first entry of each run of entries of one class and score, and what groups hold of these: group × run."""
        from scipy.sparse import csc_array

        truth, scores = np.asarray(self.truth), np.asarray(self.scores)
        first = np.flatnonzero(np.append(True, (truth[1:] != truth[:-1]) | (scores[1:] != scores[:-1])))
        ends = np.append(first, len(truth))
        return first, csc_array((self.weights, self.groups, ends), shape=(self.size, len(first)))

    def answers(self, threshold: float) -> bool:
        """Whether decisions at a threshold are known: not where it lies within a cell."""
        if self.grid is None or self.decided is not None:
            return True
        score = np.array([threshold])
        return bool(bins.edges(bins.numbers(score, *self.grid), *self.grid)[0] == threshold)

    @property
    def places(self) -> Array:
        """The place of each group among the random groups of all clusters."""
        return np.arange(self.size) if self.names is None else deal_out(self.names)

    @property
    def with_scores(self) -> Self | None:
        """The same, if single rows are known with their scores of all classes."""
        return None if self.scores is None else self

    def against_rest(self, place: int, scored: bool = True) -> Self:
        """Return the same rows as one class against all others; by decisions alone where they are not ``scored``."""
        if self.cells and scored:
            return self.cells[place].against_rest(place)  # type: ignore[return-value]
        truth, decided = (
            None if codes is None else (codes == place).astype(np.int64) for codes in (self.truth, self.decided)
        )
        scores = self.scores if self.scores is None or self.scores.ndim == 1 else self.scores[:, place]
        return replace(self, truth=truth, decided=decided, scores=scores)

    def decided_by(self, starts: Sequence[float], codes: Sequence[int], table: Confusion) -> Self:
        """Decide by the scores: each decision (a code) begins at a lowest score, the first at −∞.

        Of rows in cells of a coarse grid as many of each class are decided so as the ``table`` of all rows says.
        """
        if self.scores is None:
            return self
        if self.grid is not None:
            return self._decided_like(table, codes)
        place = np.searchsorted(np.asarray(starts), self.scores.astype(np.float64), side="right") - 1
        return replace(self, decided=np.asarray(codes)[place])

    def _decided_like(self, table: Confusion, codes: Sequence[int]) -> Self:
        """Decide so many rows of each class, the lowest first; where a cell is cut all of its rows are cut alike."""
        truth, (_, cell) = np.asarray(self.truth, np.int64), np.unique(np.asarray(self.scores), return_inverse=True)
        rows = np.bincount(truth * (most := int(cell.max()) + 1) + cell, self.weights, len(table.truths) * most)
        rows = rows.reshape(-1, most)
        ends = np.cumsum(rows, axis=1)
        cuts = np.cumsum(np.asarray(table.cells, np.float64)[:, codes], axis=1)
        cuts *= divide(ends[:, -1:], cuts[:, -1:], 1.0)
        shares, reached = [], np.zeros(rows.shape)
        for cut in cuts.T:
            lower = np.clip(divide(cut[:, None] - (ends - rows), rows, 0.0), 0.0, 1.0)
            shares.append((lower - reached)[truth, cell])
            reached = lower
        taken = [np.flatnonzero(share > _ROUNDING) for share in shares]
        entries = np.concatenate(taken)
        share = np.concatenate([one[here] for one, here in zip(shares, taken, strict=True)])
        columns: dict[str, Values] = {name: getattr(self, name) for name in _COLUMNS}
        parts = {name: one[entries] for name, one in columns.items() if one is not None}
        parts |= {name: parts[name] * share for name in ("weight", "alike", "squares") if name in parts}
        parts["decided"] = np.repeat(np.asarray(codes), [len(one) for one in taken])
        return replace(self, groups=self.groups[entries], **parts)

    def tables(self, table: Confusion) -> Array:
        """The confusion table of each group: groups × truths × decisions."""
        return next(self.some_tables(table, self.size))

    def some_tables(self, table: Confusion, most: int) -> Iterator[Array]:
        """The same, at most so many groups at a time: tables of very many classes are large."""
        shape = len(table.truths), len(table.decisions)
        cells = np.asarray(self.truth, np.int64) * shape[1] + np.asarray(self.decided, np.int64)
        if self.size <= most:
            yield self._sums(cells, self.weight, *shape)
            return
        order = np.argsort(self.groups, kind="stable")
        groups, cells = self.groups[order], cells[order]
        weight = None if self.weight is None else self.weight[order]
        for first in range(0, self.size, most):
            last = min(first + most, self.size)
            here, each = slice(*np.searchsorted(groups, (first, last)).tolist()), math.prod(shape)
            places, own = (groups[here] - first) * each + cells[here], None if weight is None else weight[here]
            yield np.bincount(places, own, (last - first) * each).reshape(-1, *shape).astype(np.float64)

    def costs(self, classes: int) -> tuple[Array, Array]:
        """The rows of each group and class, and what they cost together."""
        cells, paid = np.asarray(self.truth, np.int64), np.asarray(self.paid)
        paid = paid if self.weight is None else self.weight * paid
        return self._sums(cells, self.weight, classes), self._sums(cells, paid, classes)

    def by_level(self, lowest: Array, weight: Array) -> Array:
        """Groups × class (positive first) × level, for score levels with these lowest scores, highest first.

        Rows in cells of a coarse grid are shared out: the rows of a level (``weight``, of class × level) among groups
        like those of its cells, or like all rows where it has no cells.
        """
        if self.grid is None:
            return self._count(self._places(lowest), len(lowest))
        own, numbers = (bins.numbers(np.asarray(one, np.float64), *self.grid) for one in (lowest, self.scores))
        cells, place = np.unique(numbers, return_inverse=True)
        below = np.cumsum(np.pad(self._count(place, len(cells)), ((0, 0), (0, 0), (1, 0))), axis=-1)
        first = np.searchsorted(cells, own)
        after = np.maximum(np.append(len(cells), first[:-1]), np.searchsorted(cells, own, side="right"))
        held = below[..., after] - below[..., first]
        held = np.where(held.sum(0) > 0, held, below[..., -1:])
        return np.asarray(held / np.maximum(held.sum(0), 1e-300) * weight)

    def at_means_of(self, table: ScoreTable) -> Self:
        """Return the same with the mean score that rows of the class have in a cell, by a table of the same rows."""
        if self.grid is None or self.scores is None:
            return self
        columns, positive = table.as_columns(), np.asarray(self.truth, bool)
        fine, own = (bins.numbers(np.asarray(one, np.float64), *self.grid) for one in (columns.scores, self.scores))
        cells, place = np.unique(np.append(fine, own), return_inverse=True)
        scores = np.asarray(self.scores, np.float64)
        for counts, here in zip(columns.counts(), (positive, ~positive), strict=True):
            sums, rows = (np.bincount(place[: len(fine)], one, len(cells)) for one in (counts * columns.scores, counts))
            found = divide(sums, rows, np.nan)[place[len(fine) :]]
            scores = np.where(here & (rows[place[len(fine) :]] > 0), found, scores)
        return replace(self, scores=scores)

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
        places = places_among(-lowest, -np.asarray(self.scores, np.float64))
        return places if self.grid is None else np.minimum(places, len(lowest) - 1)

    def _count(self, place: Array, levels: int) -> Array:
        negative = 1 - np.asarray(self.truth, np.int64)
        return self._sums(negative * levels + place, self.weight, 2, levels)

    def _sums(self, cells: Array, weight: Array | None, *shape: int) -> Array:
        """Add up weights, or count rows, by group and cell; the cells of a group have this shape."""
        each = math.prod(shape)
        sums = np.bincount(self.groups * each + cells, weight, self.size * each)
        return sums.reshape(self.size, *shape).astype(np.float64)
