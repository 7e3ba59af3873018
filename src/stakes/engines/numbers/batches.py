"""Predicted numbers in arrays, batch by batch: in files, and where tensors lie.

Every figure follows from sums over rows (``products.py``) and from the errors around their median
(``sizes.py``). Two things are not known before the last row was seen: the mean of the truths, from which they are
counted and which is what the baseline says, and where the medians lie. Both are guessed from the first rows.

- Sums are added up about the guess and moved to the true mean by algebra. That is exact but for truths that lie between
  the two, whose distance from the baseline changes its sign: rows near the guess are kept, subtracted, and added again.
- Of the errors those in a window around the guessed median are kept. It narrows as rows come; how many lie below is
  counted, so the rank of each that was kept is known.

Where a guess turns out to be too far off, as in files that are sorted, the rows are gone through once more with what is
known by then.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Self, TypeVar

import numpy as np

from stakes.engines.files.reading import Files
from stakes.engines.numbers.blocks import BLOCK, MadeColumns, made_columns
from stakes.engines.numbers.passes import ALL, FIRST, LOST, Asked, FirstPass, SecondPass, SecondSums, Wanted, first_sums
from stakes.engines.numbers.products import HERE, CrossParts, ProductSums
from stakes.engines.numbers.rows import NumberBatch, NumberReader, Numbers
from stakes.engines.numbers.sizes import MedianWindow, SizeBins, around_median
from stakes.engines.rows import Dropped
from stakes.engines.segments import refuse_names_of_rows
from stakes.engines.tensors.arrays import Tensor
from stakes.tallies import ErrorSums, WorstError
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_sums import count_cells, histogram_of, with_worst, worst_of
from stakes.tallies.error_terms import Origin
from stakes.tallies.error_variation import HEAVY, KEYS, HeavyRows, heaviest
from stakes.tallies.keys import order_of
from stakes.tallies.operations import ArrayOperations
from stakes.tallies.parallel import in_turn

_PICTURED = 1 << 20
"""About this many rows make up the histogram."""

_MANY, _MORE = 1 << 14, 20
"""Rows kept around a median or the baseline: the first, plus the second times the root of the number of rows.

A quarter of them lies on either side of a median when others are given up: ten standard errors of its rank.
"""

_AT_A_TIME = 1 << 17
"""Rows of files that are looked at together: few enough for a cache, and enough that threads seldom wait for others."""

_PLACES = 2
"""Batches of files are added up in so many places, by a thread each; however many processors, digits stay the same."""

_APART = 10
"""Standard errors by which the mean of the first rows may miss that of all rows."""

_WHOLE = -1
"""The number of all rows among those of the segments."""


class BatchNumbers:
    """Truths and predictions that come in batches."""

    def __init__(self, reader: NumberReader, begin: "Callable[[Mapping[int, Guess], float | None], Parts]") -> None:
        self._reader, self._begin = reader, begin
        self._held: Parts | None = None

    def _added(self, begin: "Callable[[], Adding]") -> "Adding":
        """Begin with nothing, in one place or in several, and add all batches."""
        raise NotImplementedError

    def first(self, baseline: float | None) -> FirstPass:
        """Go through the rows with guesses from the first of them."""
        self._held = self._added(partial(self._begin, {}, baseline))
        return self._held.first(self._reader.cells)

    def second(self, asked: Asked) -> SecondPass:
        """Move sums to the means that are known now; go through the rows again where guesses were too far off."""
        assert self._held is not None
        origins = {_WHOLE: Origin(asked.centre, asked.whole)}
        origins |= {cell: Origin(asked.centre, asked.segments[name]) for name, cell in self._reader.cells.items()}
        found = self._held.second(origins)
        if not all(sure for _, sure in found.values()):
            guesses = {cell: Guess(self._held.some(cell), origin) for cell, origin in origins.items()}
            self._held = self._added(partial(self._begin, guesses, None))
            found = self._held.second(origins)
        count, counts = self._reader.cluster_counts
        segments = {name: found[cell][0].of_clusters(counts.get(name)) for name, cell in self._reader.cells.items()}
        return SecondPass(found[_WHOLE][0].of_clusters(count), segments)

    def cross(self, centre: float) -> dict[str, Array]:
        """Add up the products of what depends on the predictions of two models, of all rows ("") and by segment."""
        return self._added(lambda: CrossParts(centre)).result(self._reader.cells)


class FileNumbers(BatchNumbers):
    """Those in files."""

    def __init__(
        self, files: Files, missing: str, at_a_time: int, in_groups: bool = False, wanted: Wanted = ALL
    ) -> None:
        reader = NumberReader(files.wanted, missing, in_groups)
        super().__init__(reader, partial(Parts, files.likely_rows, reader.clustered, wanted=wanted))
        self._files, self._at_a_time = files, at_a_time

    def _added(self, begin: "Callable[[], Adding]") -> "Adding":
        places = [begin() for _ in range(_PLACES)]
        in_turn(self._batches(), [parts.add for parts in places])
        found = reduce(lambda one, other: one.joined(other), places)
        if isinstance(found, Parts) and not found.rows:
            raise self._files.nothing_there()
        return found

    def _batches(self) -> Iterator[NumberBatch]:
        none = np.zeros(0)
        for batch in self._files.read_batches(self._at_a_time, self._reader.read):
            refuse_names_of_rows(self._reader.segments, self._files.likely_rows)
            yield NumberBatch(Numbers(none, none, None), None, Dropped(batch)) if isinstance(batch, int) else batch


@dataclass(frozen=True, eq=False)
class Guess:
    """What is known before rows are added: some rows like them, the origin, and how far its baseline may be wrong.

    The ``first`` rows may be very unlike the others.
    """

    some: Numbers
    origin: Origin
    reach: float = -1.0
    first: bool = False

    @property
    def sure(self) -> bool:
        """Whether the baseline will stay what it is."""
        return self.reach < 0

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")  # what no float holds is refused once all rows were added
    def at_first(cls, rows: Numbers, baseline: float | None, operations: ArrayOperations) -> "Guess":
        """Guess by the first rows."""
        truth, many = operations.cast(rows.truth, "float64"), len(rows.truth)
        weight = 1.0 + 0.0 * truth if rows.weight is None else rows.weight
        mean, predicted = (
            float((weight * operations.cast(one, "float64")).sum() / weight.sum()) for one in (truth, rows.prediction)
        )
        reach = _APART * float(((truth - mean) ** 2).sum()) ** 0.5 / many
        some = rows.some(max(many // _MANY, 1), operations)
        if baseline is not None:
            return cls(some, Origin(mean, baseline, predicted), first=True)
        return cls(some, Origin(mean, mean, predicted), reach if many > _MANY else np.inf, first=True)


# ── all rows, and those of each segment ──────────────────────────────────────────────────────────────────────────
class Parts:
    """What is added up of all rows, and of those of each segment by its number; in several places, if need be."""

    def __init__(
        self,
        likely_rows: int,
        clustered: bool,
        guesses: Mapping[int, Guess],
        baseline: float | None,
        operations: ArrayOperations = HERE,
        block: int = BLOCK,
        wanted: Wanted = ALL,
    ) -> None:
        self._step, self._guesses, self._baseline = max(likely_rows // _PICTURED, 1), guesses, baseline
        self._ops, self._wanted = operations, wanted
        self._empty = partial(_Part, self._step, clustered, wanted, operations, block)
        self._found: dict[int, list[_Part]] = {}
        self.rows, self._dropped, self._lost = 0, 0, 0.0

    def add(self, batch: NumberBatch) -> None:
        """Add the rows of a batch, and those of each segment."""
        self.rows, self._dropped = self.rows + len(batch.rows.truth), self._dropped + batch.dropped.rows
        self._lost += batch.dropped.weight
        for cell, rows in [(_WHOLE, batch.rows), *batch.by_cell()] if len(batch.rows.truth) else []:
            self._part(cell, rows).add(rows)

    def _part(self, cell: int, rows: Numbers) -> "_Part":
        if cell not in self._found:
            guess = self._guesses.get(cell) or Guess.at_first(rows, self._baseline, self._ops)
            self._found[cell] = [self._empty(guess, rows.weight is not None)]
        return self._found[cell][0]

    def joined(self, other: Self) -> Self:
        """Put beside it what was added in another place."""
        for cell, parts in other._found.items():
            self._found[cell] = [*self._found.get(cell, []), *parts]
        self.rows, self._dropped = self.rows + other.rows, self._dropped + other._dropped
        self._lost += other._lost
        return self

    def first(self, cells: Mapping[str, int]) -> FirstPass:
        """Return the sums of all rows, and of segments, which have these numbers; and a picture on a coarse grid.

        Of very many rows evenly spaced ones are pictured, which stand for several each.
        """
        whole = _errors_of(self._found[_WHOLE])
        if self._wanted.rows:
            some = self.some(_WHOLE)
            picture = histogram_of([count_cells(some.truth, some.prediction, some.weight)])
            whole = replace(whole, histogram={cell: count * self._step for cell, count in picture.items()})
        segments = {name: _errors_of(self._found[cell]) for name, cell in cells.items()}
        return FirstPass(whole, segments, self.rows, self._dropped, self._lost)

    def some(self, cell: int) -> Numbers:
        """Some rows of a segment, evenly spaced."""
        return Numbers.joined([one for part in self._found[cell] for one in part.some])

    def second(self, origins: Mapping[int, Origin]) -> dict[int, tuple[SecondSums, bool]]:
        """Return what baselines lose and how errors vary, and whether that is sure, by the numbers of segments."""
        return {cell: _varied(self._found[cell], origin) for cell, origin in origins.items()}


Adding = TypeVar("Adding", Parts, CrossParts)


# ── the rows of one segment ──────────────────────────────────────────────────────────────────────────────────────
class _Part:
    """What is added up of rows about a guess, and the few of them that are kept: some evenly spaced ones, the worst and
    the heaviest, and those that lie near the baseline or a median.
    """

    def __init__(
        self, step: int, clustered: bool, wanted: Wanted, operations: ArrayOperations, block: int,
        guess: Guess, weighted: bool,
    ) -> None:  # fmt: skip
        self._step, self._ops, self._block = step, operations, block
        self._clustered, self.weighted, self.origin = clustered, weighted, guess.origin
        self.wanted, self.added = wanted, ProductSums(weighted, clustered, wanted, operations)
        self.rows, self.zeros, self.largest = 0, 0, 0.0
        self.least, self.ends = np.inf, (np.inf, -np.inf)
        self.some: list[Numbers] = []
        self.worst: tuple[WorstError, ...] | None = None
        self.heavy = [np.zeros((5, 0))] * len(KEYS)
        self._least_heavy = np.full(len(self.heavy), -np.inf)
        self.errors = MedianWindow(guess.some.error, 0.0, guess.some.weight)
        self.sizes = [SizeBins(operations) for _ in range(1 + guess.sure)]  # of errors, and of those of a baseline
        self.away = MedianWindow(guess.some.truth, guess.origin.baseline, guess.some.weight, max(guess.reach, 0.0))
        self._near = [guess.some.take(slice(0))]
        self._waiting, self._reach, self._narrows = 0, guess.reach, guess.first

    def add(self, rows: Numbers) -> None:
        """Add rows up, count errors by size, see how far truths reach, and keep some rows."""
        if self._clustered:
            rows = rows.take(order_of(np.asarray(rows.cluster)))
        for some in rows.blocks(max(self._block, _AT_A_TIME)):
            self._keep(some)
        for block in rows.blocks(self._block):
            self._add_up(block)

    def _add_up(self, block: Numbers) -> None:
        """Add up the products of a block, and keep the heaviest rows."""
        logs = self.least > -1
        columns, weighed = self.added.add(block, self.origin, logs)
        made = made_columns(self.wanted, logs)
        if not self.wanted.rows:
            self.largest = max(self.largest, float(columns[made.size].max()))
        if not self._clustered:
            self._keep_heavy(weighed, block, made)

    @np.errstate(over="ignore", invalid="ignore")
    def _keep(self, rows: Numbers) -> None:
        self.some.append(rows.some(self._step, self._ops, -self.rows % self._step))
        self.rows += len(rows.truth)
        most = _MANY + int(_MORE * self.rows**0.5)
        if self.wanted.rows:
            self._keep_errors(rows, most)
        self._keep_truths(rows, most)

    def _keep_errors(self, rows: Numbers, most: int) -> None:
        """Count errors by size; keep the largest, and of those around the median at most so many."""
        size = self._ops.xp.abs(error := rows.error, out=error)
        largest = float(size.max())
        self.largest = max(self.largest, largest)
        if rows.places is not None:
            here = (lambda: (size, rows.error, rows.truth, rows.prediction)), rows.places
            self.worst = with_worst(self.worst or (), largest, *here)
        self.errors.add(size, size, rows.weight, self._ops)
        if self._narrows:
            self.errors.narrow(most)
        self.sizes[0].add(size, rows.weight)

    def _keep_truths(self, rows: Numbers, most: int) -> None:
        """See how far truths reach, and keep at most so many whose distance from the baseline is near the median."""
        ops, truth = self._ops, self._ops.cast(rows.truth, "float64")
        low, high = ops.ends(truth)
        self.ends = min(self.ends[0], low), max(self.ends[1], high)
        self.least = min(self.least, low, float(rows.prediction.min()))
        if self.wanted.shares and low <= 0 <= high:
            self.zeros += int(ops.xp.count_nonzero(truth == 0))
        away = truth - self.origin.baseline
        ops.xp.abs(away, out=away)
        if self._reach > 0:
            self._keep_near(rows, away, most)
        if not self.wanted.rows:
            return
        self.away.add(truth, away, rows.weight, ops)
        if self._narrows:
            self.away.narrow(most)
        for of_baseline in self.sizes[1:]:
            of_baseline.add(away, rows.weight)

    def _keep_heavy(self, columns: Tensor, rows: Numbers, made: MadeColumns) -> None:
        """Keep a few rows of those that have most of a term that grows without end."""
        growing, weight = columns[made.growing], columns[made.varying][0]
        most = self._ops.home(self._ops.xp.amax(growing, 1))
        for here in np.flatnonzero(most > self._least_heavy[made.keys]):  # hardly ever any, once some blocks were seen
            column, place = growing[here], made.keys[here]
            top = self._ops.places(column > self._least_heavy[place])
            if len(top) > HEAVY:
                top = top[self._ops.top(column[top], HEAVY)]
            own = (self._ops.home(one[top]) for one in (column, rows.truth, rows.prediction, weight))
            found = np.stack([*own, np.ones(len(top))])
            self.heavy[place] = kept = heaviest([self.heavy[place], found])
            self._least_heavy[place] = kept[0].min() if kept.shape[1] == HEAVY else -np.inf

    def _keep_near(self, rows: Numbers, away: Tensor, most: int) -> None:
        """Keep rows near the baseline; of more than ``most`` the nearer half."""
        near = self._ops.places(away < self._reach)
        if len(near):
            self._near.append(rows.take(near).some(1, self._ops))
            self._waiting += len(near)
        if self._waiting > most:
            all_near = Numbers.joined(self._near)
            apart = abs(all_near.truth - self.origin.baseline)
            self._reach = float(np.partition(apart, len(apart) // 2)[len(apart) // 2])
            self._near = [all_near.take(apart < self._reach)]
            self._waiting = len(self._near[0].truth)

    def about(self, origin: Origin) -> tuple[ProductSums, bool]:
        """The sums about another origin, and whether that is near enough to be known."""
        apart = abs(origin.baseline - self.origin.baseline)
        near = Numbers.joined(self._near if apart else self._near[:1])
        near = near if near.cluster is None else near.take(order_of(near.cluster))
        return self.added.moved(self.origin, origin, near), not apart or apart < self._reach


def _errors_of(parts: "Sequence[_Part]") -> ErrorSums:
    """The sums of errors."""
    first, none = parts[0].origin, parts[0].some[0].take(slice(0))
    origins = [replace(first, baseline=part.origin.baseline) for part in parts]
    moved = [part.added.moved(part.origin, origin, none) for part, origin in zip(parts, origins, strict=True)]
    added = [*map(reduce(ProductSums.joined, moved).sum_of, FIRST), sum(part.zeros for part in parts)]
    largest, least = max(part.largest for part in parts), min(part.least for part in parts)
    centres, shares = (first.centre, first.predicted), parts[0].wanted.shares
    found = first_sums(added, centres, largest, least, parts[0].weighted, None, shares)
    worst = [part.worst for part in parts if part.worst is not None]
    return replace(found, worst=worst_of(itertools.chain(*worst))) if worst else found


def _varied(parts: "Sequence[_Part]", origin: Origin) -> tuple[SecondSums, bool]:
    """What a baseline loses and how errors vary, and whether all guesses were near enough to tell."""
    each = [part.about(origin) for part in parts]
    added, sure = reduce(ProductSums.joined, (one for one, _ in each)), all(near for _, near in each)
    rows, largest = sum(part.rows for part in parts), max(part.largest for part in parts)
    farthest = max(
        max(part.ends[1] for part in parts) - origin.baseline, origin.baseline - min(part.ends[0] for part in parts)
    )
    found = SecondSums([*map(added.sum_of, LOST)], farthest)
    if parts[0].wanted.rows:
        errors, errors_known = around_median([part.errors for part in parts], 0.0, rows, largest)
        away, away_known = around_median([part.away for part in parts], origin.baseline, rows, farthest)
        grids = [reduce(SizeBins.joined, bins).result() for bins in zip(*(part.sizes for part in parts), strict=False)]
        sizes = away.among(grids[1]) if len(grids) == 2 else away
        found, sure = replace(found, sizes=sizes, errors=errors.among(grids[0])), sure and errors_known and away_known
    if added.clusters is None:
        heavy = HeavyRows(tuple(map(heaviest, zip(*(part.heavy for part in parts), strict=True))), rows)
        found = replace(found, products=added.products, heavy=heavy)
    else:
        numbers, clusters = added.by_cluster
        found = replace(found, clusters=clusters, cluster_numbers=numbers, squares=added.squares)
    return found, sure
