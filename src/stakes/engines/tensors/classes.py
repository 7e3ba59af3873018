"""Scores of several classes on a device: decisions, ranks, losses and bins are computed there.

Sums by class, bins, and a uniform sample of the rows for intervals are copied (``engines/classes/sums.py``).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stakes.engines.classes.batches import ClassBatch, ClassStream
from stakes.engines.classes.sums import any_scores, is_of
from stakes.engines.columns import in_order
from stakes.engines.labels import Labels
from stakes.engines.lazy.groups import count_as_rows
from stakes.engines.memory import Rows, table_of
from stakes.engines.plan import Counted, Plan
from stakes.engines.reading import RowQuestion
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.operations import operations_on, refuse_infinite_tensor
from stakes.tallies.arithmetic import Array
from stakes.tallies.class_scores import SAMPLE, ClassSample
from stakes.tallies.operations import ArrayOperations

BLOCK = 1 << 24
"""Scores (rows × classes) per block."""

_FEWEST, _MOST = 3, 50
"""Numbers of classes that are counted here: two are counted by one score, and for more the rows are copied."""


def count_class_tensors(columns: Mapping[str, Tensor], asked: RowQuestion) -> Counted | None:
    """Count class scores on their device; None if they have to be copied.

    Classes are whole numbers from 0 on, which all occur or are declared.
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
    """A column of truths, as numbers of classes, and a column of scores for each class."""

    operations: ArrayOperations
    truth: Tensor
    scores: Tensor
    logits: bool

    @property
    def _k(self) -> int:
        return int(self.scores.shape[1])

    def countable(self, declared: bool) -> bool:
        """Whether truths are numbers of classes, and scores are numbers; scores that are not finite are refused."""
        ops = self.operations
        if not ops.kind(self.truth).startswith(("int", "uint8")) or not ops.kind(self.scores).startswith("float"):
            return False
        low, high = ops.ends(self.truth)
        if low < 0 or high >= self._k or not (declared or (self._sizes > 0).all()):
            return False
        if not math.isfinite(sum(ops.ends(self.scores))):
            missing, endless = (self.scores != self.scores).any(1), (abs(self.scores) == math.inf).any(1)
            fault = ops.where(missing, math.nan, ops.where(endless, math.inf, 0.0))
            refuse_infinite_tensor(ops, fault, "score")
        return True

    @cached_property
    def _sizes(self) -> Array:
        return self.operations.home(self.operations.count(self.operations.cast(self.truth, "int64"), self._k))

    def _blocks(self) -> Iterator[tuple[Tensor, Tensor, int]]:
        """Truths as int64, probabilities (or scores) in 64 bits, and the start of each block."""
        ops, rows = self.operations, max(BLOCK // self._k, 1)
        for start in range(0, len(self.truth), rows):
            here = slice(start, start + rows)
            scores = ops.cast(self.scores[here], "float64")
            yield ops.cast(self.truth[here], "int64"), ops.softmax(scores) if self.logits else scores, start

    def count(self, asked: RowQuestion) -> Counted | None:
        """Sum all blocks, and make tallies of the sums."""
        ops, k, classes = self.operations, self._k, tuple(map(str, range(self._k)))
        stream, table = ClassStream(classes, None, ops), np.zeros(k * k, np.int64)
        for truth, scores, start in self._blocks():
            numbers = range(start, start + len(truth))
            best, *_ = stream.count(ClassBatch(scores.T, truth, 0 * truth, None, numbers))
            table += ops.home(ops.count(truth * k + best, k * k))

        def counted(plan: Plan, rows: Rows, by: Labels | None) -> Counted | None:
            if not is_of(plan, classes):
                return None
            stream.oddities.tell(asked, "score")
            confusion = table_of(plan, table.reshape(k, k))
            decided = Counted("classification", {"confusion": confusion}, read=len(self.truth))
            return stream.result([""], self._sample()).added_to(decided, "score")

        given = replace(asked, classes=list(classes), score=None, from_logits=False)
        present = {"truth": np.flatnonzero(self._sizes), "score": any_scores(classes, int((self._sizes > 0).sum()))}
        return count_as_rows(given, present, None, counted)

    def _sample(self) -> ClassSample:
        """A uniform sample of rows, copied from the device."""
        ops, n = self.operations, len(self.truth)
        rows = np.sort(np.random.default_rng(0).choice(n, min(SAMPLE, n), replace=False, shuffle=False))
        places = ops.given(rows, self.truth)
        scores, truth = ops.cast(self.scores[places], "float64"), ops.cast(self.truth[places], "int64")
        share = np.full(len(rows), n / len(rows))
        scores = ops.softmax(scores) if self.logits else scores
        return ClassSample(ops.home(scores), ops.home(truth), share, share)
