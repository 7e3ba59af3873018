"""The auc of all rows but those of a segment, for thousands of segments.

Sorting the rest again for each segment would take as long as all rows times all segments. But a row of the rest is
ranked among all rows already, and a segment changes that rank by a step function with as many steps as it has scores.
So sums over the rest are sums over all rows, known once, corrected at the scores of the segment.
"""

import math
from dataclasses import dataclass

import numpy as np

from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.areas import placement_error


@dataclass(frozen=True, eq=False)
class _Ranked:
    """One class among the other one, at ascending scores: how many of the other class lie below each row (ties half).

    ``rows_before`` and ``below_before`` are sums over this class at all lower scores: rows, and what lies below them.
    """

    rows: Array
    below: Array
    rows_before: Array
    below_before: Array
    squares: float

    @classmethod
    def of(cls, rows: Array, others: Array) -> "_Ranked":
        below = np.cumsum(others) - others / 2
        sums = [np.concatenate([[0.0], np.cumsum(column)]) for column in (rows, rows * below)]
        return cls(rows, below, sums[0], sums[1], float((rows * below**2).sum()))

    def without(self, places: Array, rows: Array, others: Array) -> tuple[float, float]:
        """Sum what lies below each row, and its square, over the rows that are not in the segment.

        ``places`` are where the segment's scores lie; it has that many ``rows`` and ``others`` there.
        """
        reached = np.cumsum(others)
        ends = np.append(places[1:], len(self.rows))
        # the steps of what the segment has below: at its own scores, and between each and the next one
        steps = np.concatenate([reached - others / 2, reached])
        count = np.concatenate([self.rows[places], self.rows_before[ends] - self.rows_before[places + 1]])
        below = np.concatenate(
            [(self.rows * self.below)[places], self.below_before[ends] - self.below_before[places + 1]]
        )
        first = self.below_before[-1] - float(steps @ count)
        second = self.squares - 2 * float(steps @ below) + float(steps**2 @ count)
        own = self.below[places] - steps[: len(places)]
        return first - float(rows @ own), second - float(rows @ own**2)


class RestAreas:
    """The auc of the rest of each segment, and its standard error by DeLong."""

    def __init__(self, whole: ScoreTable) -> None:
        columns = whole.as_columns()
        self.scores = columns.scores[::-1]
        self.P, self.N = float(whole.P), float(whole.N)
        positives, negatives = (columns.values[name][::-1].astype(np.float64) for name in ("positives", "negatives"))
        self.positives = _Ranked.of(positives, negatives)
        # what lies above a negative lies below it when the order is turned around
        self.negatives = _Ranked.of(negatives[::-1], positives[::-1])

    def without(self, segment: ScoreTable) -> tuple[float, float]:
        """Return the auc of the rest and its standard error; NaN where a class has fewer than two rows left."""
        columns = segment.as_columns()
        places = np.searchsorted(self.scores, columns.scores[::-1])
        mine, theirs = (columns.values[name][::-1].astype(np.float64) for name in ("positives", "negatives"))
        P, N = self.P - mine.sum(), self.N - theirs.sum()
        if min(P, N) < 2:
            return math.nan, math.nan
        first, squares = self.positives.without(places, mine, theirs)
        turned = len(self.scores) - 1 - places[::-1]
        _, others = self.negatives.without(turned, theirs[::-1], mine[::-1])
        auc = first / (P * N)
        return auc, placement_error(auc, P, N, squares, others)
