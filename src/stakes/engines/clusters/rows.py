"""Rows of clusters, counted by class, decision and cell of a coarse grid of scores, made into clusters.

The effect of leaving out a cluster follows from these counts. More than some thousand clusters are merged at random,
like those of rows in memory.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stakes.engines.labels import Labels, rows_of
from stakes.engines.memory import Rows
from stakes.engines.plan import Counted
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array, run_starts
from stakes.tallies.clusters import MOST_CLASSES, MOST_GROUPS, Clusters
from stakes.tallies.keys import add_up, order_of

BITS = 5
"""Scores of a cluster are counted on a grid of 2**BITS cells per power of two, or of more where all lie in a few."""

_MIXED, _MOST_CELLS = 0.64, 1000
"""Share of pairs of rows that may lie in the same cell, though not in the same fine bin, on a grid of one cell; and the
number of cells beyond which a grid is not made finer.
"""


def grid_bits(scores: Array, counts: Array | None = None, classes: int = 2) -> int:
    """Bits of the grid for such scores: as few as tell nearly all rows apart that lie in different bins.

    What hangs on the order of rows cannot be told by cells that hold both.
    """
    least = BITS if classes == 2 else class_bits(classes)
    kind = "probability" if scores.min() >= 0 and scores.max() <= 1 else "line"
    rows = np.ones(len(scores)) if counts is None else counts.astype(np.float64)
    fine, rows = add_up(bins.numbers(scores, kind), rows)
    shares = rows / rows.sum()
    for bits in range(least, bins.FINE):
        cells = np.add.reduceat(shares, run_starts(fine >> (bins.FINE - bits)))
        enough = cells @ cells - shares @ shares <= _MIXED / 2**least
        if enough or (bits > least and len(cells) > _MOST_CELLS):
            return bits
    return bins.FINE


def class_bits(classes: int) -> int:
    """Bits of the grid of each class's scores in a cluster: fewer for more classes.

    Beyond MOST_CLASSES the other classes are not kept apart, which makes room for more bits.
    """
    if MOST_CLASSES < classes <= 4 * MOST_CLASSES:
        return 2
    return max(min(BITS, 10 - 2 * (classes - 1).bit_length()), 0)


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Rows counted by cluster, class, decision and score cell, with their segments.

    ``count`` is the number of clusters, ``counts`` their number by segment; many clusters share a group. With several
    classes ``cells`` are such counts by the score of each class; ``ranks``, ``lost`` and ``paid`` are as in
    :class:`Clusters`.
    """

    rows: Rows
    by: Labels | None
    grid: tuple[str, int] | None
    count: int
    counts: Mapping[str, int]
    cells: Sequence["ClusterRows"] = ()
    ranks: Array | None = None
    lost: Array | None = None
    paid: Array | None = None

    def added_to(self, counted: Counted) -> Counted:
        """Add the clusters to a count and to its segments."""
        segments = {
            name: replace(counted.segments[name], clusters=self._clusters(name, counted.segments[name]))
            for name in (() if self.by is None else self.by.names)
        }
        return replace(counted, clusters=self._clusters(None, counted), segments=segments)

    def _clusters(self, segment: str | None, counted: Counted, place: int | None = None) -> Clusters:
        """The clusters of a segment, or of all rows; by the scores of the class at a ``place``, if one is named."""
        if segment is None and self.by is not None and (whole := self._across_segments()) is not None:
            return whole._clusters(None, counted, place)
        chosen = rows_of(self.by, segment)
        rows, count = self.rows.take(chosen), self.count if segment is None else self.counts.get(segment, 0)
        codes, sizes, scores = np.asarray(rows.cluster), np.asarray(rows.alike, np.float64), rows.scores
        weight, squares = (sizes if one is None else one for one in (rows.weight, rows.squares))
        if scores is not None and self.grid is not None:
            table = counted.scores if place is None else counted.class_scores.tables[place]
            scores = by_runs(partial(_mean_scores, self.grid, table), scores)
        columns = rows.truth, rows.prediction, scores, weight
        merged = self.count > MOST_GROUPS
        found = Clusters(codes, count, *columns) if merged else Clusters.of(codes, *columns)
        ranks, lost, paid = (None if one is None else one[chosen] for one in (self.ranks, self.lost, self.paid))
        cells = tuple(part._clusters(segment, counted, place) for place, part in enumerate(self.cells))
        found = replace(found, alike=sizes, squares=squares, grid=self.grid, cells=cells)
        return replace(found, ranks=ranks, lost=lost, paid=paid)

    def _across_segments(self) -> "ClusterRows | None":
        """The same with what lies in several segments put together; None where that cannot be told by whole numbers."""
        rows = self.rows
        if self.paid is not None or (rows.scores is not None and self.grid is None):
            return None
        cells = None if rows.scores is None or self.grid is None else bins.numbers(rows.scores, *self.grid)
        keys: Array = np.zeros(len(rows.truth), np.int64)
        most = 1
        for column in (rows.truth, rows.prediction, self.ranks, cells, rows.cluster):
            if column is not None and len(column):
                low, size = int(column.min()), int(column.max()) - int(column.min()) + 1
                keys, most = keys * size + (column - low), most * size
        if most >= 1 << 63:
            return None
        order = order_of(keys)
        starts = run_starts(keys[order])

        def added(column: Array | None) -> Array | None:
            return None if column is None else np.add.reduceat(column[order], starts, axis=0)

        together = rows.take(order[starts])
        together = replace(
            together, alike=added(rows.alike), weight=added(rows.weight), squares=added(rows.squares), places=None
        )
        ranks = None if self.ranks is None else self.ranks[order[starts]]
        return replace(self, rows=together, by=None, ranks=ranks, lost=added(self.lost))


def _mean_scores(grid: tuple[str, int], table: ScoreTable, edges: Array) -> Array:
    """The mean score of the rows in each cell, given its lower edge, by a table of the same rows: ties stay ties."""
    columns = table.at_middles().as_columns()
    scores, counts = columns.scores.astype(np.float64), columns.counts().sum(0).astype(np.float64)
    numbers = bins.numbers(scores, *grid)
    first = run_starts(numbers)
    last = np.append(first[1:], len(numbers)) - 1
    means = np.add.reduceat(scores * counts, first) / np.add.reduceat(counts, first)
    means = np.clip(means, scores[last], scores[first])  # the highest come first
    cells = numbers[first]
    return means[np.minimum(np.searchsorted(-cells, -bins.numbers(edges, *grid)), len(cells) - 1)]


def by_runs(work: Callable[[Array], Array], column: Array) -> Array:
    """Work out a column by its runs of equal values, of which there are few."""
    first = run_starts(column)
    return np.repeat(work(column[first]), np.diff(first, append=len(column)))
