"""Packs scores and labels into keys, which are sorted and folded on their device.

The keys are those of ``tallies/keys.py`` with the highest bit flipped, so that signed numbers sort alike. Rows of one
class at one score are a *run* of equal keys: only the ends of runs are computed row by row, and 32-bit scores of very
many rows have few of them. Within a score the positives come first, so a score has at most two runs.
"""

from dataclasses import dataclass

import numpy as np

from stakes.engines.tensors.arrays import Tensor
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.tallies.grid import Grid
from stakes.tallies.keys import FLOAT32, FLOAT64, SIGNED, Keys, Layout, SignedLayout
from stakes.tallies.losses import SHAPE
from stakes.tallies.operations import ArrayOperations, Kind
from stakes.tallies.order import Order
from stakes.tallies.scores import ScoreTable

BLOCK = 1 << 27
"""Rows per block: few enough that temporaries are small compared with the keys."""

NOBODY = -(1 << 62)
"""A truth that no row has."""

_MIDDLE = 1 << 62
_SCALE = 2.0**-512
_HIGHEST = {"int32": (1 << 31) - 1, "int64": (1 << 63) - 1}


@dataclass(frozen=True, eq=False)
class SortedKeys:
    """Sorted keys on the device of the rows, their layout, and the number of positive rows."""

    operations: ArrayOperations
    layout: Layout
    values: Tensor
    positives: int

    @property
    def _highest(self) -> int:
        return _HIGHEST[self.operations.kind(self.values)]

    def at_home(self) -> Keys:
        """The same keys in memory, like those of rows in memory."""
        flipped = self.values ^ (-self._highest - 1)  # the highest bit, flipped on the device, which is faster
        return Keys(self.layout, self.operations.home(flipped).view(self.layout.key))

    def unpack(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """The ordered bits of scores, and a mask of positive rows."""
        packed = keys ^ self._highest
        return (packed >> 1) & self._highest, (packed & 1) == 1

    def scores(self, bits: Tensor) -> Tensor:
        """The scores of ordered bits, as float64."""
        ops = self.operations
        if not isinstance(self.layout, SignedLayout):
            return ops.cast(ops.floats(bits), "float64")
        size = ops.floats(abs(bits - _MIDDLE)) * (1 / _SCALE)
        return ops.where(bits < _MIDDLE, -size, size)


def fit_into_keys(operations: ArrayOperations, scores: Tensor, span: tuple[float, float]) -> bool:
    """Whether scores fit into keys with a label: float64 of both signs only if their sizes are ordinary."""
    if span[0] >= 0 or operations.kind(scores) == "float32":
        return True
    if max(map(abs, span)) >= 2.0**512:
        return False
    blocks = (abs(scores[start : start + BLOCK]) for start in range(0, len(scores), BLOCK))
    return not any(bool(((size > 0) & (size < 2.0**-510)).any()) for size in blocks)


def sort_scores(
    operations: ArrayOperations, scores: Tensor, truth: Tensor, positive: int | None, span: tuple[float, float],
    positives: int | None = None,
) -> SortedKeys:  # fmt: skip
    """Pack and sort scores that fit (float32 or float64, within ``span``); rows with this truth are positive.

    If their number is known (``positives``), the device need not count them first.
    """
    ops, narrow = operations, operations.kind(scores) == "float32"
    layout = (FLOAT32 if narrow else FLOAT64) if span[0] >= 0 else SIGNED
    kind: Kind = "int32" if layout is FLOAT32 else "int64"
    values = ops.empty(len(scores), scores, kind)
    count = _pack(ops, scores, truth, positive, values, kind, layout is SIGNED)
    return SortedKeys(ops, layout, ops.sort(values), int(ops.home(count)[0]) if positives is None else positives)


def _pack(
    ops: ArrayOperations, scores: Tensor, truth: Tensor, positive: int | None, values: Tensor, kind: Kind, signed: bool
) -> Tensor:
    """Write keys into ``values``, and return the number of positive rows."""
    count = ops.zeros(1, scores, "int64")
    of = NOBODY if positive is None else positive
    if not signed and ops.by_kernel(
        "pack_keys", len(scores), scores=scores, truth=truth, positive=of, keys=values, into=count
    ):
        return count
    for start in range(0, len(scores), BLOCK):
        here = slice(start, start + BLOCK)
        bits = _signed_bits(ops, scores[here]) if signed else ops.bits(scores[here] + 0.0)  # no −0.0
        labels = truth[here] != truth[here] if positive is None else truth[here] == positive
        count += ops.total(labels)
        values[here] = ((bits << 1) | ops.cast(labels, kind)) ^ _HIGHEST[kind]
    return count


def _signed_bits(ops: ArrayOperations, scores: Tensor) -> Tensor:
    """Mirror negative scores below the middle."""
    wide = ops.cast(scores, "float64")
    bits = ops.bits(abs(wide) * _SCALE)
    return ops.where(wide < 0, _MIDDLE - bits, _MIDDLE + bits)


def sum_losses(ops: ArrayOperations, scores: Tensor, positive: Tensor, weight: Tensor | None) -> list[Tensor]:
    """Squares of positives and of negatives, then the surprise of both (``tallies/losses.py``)."""
    squares = ops.where(positive, (1.0 - scores) ** 2, scores**2)
    surprise = 0.0 - ops.where(positive, ops.log(scores), ops.log1p(-scores))
    losses = [loss if weight is None else loss * weight for loss in (squares, surprise)]
    parts = ((ops.where(positive, loss, 0.0), ops.where(positive, 0.0, loss)) for loss in losses)
    return [ops.total(part) for pair in parts for part in pair]


# ── the fold ─────────────────────────────────────────────────────────────────────────────────────────────────────
def fold(keys: SortedKeys, pair: tuple[str, str], span: tuple[float, float]) -> ScoreTable:
    """Return the table of all rows in bins, with the sums over the order of scores and over losses."""
    folding = _Folding(keys, "probability" if span[0] >= 0 and span[1] <= 1 else "line")
    for start in range(0, len(keys.values), BLOCK):
        folding.walk(start, min(start + BLOCK, len(keys.values)))
    return folding.table(pair)


class _Folding:
    """Sums over the runs of sorted keys, block by block; a score belongs to the block in which its last run ends."""

    def __init__(self, keys: SortedKeys, grid: str) -> None:
        self.keys, self.grid = keys, grid
        self._held: list[Tensor] = []
        self._rows = self._found = keys.operations.zeros(1, keys.values, "int64")  # rows and positives before the block
        self._whole: list[Tensor] = []
        self._sums: list[Tensor] = []
        self._bins: list[Array] = []

    def walk(self, start: int, stop: int) -> None:
        """Find the runs that end in a block, and fold those whose scores are complete."""
        ops, values = self.keys.operations, self.keys.values
        block = values[start : stop + 1]
        ends = ops.places(block[1:] != block[:-1]) + (start + 1)
        last = stop == len(values)
        ends = ops.joined([*self._held, ends, *([ops.numbers(stop, stop + 1, values)] if last else [])])
        self._held = []
        if len(ends) and not last:  # the other run of the last score may end in the next block
            bits, _ = self.keys.unpack(values[ends[-2:] - 1])
            held = 2 if len(ends) > 1 and bool(bits[-1] == bits[0]) else 1
            self._held = [ends[-held:]]
            ends = ends[:-held]
        if len(ends):
            tp, last_of_bin = self._by_kernel(ends) or self._fold(ends)
            self._keep_bins(ends, tp, last_of_bin)
            self._rows, self._found = ends[-1:], tp[-1:]

    def _by_kernel(self, ends: Tensor) -> tuple[Tensor, Tensor] | None:
        """Fold runs in two passes of a kernel; None if there is none."""
        ops, keys, like = self.keys.operations, self.keys.values, ends
        if isinstance(self.keys.layout, SignedLayout):
            return None
        runs, positives = len(ends), ops.empty(len(ends), like, "int64")
        if not ops.by_kernel("sizes_of_runs", runs, keys=keys, ends=ends, before=self._rows, positives=positives):
            return None
        tp = ops.cumulated(positives) + self._found[0]
        whole, sums = ops.zeros(2, like, "int64"), ops.zeros(5, like, "float64")
        whole[1:] = -_HIGHEST["int64"]
        last = ops.empty(runs, like, "bool")
        half = bins.start(self.grid) if self.grid == "probability" else 0
        ops.by_kernel(
            "fold_runs", runs, keys=keys, ends=ends, tp=tp, before=self._rows, all=len(keys), P=self.keys.positives,
            half=half, whole=whole, sums=sums, last=last,
        )  # fmt: skip
        self._whole.append(whole)
        self._sums.append(sums if half else sums[:1])
        return tp, ops.places(last)

    def _fold(self, ends: Tensor) -> tuple[Tensor, Tensor]:
        """Fold runs; return the positives up to the end of each, and the indices of the last runs of bins."""
        ops, P, n = self.keys.operations, self.keys.positives, len(self.keys.values)
        bits, positive = self.keys.unpack(self.keys.values[ends - 1])
        rows = ends - self._rows[0]
        rows[1:] = ends[1:] - ends[:-1]
        mine = ops.where(positive, rows, 0)
        tp = ops.cumulated(mine) + self._found[0]
        tied = ops.where(positive, 0, rows)  # the negatives of the next run, if it has the score of a run of positives
        tied[:-1] = ops.where(bits[1:] == bits[:-1], tied[1:], 0)
        tied[-1:] = 0
        above = ends - tp  # negatives above a run of positives, and those up to a run of negatives
        reached = above + tied
        wins = ops.total(mine * (2 * ((n - P) - above) - tied))
        self._whole.append(ops.stacked([wins, (tp * (n - P) - reached * P).max()]))
        precision = ops.cast(mine * tp, "float64") / ops.cast(tp + reached, "float64")
        scores = self.keys.scores(bits)
        losses = sum_losses(ops, scores, positive, ops.cast(rows, "float64")) if self.grid == "probability" else []
        self._sums.append(ops.stacked([ops.total(precision), *losses]))
        numbers = bins.numbers(scores, self.grid, xp=ops.xp)
        end = ops.numbers(len(ends) - 1, len(ends), ends)
        return tp, ops.joined([ops.places(numbers[1:] != numbers[:-1]), end])

    def _keep_bins(self, ends: Tensor, tp: Tensor, last: Tensor) -> None:
        """Copy the bins of a block, made of the rows and positives up to the end of their last runs."""
        ops = self.keys.operations
        bits, _ = self.keys.unpack(self.keys.values[ends[last] - 1])
        numbers = bins.numbers(self.keys.scores(bits), self.grid, xp=ops.xp)
        edges = ops.bits(bins.edges(numbers, self.grid, xp=ops.xp))
        positives, rows = tp[last] - self._found, ends[last] - self._rows
        positives[1:], rows[1:] = positives[1:] - positives[:-1], rows[1:] - rows[:-1]
        self._bins.append(ops.home(ops.joined([edges, positives, rows - positives])).reshape(3, -1))

    def table(self, pair: tuple[str, str]) -> ScoreTable:
        """The score table of the folded runs."""
        ops = self.keys.operations
        whole, sums = ops.home(ops.stacked(self._whole)).tolist(), ops.home(ops.stacked(self._sums))
        single = len(self._bins) == 1
        edges, positives, negatives = self._bins[0] if single else np.concatenate(self._bins, axis=1)
        joined = Columns if single else Columns.joined_neighbours  # a bin can end in the next block
        columns = joined(edges.view(np.float64), {"positives": positives, "negatives": negatives})
        added = sums.astype(np.longdouble).sum(0).astype(np.float64)
        order = Order(sum(wins for wins, _ in whole), float(added[0]), max(gap for _, gap in whole))
        losses = added[1:].reshape(SHAPE) if self.grid == "probability" else None
        return ScoreTable(*pair, columns, Grid(self.grid), losses, order)
