"""Two models' scores on rows that were not kept: by the cells of a grid that both scores of a row lie in.

What a row changes in a figure depends on its class and its score, and within a narrow cell it is a line, near enough.
So the sums of both scores, and of their products, over the rows of every two cells tell how what rows change in the
one figure varies together with what they change in the other. What the lines leave open is added as if it were chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stakes.metrics import Metric
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.changes import cases_behind
from stakes.uncertainty.changes.scores import bearing_rows, score_changes_by_level
from stakes.uncertainty.influence import Influence
from stakes.uncertainty.paired import Difference, finish
from stakes.uncertainty.sampling import Sampling

_NOISE = 1e-12
"""Differences that are so small a share of what they are differences of come from rounding."""


@dataclass(frozen=True, eq=False)
class CellSide:
    """One of two models: its scores, and the grid of cells in which they lie with another model's."""

    table: ScoreTable
    grid: str
    bits: int


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Rows of one class in each two cells, which are named by their lower ends.

    ``weight`` is what the rows weigh, ``squares`` the sum of their squared weights; ``sums`` are, times these squares,
    how far the two scores lie above the ends, and the products of these: first, second, first², both, second².
    """

    positive: Array
    ends: tuple[Array, Array]
    weight: Array
    squares: Array
    sums: Array

    def take(self, cells: Array) -> "ScoreCells":
        """Return some of them."""
        first, second = self.ends
        ends = first[cells], second[cells]
        return ScoreCells(self.positive[cells], ends, self.weight[cells], self.squares[cells], self.sums[:, cells])

    @property
    def same(self) -> bool:
        """Whether the two scores are the same in every row."""
        one, other, first, both, second = self.sums
        apart = first - 2 * both + second
        return bool(np.array_equal(*self.ends) and np.array_equal(one, other) and not (apart > _NOISE * first).any())


@dataclass(frozen=True, eq=False)
class _Lines:
    """What a row changes as a line within each cell, by class (positive first); ``left`` is what that leaves open."""

    ends: Array
    starts: Array
    slopes: Array
    left: float

    def of(self, cells: ScoreCells, side: int) -> tuple[Array, Array]:
        """Where the line of each cell begins, and its slope."""
        places = np.searchsorted(self.ends, cells.ends[side])
        row = np.where(cells.positive, 0, 1)
        return self.starts[row, places], self.slopes[row, places]


def difference_in_cells(
    metric: Metric, sides: Sequence[CellSide], values: Sequence[float], cells: ScoreCells, sampling: Sampling
) -> Difference:
    """Judge the difference of a figure of scores between two models, as :func:`paired.difference` does of rows."""
    if why := metric.no_interval:
        return Difference(note=why)
    with np.errstate(all="ignore"):
        found = [_lines(metric, side, sampling.fixed) for side in sides]
    one, other = found
    if isinstance(one, str) or isinstance(other, str):
        return Difference(note=one if isinstance(one, str) else str(other))
    changes, counts, row = _changes(one, other, cells)
    table = sides[0].table
    units = table.equal_rows
    sizes: Array | float = units
    if sampling.fixed:
        sizes = np.bincount(row, counts)[row]
    most = bearing_rows(metric, table) - 1
    influence = Influence(changes, counts, sizes, most)
    if metric.population is not None:
        behind = [cases_behind(metric, value, side.table, Metric.of) for side, value in zip(sides, values, strict=True)]
        influence = influence.joined(behind[0][0] - behind[1][0], behind[0][1])
    return finish(metric, values, influence, [side.table for side in sides], cells.same, sampling)


def _lines(metric: Metric, side: CellSide, held: bool) -> "_Lines | str":
    """Fit a line to what rows of each cell change, by least squares."""
    found = score_changes_by_level(metric, side.table, held)
    if isinstance(found, str):
        return found
    scores, counts, unit, changes = found
    numbers, place = np.unique(bins.numbers(scores, side.grid, side.bits), return_inverse=True)
    ends = bins.edges(numbers, side.grid, side.bits)
    above = scores - ends[place]
    starts, slopes, left = np.zeros((2, len(ends))), np.zeros((2, len(ends))), 0.0
    for c in range(2):
        size = np.bincount(place, counts[c], len(ends))
        mean, height = (divide(np.bincount(place, counts[c] * one, len(ends)), size) for one in (above, changes[c]))
        away, rise = above - mean[place], changes[c] - height[place]
        both, square = (np.bincount(place, counts[c] * away * one, len(ends)) for one in (rise, away))
        slopes[c] = divide(both, square)
        starts[c] = height - slopes[c] * mean
        left += float((counts[c] * unit[c] * (rise - slopes[c][place] * away) ** 2).sum())
    return _Lines(ends, starts, slopes, left)


def _changes(one: _Lines, other: _Lines, cells: ScoreCells) -> tuple[Array, Array, Array]:
    """What rows of each two cells change in the difference: half of them more than their mean, half of them less.

    Returned are the changes, how many rows make each, and their class.
    """
    (start, slope), (begin, tilt) = one.of(cells, 0), other.of(cells, 1)
    mean, more, square, both, others = cells.sums / cells.squares
    middle = (start + slope * mean) - (begin + tilt * more)
    own, theirs = slope**2 * np.maximum(square - mean**2, 0.0), tilt**2 * np.maximum(others - more**2, 0.0)
    varied = own - 2 * slope * tilt * (both - mean * more) + theirs
    spread = np.sqrt(np.where(varied > _NOISE * (own + theirs), varied, 0.0))
    unit = cells.squares / cells.weight
    each, row = cells.weight / unit / 2, np.where(cells.positive, 0, 1)
    changes, counts = np.concatenate([middle + spread, middle - spread]) * np.tile(unit, 2), np.tile(each, 2)
    rows = np.tile(row, 2)
    if not cells.same and (left := one.left + other.left) > 0:  # as if every row had so much of it
        square = float(counts @ changes**2)
        changes = changes * np.sqrt((square + left) / square) if square > 0 else changes
    return changes, counts, rows
