"""Scores of several classes in batches: all that is kept of them are sums, bins, and an even sample of the rows.

The same sums are made of rows that were read from files and of tensors where they lie.
"""

import itertools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from stakes.engines.binning import BinnedCounts, count_scores
from stakes.engines.cells import Cells
from stakes.engines.classes.sums import (
    MOST_TOGETHER,
    NONE_NOTED,
    ClassSums,
    Noted,
    Oddities,
    losses_against_rest,
    pair_bits,
)
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

_AT_ONCE = 4
"""Parts of a batch that are added up apart, on as many cores; always as many, so that sums are the same everywhere."""

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

    def split(self, parts: int) -> list["ClassBatch"]:
        """Return as many parts, of about as many rows each; those without rows are left out."""
        ends = [len(self.truth) * part // parts for part in range(parts + 1)]
        return [self.take(slice(start, end)) for start, end in itertools.pairwise(ends) if end > start]

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
        self.segments = Cells()
        k = len(classes)
        few = k <= MOST_TOGETHER  # scores of more classes are sorted and added up, in tables that would be too long
        self._pairs = [BinnedCounts(pair_bits(k), few and not self._elsewhere, operations) for _ in classes]
        self._tables = [BinnedCounts(bins.FINE, False, operations) for _ in (() if few else classes)]
        self._ops = operations or ArrayOperations()
        self._row_sums = [_RowSums(k, self._ops) for _ in range(1 if self._elsewhere else _AT_ONCE)]
        self._weighted = False
        self._whole, self._parts = EvenSample(), EvenSample()

    def add(
        self, scores: Sequence[Array], truth: Labels, by: Sequence[Labels], weight: Array | None, numbers: Values
    ) -> BatchOutcome:
        """Count a batch, whose rows have these ``numbers``; return what is decided by the scores, or by the costs."""
        places = {name: place for place, name in enumerate(self.classes)}
        kind = np.int8 if len(places) < 128 else np.int64
        codes: Array = np.array([places.get(name, -1) for name in truth.names], kind)[truth.codes]
        segment = self.segments.of(by).of_rows.astype(np.int64) if by else np.broadcast_to(np.int64(0), len(codes))
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
        if self.segments.names:
            samples.append(partial(self._parts.add, batch, batch.segment, len(self.segments.names)))
        best, ranks, *losses = self.count(batch, len(self.classes) * len(batch.truth), samples)
        if self._pricing is not None:
            any_shares = shares_of([1] * len(self.classes))  # those of the rows are not asked for
            best = self._pricing.bayes(batch.scores_of(slice(None)), self.classes, None, any_shares)
        return BatchOutcome(best, batch, ranks, losses)

    def count(self, batch: ClassBatch, size: int = 0, samples: Sequence[Callable[[], None]] = ()) -> list[Tensor]:
        """Add up rows of classes that have scores, and take ``samples`` of them beside it.

        Return which has the highest, the rank of the true one, and what rows lose.
        """
        for one in self._row_sums:
            one.sums.grow(len(self.segments.names) or 1)
        whole = not isinstance(batch.scores, list)  # a tensor, which lies where there is room for all of it
        if whole:
            found = [self._row_sums[0].add(batch, self._ops.copied(batch.scores))]
        else:
            parts = zip(self._row_sums, batch.split(len(self._row_sums)), strict=False)
            tasks: list[Callable[[], Any]] = [partial(one.add_blocks, part) for one, part in parts]
            found = run_all([*tasks, *samples], size)[: len(tasks)]
        # apart from the sums: counting holds the interpreter, and would keep them waiting
        run_all([partial(self._bin, batch, place) for place in range(len(self.classes))], size)
        best, ranks, *losses = zip(*found, strict=True)
        if whole:
            return [best[0], ranks[0], *losses]
        return [np.concatenate(best), np.concatenate(ranks), *(list(itertools.chain(*parts)) for parts in losses)]

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
        return count * batch.segment + codes if self.segments.names else codes

    def result(self, segments: Sequence[str], sample: ClassSample | None = None) -> ClassSums:
        """Return the sums; ``segments`` are the names of the segments by their numbers."""
        sums, count = BlockSums.joined([one.sums for one in self._row_sums]), len(segments)
        pairs = run_all([one.by_bin for one in self._pairs], sys.maxsize)
        tables = run_all([one.result for one in self._tables], sys.maxsize)
        samples: dict[int | None, ClassSample] = {None: sample or self._whole.of(0)}
        if self.segments.names:
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
            pairs,
            tables,
            self.oddities.span,
            samples,
        )

    @property
    def oddities(self) -> Oddities:
        """The rows whose scores are no probabilities."""
        return Oddities.joined([one.odd for one in self._row_sums])


class _RowSums:
    """What is added up of some rows: sums, which of them are no probabilities, and how far the scores reach."""

    def __init__(self, k: int, operations: ArrayOperations) -> None:
        self._ops, self.sums = operations, BlockSums(k, _PARTS, operations)
        self.odd = Oddities(0, (math.inf, -math.inf))

    def add_blocks(self, batch: ClassBatch) -> list[Any]:
        """Add rows block by block; return which class has the highest score in each row, the rank of the true one, and
        losses. These, which few ask for, stay in blocks.
        """
        rows = self.sums.rows
        blocks = [batch.take(slice(start, start + rows)) for start in range(0, len(batch.truth), rows)]
        tables = (np.stack(block.scores, out=self.sums.room(len(block.truth))) for block in blocks)
        best, rank, *losses = zip(*map(self.add, blocks, tables), strict=True)
        return [np.concatenate(best), np.concatenate(rank), *losses]

    def add(self, block: ClassBatch, scores: Tensor) -> list[Tensor]:
        """Add some rows, whose scores (class × row) may be changed."""
        best, improper = self._ops.first_largest(scores), self._look(scores, block.numbers)
        return [best, *self.sums.add(scores, block.truth, block.weight, block.segment, improper)]

    def _look(self, scores: Tensor, numbers: Values) -> Tensor | None:
        """Look at some rows, which have these numbers, and return which are odd (1), if any is."""
        span, sums = self._ops.ends(scores), scores.sum(0)
        found, uneven = Oddities(len(numbers), span), abs(sums - 1) > ROUNDING
        odd = None
        if bool(uneven.any()) or span[0] < 0 or span[1] > 1:
            wrong = (scores < 0) | (scores > 1)
            outside = wrong.any(0)
            off = self._noted(uneven, numbers, lambda row: sums[row])
            beyond = self._noted(outside, numbers, lambda row: scores[:, row][wrong[:, row]][0])
            found, odd = replace(found, uneven=off, outside=beyond), self._ops.cast(uneven | outside, "float64")
        self.odd = Oddities.joined([self.odd, found])
        return odd

    def _noted(self, odd: Tensor, numbers: Values, seen: Callable[[int], Tensor]) -> Noted:
        """How many rows are odd, and the number of the first with what is seen there."""
        rows = self._ops.places(odd)
        if not len(rows):
            return NONE_NOTED
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
        rows, random = self._candidates(len(segment))
        lowest: Array | slice = slice(None)
        if segments > 1:
            lowest = random < self._below[segment[rows]]
        elif len(rows) > self._most:  # others of this batch are lower
            lowest = np.argpartition(random, self._most)[: self._most]
        rows, random = rows[lowest], random[lowest]
        unit = np.ones(len(rows)) if batch.weight is None else batch.weight[rows]
        self._kept.append((random, segment[rows], batch.scores_of(rows), batch.truth[rows], unit))
        self._size += len(rows)
        if self._size > 2 * self._most * segments:
            self._thin()

    def _candidates(self, rows: int) -> tuple[Array, Array]:
        """The rows of a batch that draw a number at which they may stay in some segment, and these numbers."""
        highest = float(self._below.max())
        if highest == 1:
            return np.arange(rows), self._generator.random(rows)
        count = self._generator.binomial(rows, highest)
        found = self._generator.choice(rows, count, replace=False, shuffle=False)
        return found, highest * self._generator.random(count)

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
