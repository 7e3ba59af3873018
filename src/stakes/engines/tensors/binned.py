"""Counts probabilities directly into the bins of the fixed grid, on their device and without sorting.

A table of all bins would be long, since they grow finer towards 0 and 1 for as long as floats do. Below 2⁻³² and above
1 − 2⁻³² bins are merged, except for 0 and 1 themselves; a table only says so if they are not empty.
"""

import numpy as np

from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.ordered import NOBODY, sum_losses
from stakes.tallies import bins
from stakes.tallies.columns import Columns
from stakes.tallies.grid import Grid
from stakes.tallies.losses import SHAPE
from stakes.tallies.operations import ArrayOperations, Kind
from stakes.tallies.scores import ScoreTable

BLOCK = 1 << 24
"""Rows per block, whose temporaries take some hundred megabytes."""

_HALF = bins.start("probability")
_LEAST = int(bins.numbers(np.array([2.0**-32]), "probability")[0])
"""The first bin that is not merged."""

PLACES = 2 * (_HALF - _LEAST) + 5
"""Number of places: 0, the merged bins above it, the bins, the merged bins below 1, and 1."""


class BinCounts:
    """Running counts of negatives and positives in each bin, and their losses.

    ``sums`` are the squares of positives and of negatives, then the surprise of both (``tallies/losses.py``). With
    weights the counts are sums of weights, and ``squared`` sums of their squares.
    """

    def __init__(self, operations: ArrayOperations, like: Tensor, weighted: bool = False) -> None:
        self.operations = operations
        kind: Kind = "float64" if weighted else "int64"
        self.counts = operations.zeros(2 * PLACES, like, kind)
        self.squared = operations.zeros(2 * PLACES, like, kind) if weighted else None
        self.sums = operations.zeros(4, like, "float64")

    def add(self, scores: Tensor, truth: Tensor, positive: int | None, weight: Tensor | None = None) -> None:
        """Count probabilities; rows with this truth are positive. Does not wait for the device."""
        by_kernel = weight is None and len(scores) < 1 << 31 and self._by_kernel(scores, truth, positive)
        for start in range(0, 0 if by_kernel else len(scores), BLOCK):
            here = slice(start, start + BLOCK)
            labels = truth[here] != truth[here] if positive is None else truth[here] == positive
            self._add(scores[here], labels, None if weight is None else weight[here])

    def _by_kernel(self, scores: Tensor, truth: Tensor, positive: int | None) -> bool:
        counts = self.operations.zeros(2 * PLACES, scores, "int32")  # a GPU counts faster in 32 bits than in 64
        done = self.operations.by_kernel(
            "count_bins", len(scores), scores=scores, truth=truth, positive=NOBODY if positive is None else positive,
            least=_LEAST, half=_HALF, places=PLACES, counts=counts, sums=self.sums,
        )  # fmt: skip
        if done:
            self.counts += counts
        return done

    def _add(self, scores: Tensor, positive: Tensor, weight: Tensor | None) -> None:
        ops = self.operations
        scores = ops.cast(scores, "float64")
        numbers = bins.numbers(scores, "probability", xp=ops.xp)
        places = ops.xp.clip(numbers, _LEAST - 1, 2 * _HALF - _LEAST + 1) - (_LEAST - 2)
        places = ops.where(numbers == 0, 0, ops.where(numbers == 2 * _HALF, PLACES - 1, places))
        codes = places + ops.where(positive, PLACES, 0)
        if self.squared is None or weight is None:
            ops.add_counts(self.counts, codes)
        else:
            weight = ops.cast(weight, "float64")
            self.counts += ops.count(codes, 2 * PLACES, weight)
            self.squared += ops.count(codes, 2 * PLACES, weight * weight)
        self.sums += ops.stacked(sum_losses(ops, scores, positive, weight))

    def table(self, pair: tuple[str, str]) -> ScoreTable:
        """The score table of the counts."""
        return table_of_bins(self.operations, self.counts, self.sums, pair, self.squared)


def table_of_bins(
    operations: ArrayOperations, counts: Tensor, sums: Tensor, pair: tuple[str, str], squared: Tensor | None = None
) -> ScoreTable:
    """The score table of counts by place, negatives first; only bins that are not empty are copied.

    For sums of weights, ``squared`` are the sums of their squares.
    """
    ops, (negatives, positives) = operations, counts.reshape(2, -1)
    here = ops.places((negatives > 0) | (positives > 0))
    numbers = ops.where(here == 0, 0, ops.where(here == PLACES - 1, 2 * _HALF, here + (_LEAST - 2)))
    edges = bins.edges(ops.where(here == 1, 1, numbers), "probability", xp=ops.xp)
    columns = [negatives, positives, *([] if squared is None else squared.reshape(2, -1))]
    names = ("negatives", "positives", "negatives_squared", "positives_squared")
    values = {name: ops.home(one[here])[::-1] for name, one in zip(names, columns, strict=False)}
    below, above = (int(ops.home((here == place).sum())) for place in (1, PLACES - 2))
    ranges = [*[[1, _LEAST]] * below, *[[2 * _HALF - _LEAST + 1, 2 * _HALF]] * above]
    grid = Grid("probability", np.array(ranges, np.int64).reshape(-1, 2))
    return ScoreTable(*pair, Columns(ops.home(edges)[::-1], values), grid, ops.home(sums).reshape(SHAPE))
