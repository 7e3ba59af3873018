"""Two models' outputs on the same rows, ready to be drawn again or swapped many times at once.

A pool answers two questions: what are the two figures when rows are *drawn* again with replacement (how far would other
rows move them?), and when the two models' outputs are *swapped* in half of the rows (what differences does chance make
between models that are equally good?). Units are what is drawn or swapped together: rows, whole clusters, or the
rows of one cell of a table, of which only the number matters.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stakes.tallies import Confusion, JointCounts, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.tallies.scores import growing

_ADDED = 0.5
_MOST_ADDED = 4.0
_MANY_CELLS = 20_000
"""Every cell of a small table gets half a row, or all of them four rows: an empty cell is not proof of a share of 0."""

_LONG = 2000
"""Rankings of more scores than this are put together into pieces."""

Names = tuple[tuple[str, ...], tuple[str, ...], str | None]
"""The classes, the decisions and the positive class."""

Figures = tuple[Array, Array]
"""The figures of the first and of the second model, one for each draw."""


Matrix = Any
"""Numbers of units × sums: an array, or a sparse array of scipy, which has no types."""


# ── what is drawn or swapped together ────────────────────────────────────────────────────────────────────────────
class Alike:
    """Units that are drawn one by one: rows, or whole clusters."""

    def __init__(self, rows: int, cluster: Array | None = None) -> None:
        self.whole = np.ones(rows if cluster is None else int(cluster.max()) + 1)
        self.cluster = cluster

    def drawn(self, random: np.random.Generator, times: int) -> Array:
        """As many units as there are, with replacement."""
        count = len(self.whole)
        picks = random.integers(count, size=(times, count)) + np.arange(times)[:, None] * count
        return np.bincount(picks.ravel(), minlength=times * count).reshape(times, count).astype(np.float64)

    def swapped(self, random: np.random.Generator, times: int) -> Array:
        """Each unit or not, like coins."""
        coins = times * len(self.whole)
        bits = np.unpackbits(np.frombuffer(random.bytes(-(-coins // 8)), np.uint8), count=coins)
        return bits.reshape(times, -1).astype(np.float64)

    def by_row(self, counts: Array) -> Array:
        """Return what each row counts, from what its unit does."""
        return counts if self.cluster is None else counts[:, self.cluster]


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows that are alike, known by their number; ``added`` is what is added to a cell when it is drawn."""

    whole: Array
    added: Array

    def drawn(self, random: np.random.Generator, times: int) -> Array:
        """Gamma numbers, which are a Dirichlet draw of the shares: the cost does not grow with the rows."""
        return random.standard_gamma(self.whole + self.added, (times, len(self.whole)))

    def swapped(self, random: np.random.Generator, times: int) -> Array:
        """Of n rows that are swapped like coins, a binomial number is."""
        return random.binomial(self.whole.astype(np.int64), 0.5, (times, len(self.whole))).astype(np.float64)


# ── pools ────────────────────────────────────────────────────────────────────────────────────────────────────────
class Pool(ABC):
    """The outputs of two models on the same rows."""

    units: Alike | Cells

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers a draw needs, so that not too many are made at once."""

    @abstractmethod
    def count(self, counts: Array) -> Figures:
        """Return the figures when each unit counts so often; ``counts`` has a row for each draw."""

    @abstractmethod
    def swap(self, swapped: Array) -> Figures:
        """Return the figures when so much of each unit is swapped between the models."""

    def observed(self) -> tuple[float, float]:
        """Return the two figures of the rows as they are."""
        first, second = self.count(self.units.whole[None])
        return float(first[0]), float(second[0])

    def drawn(self, random: np.random.Generator, times: int) -> Figures:
        """Return the figures when units are drawn again."""
        return self.count(self.units.drawn(random, times))

    def swapped(self, random: np.random.Generator, times: int) -> Figures:
        """Return the figures when outputs are swapped."""
        return self.swap(self.units.swapped(random, times))


@dataclass(frozen=True, eq=False)
class Sums(Pool):
    """Figures of sums over the units: cells of a confusion table, losses, moments.

    ``first`` and ``second`` hold what a unit adds to each sum (units × sums), ``finish`` makes figures of sums.
    """

    units: Alike | Cells
    first: Matrix
    second: Matrix
    finish: Callable[[Array], Array]

    @property
    def size(self) -> int:
        """The larger of units and sums."""
        return int(max(self.first.shape))

    @cached_property
    def _whole(self) -> Figures:
        return (self.units.whole[None] @ self.first, self.units.whole[None] @ self.second)

    def count(self, counts: Array) -> Figures:
        """Add up units that count so often."""
        return self.finish(counts @ self.first), self.finish(counts @ self.second)

    def swap(self, swapped: Array) -> Figures:
        """Move what is swapped from one model's sums to the other's."""
        moved = swapped @ (self.second - self.first)
        first, second = self._whole
        return self.finish(first + moved), self.finish(second - moved)


def decisions(
    measure: Callable[[Confusion], Array],
    names: Names,
    columns: tuple[Array, Array, Array],
    weight: Array | None = None,
) -> Sums:
    """Pool two columns of decisions by truth × decision × decision: the cost does not grow with the rows.

    ``columns`` are codes of truth, first and second. With weights, rows of one cell are alike only if they weigh the
    same.
    """
    K, M = len(names[0]), len(names[1])
    weights, kinds = (np.ones(1), None) if weight is None else np.unique(weight, return_inverse=True)
    labels = (names[0], names[1], names[1], [str(kind) for kind in range(len(weights))])
    codes = (*columns, np.zeros(len(columns[0]), np.int64) if kinds is None else kinds)
    joint = JointCounts.from_rows(("truth", "first", "second", "weight"), labels, codes)
    cells, counts, added = joint.codes[:, :3], joint.counts.astype(np.float64), np.zeros(len(joint.codes))
    unit = weights[joint.codes[:, 3]]
    if K * M * M <= _MANY_CELLS:
        every = np.stack(np.unravel_index(np.arange(K * M * M), (K, M, M)), axis=-1)
        share = min(_ADDED, _MOST_ADDED / len(every))
        typical = (unit * counts).sum() / counts.sum()
        cells, counts = np.concatenate([cells, every]), np.append(counts, np.zeros(len(every)))
        added, unit = np.append(added, np.full(len(every), share)), np.append(unit, np.full(len(every), typical))
    first, second = (_scattered(cells[:, 0] * M + cells[:, side], unit, K * M) for side in (1, 2))
    return Sums(Cells(counts, added), first, second, _of_tables(measure, names))


def clustered_decisions(
    measure: Callable[[Confusion], Array],
    names: Names,
    columns: tuple[Array, Array, Array],
    weight: Array | None,
    cluster: Array,
) -> Sums:
    """Pool decisions by cluster: a table for each cluster and model."""
    K, M = len(names[0]), len(names[1])
    truth, *sides = (column.astype(np.int64) for column in columns)
    unit = np.ones(len(truth)) if weight is None else weight
    first, second = (by_cluster(_scattered(truth * M + side, unit, K * M), cluster) for side in sides)
    return Sums(Alike(len(truth), cluster), first, second, _of_tables(measure, names))


def by_cluster(rows: Matrix, cluster: Array) -> Matrix:
    """Add up what the rows of a cluster add."""
    return _scattered(cluster, np.ones(len(cluster)), int(cluster.max()) + 1).T @ rows


def _scattered(places: Array, values: Array, columns: int) -> Matrix:
    """A matrix with one number in each row."""
    from scipy.sparse import csr_array

    rows = np.arange(len(places))
    return csr_array((values, (rows, places)), shape=(len(places), columns))


def _of_tables(measure: Callable[[Confusion], Array], names: Names) -> Callable[[Array], Array]:
    def finish(sums: Array) -> Array:
        total = sums.sum(-1, keepdims=True)
        cells = np.where(sums > 1e-12 * total, sums, 0.0)  # differences of weights leave crumbs
        table = cells.reshape(-1, len(names[0]), len(names[1]))
        return measure(Confusion(names[0], names[1], table, positive=names[2]))

    return finish


@dataclass(frozen=True, eq=False)
class Scores(Pool):
    """Figures of the scores of two classes, from the order of all rows; each draw costs time in proportion to them.

    ``to_swap`` are the scores as they are swapped: ranks where only the order counts, since the scores of two
    models need not have the same scale. Long rankings are put together into pieces where only the order counts.
    """

    units: Alike
    measure: Callable[[ScoreTable], Array]
    positive: Array
    first: Array
    second: Array
    to_swap: tuple[Array, Array]
    weight: Array | None = None
    ranked: bool = False

    @property
    def size(self) -> int:
        """Swapping needs both outputs of each row."""
        return 2 * len(self.positive)

    @cached_property
    def _tables(self) -> tuple["_Ordered", "_Ordered"]:
        """Ways to count the first and the second model."""
        return _Ordered(self.first, self.positive, self.ranked), _Ordered(self.second, self.positive, self.ranked)

    @cached_property
    def _side_by_side(self) -> "_Ordered":
        """A way to count both at once, for swapping."""
        return _Ordered(np.append(*self.to_swap), np.append(self.positive, self.positive), self.ranked)

    def _by_row(self, counts: Array) -> Array:
        counts = self.units.by_row(counts)
        return counts if self.weight is None else counts * self.weight

    def count(self, counts: Array) -> Figures:
        """Count rows so often at their scores."""
        rows, (first, second) = self._by_row(counts), self._tables
        return self.measure(first.of(rows)), self.measure(second.of(rows))

    def swap(self, swapped: Array) -> Figures:
        """Count every row twice: as it is for one model, and as it is for the other."""
        kept, moved, both = self._by_row(1 - swapped), self._by_row(swapped), self._side_by_side
        first, second = (np.concatenate(parts, axis=1) for parts in ((kept, moved), (moved, kept)))
        return self.measure(both.of(first)), self.measure(both.of(second))


class _Ordered:
    """Rows put in the order of their scores once, to be counted many times."""

    def __init__(self, scores: Array, positive: Array, ranked: bool) -> None:
        self.order = np.argsort(-scores, kind="stable")
        self.positive = positive[self.order].astype(np.float64)
        ordered = scores[self.order]
        self.starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        if ranked and len(self.starts) > _LONG:
            self.starts = self.starts[np.append(0, growing(len(self.starts))[:-1])]
        self.scores = ordered[self.starts]

    def of(self, counts: Array) -> ScoreTable:
        """The table in which each row counts so often, along a leading axis."""
        counts = np.take(counts, self.order, axis=1)
        positives = counts * self.positive
        if len(self.starts) < len(self.order):  # some rows tie
            counts, positives = (np.add.reduceat(column, self.starts, axis=1) for column in (counts, positives))
        values = {"positives": positives, "negatives": np.maximum(counts - positives, 0)}
        return ScoreTable("positive", "negative", Columns(self.scores, values))


@dataclass(frozen=True, eq=False)
class PooledRows(Pool):
    """Figures that need the rows themselves, counted anew for every draw: the slow way, for what no other pool can.

    ``measure`` gives the figure of the numbers of some rows and the outputs there.
    """

    units: Alike
    measure: Callable[[Array, Array], float]
    first: Array
    second: Array

    @property
    def size(self) -> int:
        """The rows."""
        return len(self.first)

    def count(self, counts: Array) -> Figures:
        """Take rows so often."""
        found = []
        for each in self.units.by_row(counts):
            rows = np.repeat(np.arange(len(each)), each.astype(np.int64))
            found.append([self.measure(rows, output[rows]) for output in (self.first, self.second)])
        return tuple(np.array(found).T)

    def swap(self, swapped: Array) -> Figures:
        """Take the other model's output where rows are swapped."""
        every, found = np.arange(len(self.first)), []
        for each in self.units.by_row(swapped) > 0:
            there = each if self.first.ndim == 1 else each[:, None]
            pairs = ((self.first, self.second), (self.second, self.first))
            found.append([self.measure(every, np.where(there, other, own)) for own, other in pairs])
        return tuple(np.array(found).T)
