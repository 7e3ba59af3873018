"""Scores of several classes where they lie: decisions, ranks, losses and bins are worked out there.

What comes home are sums by class, bins, and an even sample of the rows for intervals (``engines/class_sums.py``).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stakes.engines.binning import Binned
from stakes.engines.class_sums import ClassSums, Oddities, any_scores, is_of, losses_against_rest, pair_bits
from stakes.engines.columns import in_order
from stakes.engines.groups import count_as_rows
from stakes.engines.labels import Labels
from stakes.engines.memory import Rows, table_of
from stakes.engines.plan import Counted, Plan
from stakes.engines.reading import RowQuestion
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.faults import refuse_infinite_tensor
from stakes.engines.tensors.operations import ArrayOperations, operations_on
from stakes.engines.tensors.ordered import bin_numbers
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.bayes import ROUNDING
from stakes.tallies.class_scores import MOMENTS, SAMPLE, ClassSample

BLOCK = 1 << 24
"""Scores (rows × classes) handled at a time."""

_FEWEST, _MOST = 3, 50
"""Of two classes one decides; more than so many have no intervals, and their rows come here."""


def count_class_tensors(columns: Mapping[str, Tensor], asked: RowQuestion) -> Counted | None:
    """Count class scores where they are; None where they have to be looked at here.

    Classes are whole numbers from 0 on, all of which occur, or are declared.
    """
    k = columns["score"].shape[1]
    declared = range(k) if asked.classes is None else in_order(asked.classes)
    plain = asked.pricing is None and asked.threshold is None and list(declared) == list(range(k))
    if set(columns) != {"truth", "score"} or not plain or not _FEWEST <= k <= _MOST:
        return None
    counting = TensorClasses(operations_on(columns["score"]), columns["truth"], columns["score"], asked.from_logits)
    if not counting.countable(asked.classes is not None):
        return None
    return counting.count(asked)


@dataclass(frozen=True, eq=False)
class TensorClasses:
    """A column of truths, which number the classes, and a column of scores for each class."""

    operations: ArrayOperations
    truth: Tensor
    scores: Tensor
    logits: bool

    @property
    def _k(self) -> int:
        return int(self.scores.shape[1])

    def countable(self, declared: bool) -> bool:
        """Whether truths number the classes, and scores are finite, which is refused otherwise."""
        ops = self.operations
        if not ops.kind(self.truth).startswith(("int", "uint8")) or not ops.kind(self.scores).startswith("float"):
            return False
        low, high = ops.ends(self.truth)
        if low < 0 or high >= self._k or not (declared or (self._sizes > 0).all()):
            return False
        if not math.isfinite(sum(self._raw_span)):
            wrong = ops.any_in_row(self.scores != self.scores), ops.any_in_row(abs(self.scores) == math.inf)
            fault = ops.where(wrong[0], math.nan, ops.where(wrong[1], math.inf, 0.0))
            refuse_infinite_tensor(ops, fault, "score")
        return True

    @cached_property
    def _raw_span(self) -> tuple[float, float]:
        return self.operations.ends(self.scores)

    @property
    def _span(self) -> tuple[float, float]:
        """How far the scores reach, or the probabilities of logits."""
        if not self.logits:
            return self._raw_span
        ends = [self.operations.ends(scores) for _, scores, _ in self._blocks()]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @cached_property
    def _sizes(self) -> Array:
        return self.operations.home(self.operations.count(self.operations.cast(self.truth, "int64"), self._k))

    def _blocks(self) -> Iterator[tuple[Tensor, Tensor, int]]:
        """Truths as int64, probabilities (or scores) in 64 bits, and where the block begins."""
        ops, rows = self.operations, max(BLOCK // self._k, 1)
        for start in range(0, len(self.truth), rows):
            here = slice(start, start + rows)
            scores = ops.cast(self.scores[here], "float64")
            yield ops.cast(self.truth[here], "int64"), ops.softmax(scores) if self.logits else scores, start

    def count(self, asked: RowQuestion) -> Counted | None:
        """Add up all blocks, and make tallies of the sums."""
        classes = tuple(map(str, range(self._k)))
        sums = _Sums(self.operations, self._k, self._span)
        for truth, scores, start in self._blocks():
            sums.add(truth, scores, start)

        def counted(plan: Plan, rows: Rows, by: Labels | None) -> Counted | None:
            if not is_of(plan, classes):
                return None
            sums.oddities(len(self.truth)).tell(asked, "score")
            decided = Counted("classification", {"confusion": table_of(plan, sums.table)}, read=len(self.truth))
            return sums.result(classes, self._sizes, self._sample()).added_to(decided, "score")

        given = replace(asked, classes=list(classes), score=None, from_logits=False)
        present = {"truth": np.flatnonzero(self._sizes), "score": any_scores(classes, int((self._sizes > 0).sum()))}
        return count_as_rows(given, present, None, counted)

    def _sample(self) -> ClassSample:
        """Some rows, all of which had the same chance, brought here."""
        ops, n = self.operations, len(self.truth)
        rows = np.sort(np.random.default_rng(0).choice(n, min(SAMPLE, n), replace=False, shuffle=False))
        places = ops.given(rows, self.truth)
        scores, truth = ops.cast(self.scores[places], "float64"), ops.cast(self.truth[places], "int64")
        share = np.full(len(rows), n / len(rows))
        scores = ops.softmax(scores) if self.logits else scores
        return ClassSample(ops.home(scores), ops.home(truth), share, share)


class _Sums:
    """Sums by class, as ``class_stream.py`` adds them up of rows in memory."""

    def __init__(self, operations: ArrayOperations, k: int, span: tuple[float, float]) -> None:
        self._ops, self._k, self._span = operations, k, span
        self.table: Array = np.zeros((k, k), np.int64)
        self._ranks: Array = np.zeros(k, np.int64)
        self._own: Array = np.zeros((k, 8), np.longdouble)
        self._others: Array = np.zeros((k, 2), np.longdouble)
        self._odd: dict[str, tuple[int, int | None, float]] = {
            "uneven": (0, None, math.nan),
            "outside": (0, None, math.nan),
            "improper": (0, None, math.nan),
        }
        self._binned: list[list[tuple[Array, Array]]] = [[] for _ in range(2 * k)]

    def add(self, truth: Tensor, scores: Tensor, start: int) -> None:
        """Add some rows, which begin at this one."""
        ops, k = self._ops, self._k
        mine = truth[:, None] == ops.numbers(0, k, truth)[None, :]
        own = (scores * mine).sum(1)
        before = ops.numbers(0, k, truth)[None, :] < truth[:, None]
        ahead = (scores > own[:, None]) | ((scores == own[:, None]) & before)
        self._ranks += ops.home(ops.count(ops.row_sums(ahead), k))
        best = ops.first_largest(scores)
        self.table += ops.home(ops.count(truth * k + best, k * k)).reshape(k, k)
        self._look(scores, start)
        self._add_losses(truth, scores if self._grid == "probability" else ops.within(scores, 0, 1), mine)
        for place in range(k):
            column = scores[:, place] + 0.0  # no −0.0
            for width, cells in ((0, ops.cast(mine[:, place], "int64")), (1, truth)):
                self._binned[2 * place + width].append(self._bins(column, cells, (2, k)[width], width))

    def _look(self, scores: Tensor, start: int) -> None:
        """Note rows whose scores are no probabilities."""
        ops, totals = self._ops, scores.sum(1)
        uneven = abs(totals - 1) > ROUNDING
        outside = ops.any_in_row((scores < 0) | (scores > 1))
        for name, wrong in (("uneven", uneven), ("outside", outside), ("improper", uneven | outside)):
            count, row, seen = self._odd[name]
            more = int(ops.total(wrong))
            if more and row is None:
                first = int(ops.places(wrong)[0])
                shown = ops.home(scores[first])
                out = shown[(shown < 0) | (shown > 1)]
                row, seen = start + first, float(out[0]) if name == "outside" else float(totals[first])
            self._odd[name] = count + more, row, seen

    def _add_losses(self, truth: Tensor, scores: Tensor, mine: Tensor) -> None:
        """What rows of each class lose, in powers up to 3, and what the score of a class costs other rows."""
        ops = self._ops
        own, others = (scores * mine).sum(1), scores * ~mine
        missed = (1.0 - own) ** 2
        losses = [0.0 - ops.log(own), (others * others).sum(1) + missed]
        columns = [loss**power for loss in losses for power in (1, 2, 3)]
        for place, column in enumerate([*columns, missed]):
            self._own[:, place] += ops.home(ops.count(truth, self._k, column))
        self._others[:, 0] += ops.home((0.0 - ops.log1p(-others)).sum(0))
        self._others[:, 1] += ops.home((others * others).sum(0))

    def _bins(self, scores: Tensor, cells: Tensor, count: int, width: int) -> tuple[Array, Array]:
        """The bins of a class's scores by cell: bin · cells + cell of each that occurs, and how often."""
        ops = self._ops
        numbers = bin_numbers(ops, scores, self._grid, self._bits[width]) * count + cells
        numbers = ops.sort(numbers)
        ends = ops.joined([ops.places(numbers[1:] != numbers[:-1]), ops.given(np.array([len(numbers) - 1]), numbers)])
        return ops.home(numbers[ends]), np.diff(ops.home(ends), prepend=-1)

    @property
    def _bits(self) -> tuple[int, int]:
        return bins.FINE, pair_bits(self._k)

    @property
    def _grid(self) -> str:
        return "probability" if self._span[0] >= 0 and self._span[1] <= 1 else "line"

    def oddities(self, rows: int) -> Oddities:
        """The rows whose scores are no probabilities."""
        return Oddities(rows, self._span, self._odd["uneven"], self._odd["outside"])

    def result(self, classes: tuple[str, ...], sizes: Array, sample: ClassSample) -> ClassSums:
        """The sums of all rows."""
        moments = np.zeros((self._k, *MOMENTS))
        moments[..., 1] = sizes[:, None]
        for loss in range(2):
            first, second, third = self._own[:, 3 * loss : 3 * loss + 3].T.astype(np.float64)
            moments[:, loss, 0], moments[:, loss, 2], moments[:, loss, 3], moments[:, loss, 4] = (
                first, first, second, third,
            )  # fmt: skip
        lost = losses_against_rest(moments[None], self._own[None, :, 6], self._others[None])
        improper = np.array([self._odd["improper"][0]])
        tables, pairs = ([self._merged(2 * place + width, width) for place in range(self._k)] for width in (0, 1))
        return ClassSums(
            classes, [""], sizes[None], None, self._ranks[None], moments[None], lost, improper, tables, pairs,
            self._span, {None: sample},
        )  # fmt: skip

    def _merged(self, place: int, width: int) -> Binned:
        """The bins of all blocks together, in the order of their cells."""
        parts, count = self._binned[place], (2, self._k)[width]
        codes, where = np.unique(np.concatenate([codes for codes, _ in parts]), return_inverse=True)
        rows = np.bincount(where, np.concatenate([rows for _, rows in parts]), len(codes)).astype(np.int64)
        order = np.lexsort((codes // count, codes % count))
        edges = bins.edges(codes // count, self._grid, self._bits[width])
        return Binned(self._grid, (codes % count)[order], edges[order], rows[order])
