"""Scores of several classes against the truth, added up block by block: of rows in memory, batches and tensors."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.tallies.bayes import ROUNDING
from stakes.tallies.losses import SURPRISE, sum_of_logs, sum_of_squares
from stakes.tallies.operations import ArrayOperations, Tensor

MOMENTS = (2, 5)
"""Of each class and two losses (surprise, squared distance): Σw·loss, Σw², Σw²·loss, Σw²·loss² and Σw²·loss³."""

_BLOCK = 1 << 18
"""Scores that are worked on at a time, with those of all classes of a row: they stay in the processor's cache."""


class Span(NamedTuple):
    """The lowest and the highest score, and whether those of every row add up to 1."""

    low: float
    high: float
    even: bool

    @classmethod
    def of(cls, scores: Array) -> "Span":
        """Look at scores of row × class, block by block; the ends are NaN if a score is."""
        rows, ones = rows_in_block(scores.shape[1]), np.ones(scores.shape[1], scores.dtype)
        blocks = [scores[start : start + rows] for start in range(0, len(scores), rows)]
        seen = np.array([(b.min(), b.max(), np.abs(b @ ones - 1).max()) for b in blocks]).reshape(-1, 3)
        low, high = seen[:, 0].min(initial=np.inf), seen[:, 1].max(initial=-np.inf)
        return cls(float(low), float(high), bool((seen[:, 2] <= ROUNDING).all()))

    @property
    def probabilities(self) -> bool:
        """Whether every score lies in [0, 1], and those of a row add up to 1."""
        return self.even and self.low >= 0 and self.high <= 1


def rows_in_block(k: int) -> int:
    """How many rows of so many classes are worked on at a time."""
    return max(_BLOCK // max(k, 16), 1)  # columns of more rows are slower to allocate


class BlockSums:
    """Sums by segment and class, in extended precision: those of billions of rows must not drift.

    What is added up besides the rows is asked for by ``parts``: ``ranks`` and ``losses``, and of these also ``squares``
    (squared distances), all ``moments``, what scores cost the ``rest`` of the rows, ``ranked`` losses, and the
    probabilities that each class was ``given``.
    """

    def __init__(self, k: int, parts: Collection[str], operations: ArrayOperations | None = None) -> None:
        self._k, self._parts, self._ops = k, parts, operations or ArrayOperations()
        self.rows = rows_in_block(k)
        self._rooms = [np.empty(0), np.empty(0)]
        self.improper: Array = np.zeros(1, np.int64)
        self.sizes, self.squares, self.ranks, self.ranked, self.own_squares = np.zeros((5, 1, k), np.longdouble)
        self.moments: Array = np.zeros((1, k, *MOMENTS), np.longdouble)
        self.others: Array = np.zeros((1, k, 2), np.longdouble)
        self.given: Array = np.zeros((1, k if "given" in parts else 0, k), np.longdouble)  # of each class, to each

    @classmethod
    def joined(cls, parts: Sequence["BlockSums"]) -> "BlockSums":
        """The sums of several parts, which know the same segments."""
        first = parts[0]
        whole = cls(first._k, first._parts, first._ops)
        for name in whole._sums():
            setattr(whole, name, sum(getattr(part, name) for part in parts))
        return whole

    def _sums(self) -> list[str]:
        return [name for name, array in vars(self).items() if isinstance(array, np.ndarray)]

    def grow(self, segments: int) -> None:
        """Make room for this many segments."""
        for name in self._sums():
            array = getattr(self, name)
            if len(array) < segments:
                setattr(self, name, np.pad(array, [(0, segments - len(array)), *[(0, 0)] * (array.ndim - 1)]))

    def room(self, rows: int, which: int = 0) -> Array:
        """One of two buffers for a block; allocating one for each would take as long as filling it."""
        size = self._k * rows
        if len(self._rooms[which]) < size:
            self._rooms[which] = np.empty(size)
        return self._rooms[which][:size].reshape(self._k, rows)

    def add(
        self, scores: Tensor, truth: Tensor, weight: Tensor | None = None, segment: Tensor = 0,
        improper: Tensor | None = None,
    ) -> list[Tensor]:  # fmt: skip
        """Add a block of scores, class × row, which may be changed; return the ranks of true classes, and losses.

        ``improper`` says which rows are no probabilities (1), where there are any.
        """
        ops, parts = self._ops, self._parts
        truth = ops.cast(truth, "int64")
        flat, places = self._places(scores, truth)
        cells, own = self._cells(segment, truth), ops.cast(flat[places], "float64")
        self._into(self.sizes, cells, weight)
        if weight is not None:
            self._into(self.squares, cells, weight**2)
        found = []
        if "ranks" in parts:
            found.append(self._ranks(scores, own, truth))
            self._into(self.ranks, self._cells(segment, found[0]), weight)
        if improper is not None:
            self._into(self.improper, segment, improper)
            scores, own = ops.xp.clip(scores, 0, 1), ops.xp.clip(own, 0, 1)  # what such rows lose nobody asks
        if "losses" not in parts:
            return found
        if "ranked" in parts:
            self._into(self.ranked, cells, ranked_losses(truth, scores.T), weight)
        return found + self._add_losses(scores, own, places, cells, weight, segment)

    def _places(self, scores: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
        """All scores one after the other, as they lie, and where those of the true classes are."""
        k, rows = scores.shape
        numbers = self._ops.numbers(0, rows, truth)
        if self._ops.xp is np and scores.flags.f_contiguous:
            return scores.T.reshape(-1), numbers * k + truth
        return scores.reshape(-1), truth * rows + numbers

    def _cells(self, segment: Tensor, codes: Tensor) -> Tensor:
        """Where numbers from 0 to that of the classes are added up, segment by segment."""
        return codes if len(self.sizes) == 1 else segment * self._k + codes

    def _ranks(self, scores: Tensor, own: Tensor, truth: Tensor) -> Tensor:
        """How many classes go before the true one in each row."""
        ops = self._ops
        rank, equal = ops.column_counts(scores > own), scores == own
        tied = ops.places(ops.column_counts(equal) > 1)
        if len(tied):
            before = ops.numbers(0, self._k, truth)[:, None] < truth[tied]
            rank[tied] += ops.column_counts(equal[:, tied] & before)
        return rank

    def _into(self, sums: Array, cells: Tensor, values: Tensor | None, weight: Tensor | None = None) -> None:
        values = values if weight is None else values * weight
        added = self._ops.home(self._ops.count(cells, sums.size, values))
        sums += added.reshape(sums.shape).astype(sums.dtype, copy=False)

    def _add_losses(
        self, scores: Tensor, own: Tensor, places: Tensor, cells: Tensor, weight: Tensor | None,
        segment: Tensor,
    ) -> list[Tensor]:  # fmt: skip
        ops, parts = self._ops, self._parts
        losses = [0.0 - ops.log(own)]  # a probability of 0 for what happened is infinitely surprising
        if "given" in parts:
            for place, column in enumerate(scores):
                self._into(self.given[:, place], cells, column, weight)
        if "squares" in parts:
            missed = (1.0 - own) ** 2
            scores.reshape(-1)[places] = 0.0  # those of the other classes are left
            losses.append(ops.xp.einsum("ij,ij->j", scores, scores) + missed)
            if "rest" in parts:
                self._into(self.own_squares, cells, missed, weight)
                self._add_others(scores, segment, weight)
        self._add_moments(cells, losses, weight)
        return losses

    def _add_moments(self, cells: Tensor, losses: list[Tensor], weight: Tensor | None) -> None:
        for place, loss in enumerate(losses):
            self._into(self.moments[..., place, 0], cells, loss, weight)
            if "moments" in self._parts:
                squared = loss if weight is None else loss * weight**2
                for power, values in enumerate((squared, squared * loss, squared * loss * loss), 2):
                    if weight is not None or power > 2:
                        self._into(self.moments[..., place, power], cells, values)

    def all_moments(self) -> Array:
        """The moments, with those that are the same where rows have no weights."""
        moments = self.moments.copy()
        weighted = bool(self.squares.any())
        moments[..., 1] = (self.squares if weighted else self.sizes)[..., None]
        if not weighted:
            moments[..., 2] = moments[..., 0]
        return moments

    def _add_others(self, others: Tensor, segment: Tensor, weight: Tensor | None) -> None:
        """What the score of each class costs the rows of other classes; those of its own were put to 0."""
        ops = self._ops
        if weight is None and len(self.others) == 1:
            if ops.xp is np:
                self.others[0, :, 1] += sum_of_squares(others)
                rest = np.subtract(1.0, others, out=self.room(others.shape[1], 1))
                self.others[0, :, 0] += sum_of_logs(rest, lambda rows: SURPRISE.of_negative(others[rows]))
            else:
                self.others[0, :, 1] += ops.home(ops.xp.einsum("ij,ij->i", others, others))
                self.others[0, :, 0] += ops.home((0.0 - ops.log1p(-others)).sum(1))
            return
        for place, other in enumerate(others):
            for loss, lost in enumerate((0.0 - ops.log1p(-other), other**2)):
                self._into(self.others[:, place, loss], segment, lost, weight)


def ranked_losses(truth: Array, scores: Array) -> Array:
    """The sum over grades of squared distances of P(grade or lower) from whether the truth is that or lower."""
    reached = lost = np.zeros(scores.shape[:-1])
    for grade in range(scores.shape[-1] - 1):
        reached = reached + scores[..., grade]
        lost = lost + (reached - (np.asarray(truth) <= grade)) ** 2
    return lost
