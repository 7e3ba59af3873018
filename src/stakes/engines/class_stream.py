"""Scores of several classes in batches: all that is kept of them are sums, bins, and an even sample of the rows.

The same sums are made of rows that were read from files and of tensors where they lie.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from stakes.engines.binning import BinnedCounts, count_scores
from stakes.engines.cells import Cells, Combination
from stakes.engines.class_sums import MOST_TOGETHER, ClassSums, Oddities, losses_against_rest, pair_bits
from stakes.engines.labels import Labels
from stakes.engines.tensors.arrays import Tensor, Values
from stakes.frozen import replace
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.bayes import ROUNDING
from stakes.tallies.class_blocks import BlockSums
from stakes.tallies.class_scores import SAMPLE, ClassSample
from stakes.tallies.operations import ArrayOperations
from stakes.tallies.parallel import run_all
from stakes.tallies.pricing import Pricing, shares_of

_PARTS = "ranks", "losses", "squares", "moments", "rest"
"""The sums that batches need beside their bins."""

_Noted = tuple[int, int | None, float]
_SAMPLES = 10 * SAMPLE
"""Rows that the samples of all segments have together."""


@dataclass(frozen=True, eq=False)
class ClassBatch:
    """Some rows: a column of scores of each class (of tensors a single table, class × row), code of the true class
    (−1: none with scores), segment, weight and number.
    """

    scores: Sequence[Tensor]
    truth: Tensor
    segment: Tensor
    weight: Tensor | None
    numbers: Values

    def take(self, rows: Array | slice) -> "ClassBatch":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        scores = [column[rows] for column in self.scores]
        numbers = self.numbers[rows] if isinstance(rows, slice) else np.asarray(self.numbers)[rows]
        return ClassBatch(scores, self.truth[rows], self.segment[rows], weight, numbers)

    def scores_of(self, rows: Array | slice) -> Array:
        """The scores of some of the rows, row × class."""
        return np.stack([column[rows] for column in self.scores], axis=1, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class BatchOutcome:
    """What is decided in each row of a batch, and what follows from its scores; nothing does of classes without scores.

    ``ranks`` say how many classes go before the true one, ``losses`` are log loss and squared distance, in blocks.
    """

    decided: Array
    batch: ClassBatch | None = None
    ranks: Array | None = None
    losses: Sequence[Sequence[Array]] = ()


class ClassStream:
    """Batches of class scores, added up by segment and class; tensors have ``operations`` of their own."""

    def __init__(
        self, classes: tuple[str, ...], pricing: Pricing | None, operations: ArrayOperations | None = None
    ) -> None:
        self.classes = classes
        self._pricing, self._elsewhere = pricing, operations is not None
        self._segments = Cells()
        k = len(classes)
        few = k <= MOST_TOGETHER  # scores of more classes are sorted and added up, in tables that would be too long
        self._pairs = [BinnedCounts(pair_bits(k), few and not self._elsewhere, operations) for _ in classes]
        self._tables = [BinnedCounts(bins.FINE, False, operations) for _ in (() if few else classes)]
        self._ops = operations or ArrayOperations()
        self._sums, self._odd = BlockSums(k, _PARTS, self._ops), _OddRows(self._ops)
        self._weighted = False
        self._whole, self._parts = EvenSample(), EvenSample()

    def add(
        self, scores: Sequence[Array], truth: Labels, by: Sequence[Labels], weight: Array | None, numbers: Values
    ) -> BatchOutcome:
        """Count a batch, whose rows have these ``numbers``; return what is decided by the scores, or by the costs."""
        places = {name: place for place, name in enumerate(self.classes)}
        kind = np.int8 if len(places) < 128 else np.int64
        codes: Array = np.array([places.get(name, -1) for name in truth.names], kind)[truth.codes]
        segment = self._segments.of(by).of_rows.astype(np.int64) if by else np.broadcast_to(np.int64(0), len(codes))
        batch = ClassBatch(scores, codes, segment, weight, numbers)
        self._weighted = weight is not None
        if codes.min(initial=0) < 0:  # a class without scores, which is said at the end
            known = np.flatnonzero(codes >= 0)
            decided = np.zeros(len(codes), np.int64)
            decided[known] = self._count(batch.take(known)).decided if len(known) else 0
            return BatchOutcome(decided)
        return self._count(batch)

    def _count(self, batch: ClassBatch) -> BatchOutcome:
        samples = [partial(self._whole.add, batch, np.broadcast_to(np.int64(0), len(batch.truth)), 1)]
        if self._segments.names:
            samples.append(partial(self._parts.add, batch, batch.segment, len(self._segments.names)))
        best, ranks, *losses = self.count(batch, len(self.classes) * len(batch.truth), samples)
        if self._pricing is not None:
            any_shares = shares_of([1] * len(self.classes))  # those of the rows are not asked for
            best = self._pricing.bayes(batch.scores_of(slice(None)), self.classes, None, any_shares)
        return BatchOutcome(best, batch, ranks, losses)

    def count(self, batch: ClassBatch, size: int = 0, samples: Sequence[Callable[[], None]] = ()) -> list[Tensor]:
        """Add up rows of classes that have scores, and take ``samples`` of them beside it.

        Return which has the highest, the rank of the true one, and what rows lose.
        """
        self._sums.grow(len(self._segments.names) or 1)
        tasks: list[Callable[[], Any]] = [partial(self._add_all, batch)]
        tasks += [*samples, *(partial(self._bin, batch, place) for place in range(len(self.classes)))]
        found: list[Tensor] = run_all(tasks, size)[0]
        return found

    def _add_all(self, batch: ClassBatch) -> list[Tensor]:
        """Add a batch; return which class has the highest score in each row, the rank of the true one, and losses.

        Losses, which few ask for, stay in blocks.
        """
        if not isinstance(batch.scores, list):  # a tensor, which lies where there is room for all of it
            return self._add(batch, self._ops.copied(batch.scores))
        sums = self._sums
        blocks = [batch.take(slice(start, start + sums.rows)) for start in range(0, len(batch.truth), sums.rows)]
        tables = (np.stack(block.scores, out=sums.room(len(block.truth))) for block in blocks)
        best, rank, *losses = zip(*map(self._add, blocks, tables), strict=True)
        return [np.concatenate(best), np.concatenate(rank), *losses]

    def _add(self, block: ClassBatch, scores: Tensor) -> list[Tensor]:
        """Add some rows, whose scores (class × row) may be changed."""
        best, improper = self._ops.first_largest(scores), self._odd.look(scores, block.numbers)
        return [best, *self._sums.add(scores, block.truth, block.weight, block.segment, improper)]

    def _bin(self, batch: ClassBatch, place: int) -> None:
        """Count the scores of a class by the true class, and by whether that is it."""
        counters = [(self._pairs[place], self._cells(batch, batch.truth, len(self.classes)))]
        if self._tables:
            own = batch.truth == place
            counters.append(
                (self._tables[place], self._cells(batch, own if self._elsewhere else own.view(np.uint8), 2))
            )
        count_scores(batch.scores[place], counters, batch.weight)

    def _cells(self, batch: ClassBatch, codes: Tensor, count: int) -> Tensor:
        """The cells of rows, of which every segment has so many."""
        return count * batch.segment + codes if self._segments.names else codes

    def segment_of(self, names: Combination) -> int:
        """The number of a segment."""
        return self._segments.of_names(names)

    def result(self, segments: Sequence[str], sample: ClassSample | None = None) -> ClassSums:
        """Return the sums; ``segments`` are the names of the segments by their numbers."""
        sums, count = self._sums, len(segments)
        found = run_all([one.result for one in [*self._pairs, *self._tables]], sys.maxsize)
        samples: dict[int | None, ClassSample] = {None: sample or self._whole.of(0)}
        if self._segments.names:
            samples |= {place: self._parts.of(place) for place in range(count)}
        return ClassSums(
            self.classes,
            segments,
            sums.sizes if self._weighted else sums.sizes.astype(np.int64),
            sums.squares if self._weighted else None,
            sums.ranks,
            sums.all_moments(),
            losses_against_rest(sums.moments, sums.own_squares, sums.others),
            sums.improper,
            found[: len(self._pairs)],
            found[len(self._pairs) :],
            self.oddities.span,
            samples,
        )

    @property
    def oddities(self) -> Oddities:
        """The rows whose scores are no probabilities."""
        return self._odd.found


class _OddRows:
    """Which rows are no probabilities, and how far the scores reach."""

    def __init__(self, operations: ArrayOperations) -> None:
        self._ops, self.found = operations, Oddities(0, (math.inf, -math.inf))

    def look(self, scores: Tensor, numbers: Values) -> Tensor | None:
        """Look at some rows, which have these numbers, and return which are odd (1), if any is."""
        (low, high), before, sums = self._ops.ends(scores), self.found, scores.sum(0)
        span = min(low, before.span[0]), max(high, before.span[1])
        self.found = replace(before, rows=before.rows + len(numbers), span=span)
        uneven = abs(sums - 1) > ROUNDING
        if not bool(uneven.any()) and low >= 0 and high <= 1:
            return None
        wrong = (scores < 0) | (scores > 1)
        outside = wrong.any(0)
        off = self._noted(before.uneven, uneven, numbers, lambda row: sums[row])
        beyond = self._noted(before.outside, outside, numbers, lambda row: scores[:, row][wrong[:, row]][0])
        self.found = replace(self.found, uneven=off, outside=beyond)
        return self._ops.cast(uneven | outside, "float64")

    def _noted(self, before: _Noted, odd: Tensor, numbers: Values, seen: Callable[[int], Tensor]) -> _Noted:
        """How many rows are odd, and the number of the first with what is seen there."""
        rows = self._ops.places(odd)
        if not len(rows) or before[0]:
            return before[0] + len(rows), *before[1:]
        first = int(rows[0])
        return len(rows), int(numbers[first]), float(seen(first))


class EvenSample:
    """Rows of each segment, all of which had the same chance: each draws a number, and the lowest stay."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng(0)
        self._below: Array = np.ones(0)
        self._rows: Array = np.zeros(0, np.int64)
        self._kept: list[tuple[Array, ...]] = []
        self._size = 0

    def add(self, batch: ClassBatch, segment: Array, segments: int) -> None:
        """Draw from a batch."""
        self._below = np.append(self._below, np.ones(segments - len(self._below)))
        self._rows = np.append(self._rows, np.zeros(segments - len(self._rows), np.int64))
        self._rows += np.bincount(segment, minlength=segments) if segments > 1 else len(segment)
        random = self._generator.random(len(segment))
        rows = np.flatnonzero(random < (self._below[segment] if segments > 1 else self._below[0]))
        if segments == 1 and len(rows) > self._most:  # others of this batch are lower
            rows = rows[np.argpartition(random[rows], self._most)[: self._most]]
        unit = np.ones(len(rows)) if batch.weight is None else batch.weight[rows]
        self._kept.append((random[rows], segment[rows], batch.scores_of(rows), batch.truth[rows], unit))
        self._size += len(rows)
        if self._size > 2 * self._most * segments:
            self._thin()

    @property
    def _most(self) -> int:
        """How many rows of a segment stay."""
        return max(min(SAMPLE, _SAMPLES // max(len(self._rows), 1)), 1)

    def _thin(self) -> None:
        """Keep the lowest numbers of each segment."""
        random, segment, *others = (np.concatenate(column) for column in zip(*self._kept, strict=True))
        order = np.lexsort((random, segment))
        starts = np.searchsorted(segment[order], np.arange(len(self._rows)))
        place = np.arange(len(order)) - starts[segment[order]]
        first = order[place == self._most]  # the first of each segment that is left out
        self._below[segment[first]] = random[first]
        stay = order[place < self._most]
        self._kept = [(random[stay], segment[stay], *(column[stay] for column in others))]
        self._size = len(stay)

    def of(self, segment: int) -> ClassSample:
        """The sample of a segment, each of whose rows stands for as many others."""
        self._thin()
        ((_, segments, scores, truth, weight),) = self._kept
        here = segments == segment
        share = self._rows[segment] / max(int(here.sum()), 1)
        unit = weight[here]
        return ClassSample(scores[here], truth[here], unit * share, unit**2 * share)
