"""Predicted numbers in arrays, batch by batch: in files, and where tensors lie."""

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Self, TypeVar

import numpy as np

from stakes.engines.cells import Cells
from stakes.engines.clusters import ClusterNumbers
from stakes.engines.columns import Arguments, Column, as_finite, to_column
from stakes.engines.error_sizes import Middle, Sizes, around_median
from stakes.engines.files.reading import Files
from stakes.engines.kinds import over_exposure
from stakes.engines.labels import encode
from stakes.engines.numbers import OTHER, Asked, FirstPass, SecondPass, SecondSums, first_sums
from stakes.engines.rows import Dropped, rows_that_count
from stakes.engines.segments import segment_labels
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.operations import ArrayOperations
from stakes.tallies import ErrorSums, WorstError
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import deal_out
from stakes.tallies.error_sums import WORST, count_cells, histogram_of, worst_of, worst_of_block
from stakes.tallies.error_variation import (
    COLUMNS,
    HEAVY,
    IN_ORDER,
    KEYS,
    OWN,
    SUMS,
    HeavyRows,
    fill_columns,
    heaviest,
    movement,
)
from stakes.tallies.keys import order_of
from stakes.tallies.moments import differences
from stakes.tallies.parallel import in_turn

_BLOCK, _QUICK_ROWS = 1 << 15, 1 << 14
"""Rows of arrays in memory that are worked on at a time, few enough to stay in a cache, and multiplied at a time."""

_PICTURED = 1 << 20
"""About so many rows are looked at for a picture."""

_MANY, _MORE = 1 << 14, 64
"""So many rows around a median or the baseline are kept, and so many times the root of the number of all rows."""

_APART = 10
"""By so many standard errors the mean of first rows may miss that of all."""

_HERE = ArrayOperations()


@dataclass(frozen=True, eq=False)
class Numbers:
    """Some rows: truth, prediction, weight, the number of the cluster, and their numbers in the whole.

    ``other`` is what another model predicts.
    """

    truth: Tensor
    prediction: Tensor
    weight: Tensor | None
    cluster: Array | None = None
    places: Array | None = None
    other: Array | None = None

    def take(self, rows: Array | slice) -> "Numbers":
        """Return some of them."""
        columns = self.truth, self.prediction, self.weight, self.cluster, self.places, self.other
        return Numbers(*(None if one is None else one[rows] for one in columns))

    @property
    def error(self) -> Tensor:
        """Truth − prediction."""
        of_numpy = isinstance(self.truth, np.ndarray)
        return differences(self.truth, self.prediction) if of_numpy else self.truth - self.prediction

    @property
    def has_logs(self) -> bool:
        """Whether all numbers plus 1 have a logarithm."""
        return bool(self.truth.min() > -1 and self.prediction.min() > -1)

    def blocks(self, rows: int) -> "Iterator[Numbers]":
        """The rows, so many at a time."""
        yield from (self.take(slice(start, start + rows)) for start in range(0, len(self.truth), rows))

    def some(self, step: int, operations: ArrayOperations, start: int = 0) -> "Numbers":
        """Every second, third, … one of them, copied to here."""
        columns = self.truth, self.prediction, self.weight, self.cluster
        return Numbers(*(None if one is None else np.array(operations.home(one[start::step])) for one in columns))

    @staticmethod
    def joined(parts: "Sequence[Numbers]") -> "Numbers":
        """Rows of several parts, one after another."""
        columns = zip(*((one.truth, one.prediction, one.weight, one.cluster) for one in parts), strict=True)
        return Numbers(*(None if each[0] is None else np.concatenate(each) for each in columns))


@dataclass(frozen=True, eq=False)
class NumberBatch:
    """Rows that came at once, and their segments as numbers."""

    rows: Numbers
    cells: Array | None = None
    dropped: Dropped = field(default_factory=Dropped)

    def by_cell(self) -> Iterator[tuple[int, Numbers]]:
        """The rows of each segment; nothing where there are no segments."""
        if self.cells is None:
            return
        order = np.argsort(self.cells, kind="stable")
        rows, cells = self.rows.take(order), self.cells[order]
        starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
        for start, end in zip(starts, [*starts[1:], len(cells)], strict=True):
            yield int(cells[start]), rows.take(slice(start, end))


class NumberReader:
    """Reads and checks batches of some columns; segments and clusters are numbered in the order in which they come up.

    ``in_groups`` deals rows out among groups as if they were clusters: the same ones of every output.
    """

    def __init__(self, wanted: Iterable[str], missing: str, in_groups: bool = False) -> None:
        self._missing, self._in_groups = missing, in_groups
        self.clustered = in_groups or "cluster" in wanted
        self._segments, self._clusters = Cells(), ClusterNumbers()
        self._by: dict[str, str] = {name: "" for name in wanted if name.startswith("by")}

    def read(self, found: Arguments, begin: int) -> NumberBatch:
        """Read some rows, of which the first has this number."""
        rows = rows_that_count(found, None, self._missing)
        columns, weight = rows.columns, rows.weight
        truth, prediction = as_finite(columns["truth"]), as_finite(columns["prediction"])
        other = as_finite(columns[OTHER]) if OTHER in columns else None
        if "exposure" in columns:
            other = None if other is None else other / as_finite(columns["exposure"])
            truth, prediction, weight = over_exposure(truth, prediction, weight, columns["exposure"])
        places = np.arange(begin, begin + len(truth)) if rows.places is None else begin + rows.places
        cells, cluster = self.number(columns)
        if self._in_groups and cluster is None:
            cluster = deal_out(places)
        return NumberBatch(Numbers(truth, prediction, weight, cluster, places, other), cells, rows.dropped)

    def number(self, columns: Mapping[str, Column]) -> tuple[Array | None, Array | None]:
        """The numbers of the segment and of the cluster of each row."""
        by = {name: columns[name] for name in self._by}
        self._by |= {name: column.kind for name, column in by.items()}
        cells = self._segments.of([encode(column) for column in by.values()]).of_rows if by else None
        return cells, self._clusters.of(columns["cluster"]).astype(np.int64) if "cluster" in columns else None

    @property
    def cells(self) -> dict[str, int]:
        """The number of each segment by its name, in their order."""
        if not self._by:
            return {}
        columns = {name: to_column(values, name) for name, values in self._segments.columns(self._by).items()}
        labels = segment_labels(columns)
        assert labels is not None
        return {labels.names[labels.codes[cell]]: int(cell) for cell in np.argsort(labels.codes)}


class BatchNumbers:
    """Truths and predictions that come in batches.

    One pass is enough where the first rows are like the others: what depends on the mean of all truths follows from a
    guess and the rows near it. Otherwise a second one knows that mean.
    """

    def __init__(self, reader: NumberReader, begin: "Callable[[Mapping[int, Guess], float | None], Parts]") -> None:
        self._reader, self._begin = reader, begin
        self._held: Parts | None = None

    def _added(self, begin: "Callable[[], Adding]") -> "Adding":
        """Begin with nothing, in one place or in several, and add all batches."""
        raise NotImplementedError

    def first(self, baseline: float | None) -> FirstPass:
        """Add up errors, and as much as can be told of what baselines lose."""
        self._held = self._added(partial(self._begin, {}, baseline))
        return self._held.first(self._reader.cells)

    def second(self, asked: Asked) -> SecondPass:
        """Tell what the baselines lose, and how errors vary."""
        assert self._held is not None
        ats = {_WHOLE: At(asked.centre, asked.whole)}
        ats |= {cell: At(asked.centre, asked.segments[name]) for name, cell in self._reader.cells.items()}
        told = self._held.second(ats)
        if not all(sure for _, sure in told.values()):
            guesses = {cell: Guess(self._held.some(cell), at) for cell, at in ats.items()}
            self._held = self._added(partial(self._begin, guesses, None))
            told = self._held.second(ats)
        return SecondPass(told[_WHOLE][0], {name: told[cell][0] for name, cell in self._reader.cells.items()})

    def cross(self, centre: float) -> dict[str, Array]:
        """Add up the products of what depends on the predictions of two models, of all rows ("") and by segment."""
        return self._added(lambda: CrossParts(centre)).result(self._reader.cells)


class FileNumbers(BatchNumbers):
    """Those in files."""

    def __init__(self, files: Files, missing: str, at_a_time: int, in_groups: bool = False) -> None:
        reader = NumberReader(files.wanted, missing, in_groups)
        super().__init__(reader, partial(Parts, files.likely_rows, reader.clustered, True))
        self._files, self._at_a_time = files, at_a_time

    def _added(self, begin: "Callable[[], Adding]") -> "Adding":
        one, other = begin(), begin()
        in_turn(self._batches(), [one.add, other.add])
        parts = one.joined(other)
        if isinstance(parts, Parts) and not parts.rows:
            raise self._files.nothing_there()
        return parts

    def _batches(self) -> Iterator[NumberBatch]:
        none = np.zeros(0)
        for batch in self._files.read_batches(self._at_a_time, self._reader.read):
            yield NumberBatch(Numbers(none, none, None), None, Dropped(batch)) if isinstance(batch, int) else batch


# ── what is kept of all rows and of those of each segment ────────────────────────────────────────────────────────
@dataclass(frozen=True)
class At:
    """From where truths are counted, and the number that is always said."""

    centre: float
    said: float


@dataclass(frozen=True, eq=False)
class Guess:
    """What is known before rows are added: some rows like them, where to count from, and how far that may be wrong.

    Of ``first`` rows they may be very unlike the others.
    """

    some: Numbers
    at: At
    reach: float = -1.0
    first: bool = False

    @property
    def sure(self) -> bool:
        """Whether the number that is always said will stay what it is."""
        return self.reach < 0

    @classmethod
    def at_first(cls, rows: Numbers, baseline: float | None, operations: ArrayOperations) -> "Guess":
        """Guess by the first rows."""
        truth, many = operations.cast(rows.truth, "float64"), len(rows.truth)
        weight = 1.0 + 0.0 * truth if rows.weight is None else rows.weight
        mean = float((weight * truth).sum() / weight.sum())
        reach = _APART * float(((truth - mean) ** 2).sum()) ** 0.5 / many
        some = rows.some(max(many // _MANY, 1), operations)
        if baseline is not None:
            return cls(some, At(mean, baseline), first=True)
        return cls(some, At(mean, mean), reach if many > _MANY else np.inf, first=True)


_WHOLE = -1
"""The number of all rows among those of the segments."""


class Parts:
    """What is added up of all rows, and of those of each segment by its number; in several places, if need be."""

    def __init__(
        self,
        likely_rows: int,
        clustered: bool,
        worst: bool,
        guesses: Mapping[int, Guess],
        baseline: float | None,
        operations: ArrayOperations = _HERE,
        block: int = _BLOCK,
    ) -> None:
        self._step, self._guesses, self._baseline = max(likely_rows // _PICTURED, 1), guesses, baseline
        self._ops = operations
        self._empty = partial(_Part, self._step, clustered, worst, operations, block)
        self._found: dict[int, list[_Part]] = {}
        self.rows, self._dropped, self._lost = 0, 0, 0.0

    def add(self, batch: NumberBatch) -> None:
        """Add some rows."""
        self._dropped, self._lost = self._dropped + batch.dropped.rows, self._lost + batch.dropped.weight
        self.rows += len(batch.rows.truth)
        for cell, rows in [(_WHOLE, batch.rows), *batch.by_cell()] if len(batch.rows.truth) else []:
            if cell not in self._found:
                guess = self._guesses.get(cell) or Guess.at_first(rows, self._baseline, self._ops)
                self._found[cell] = [self._empty(guess, rows.weight is not None)]
            self._found[cell][0].add(rows)

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
        some = self.some(_WHOLE)
        picture = histogram_of([count_cells(some.truth, some.prediction, some.weight)])
        histogram = {cell: count * self._step for cell, count in picture.items()}
        whole = replace(_errors_of(self._found[_WHOLE]), histogram=histogram)
        segments = {name: _errors_of(self._found[cell]) for name, cell in cells.items()}
        return FirstPass(whole, segments, self.rows, self._dropped, self._lost)

    def some(self, cell: int) -> Numbers:
        """Some rows of a segment, evenly spaced."""
        return Numbers.joined([one for part in self._found[cell] for one in part.some])

    def second(self, ats: Mapping[int, At]) -> dict[int, tuple[SecondSums, bool]]:
        """Return what baselines lose and how errors vary, and whether that is sure, by the numbers of segments."""
        return {cell: _varied(self._found[cell], at) for cell, at in ats.items()}


class CrossParts:
    """The products of what depends on the predictions of two models."""

    def __init__(self, centre: float) -> None:
        self._at = At(centre, 0.0)
        self._found: dict[int, Array] = {}

    def add(self, batch: NumberBatch) -> None:
        """Add some rows."""
        for cell, some in batch.by_cell() if batch.cells is not None else [(0, batch.rows)]:
            for rows in some.blocks(_BLOCK):
                models = rows, replace(rows, prediction=rows.other)
                one, other = (_Added(True, False).add(model, self._at, model.has_logs)[_OWN] for model in models)
                self._found[cell] = self._found.get(cell, 0.0) + one @ other.T

    def joined(self, other: Self) -> Self:
        """Put together what was added in two places."""
        for cell, products in other._found.items():
            self._found[cell] = self._found.get(cell, 0.0) + products
        return self

    def result(self, cells: Mapping[str, int]) -> dict[str, Array]:
        """Return the products of all rows (""), and of segments, which have these numbers."""
        by_name = {name: self._found[cell] for name, cell in cells.items()}
        return {"": np.sum([*self._found.values()], axis=0), **by_name}


Adding = TypeVar("Adding", Parts, CrossParts)


# ── sums about a guess ───────────────────────────────────────────────────────────────────────────────────────────
_LINEAR = 4
_SIZE, _AWAY = COLUMNS.index("size"), COLUMNS.index("away")
_OWN, _HEAVY = ([IN_ORDER[place] for place in places] for places in (OWN, KEYS))
_GROWING = slice(min(_HEAVY), None)
_QUICK = (slice(_LINEAR, min(_HEAVY)), _GROWING)
"""So many columns at a time are multiplied: for tables that are as small as that there is a quick way."""
_SQUARES = [[COLUMNS.index(name) for name in names] for names in (
    ("error", "error", "square"), ("error", "truth", "cross"), ("truth", "truth", "truth2"),
)]  # fmt: skip
"""Columns whose product is a column."""


def _products(columns: Tensor, ops: ArrayOperations) -> Array:
    """The sums of products of every two columns, but for some of those of the prediction."""
    found, rows = np.zeros((len(COLUMNS), len(COLUMNS))), columns.shape[1]
    for start in range(0, rows, _QUICK_ROWS if ops.xp is np else rows):
        piece = columns[:, start : start + (_QUICK_ROWS if ops.xp is np else rows)]
        found[:2, :_LINEAR] += ops.home(piece[:2] @ piece[:_LINEAR].T)  # one alone would be shared among threads
        for some in _QUICK:
            found[some] += ops.home(piece[some] @ piece.T)
    found[:_LINEAR, _LINEAR:] = found[_LINEAR:, :_LINEAR].T
    found[:_LINEAR, 0] = found[0, :_LINEAR]
    for one, other, product in _SQUARES:
        found[one, other] = found[other, one] = found[product, 0]
    return found


class _Added:
    """Sums of columns and of products of every two of them, or of the columns by cluster."""

    def __init__(self, weighted: bool, clustered: bool) -> None:
        self._weighted = weighted or clustered
        self.sums = np.zeros(len(SUMS), np.longdouble)
        self.products = np.zeros((len(COLUMNS), len(COLUMNS)), np.longdouble)
        self.clusters: Array | None = np.zeros((0, len(COLUMNS))) if clustered else None

    def add(self, rows: Numbers, at: At, logs: bool, ops: ArrayOperations = _HERE, times: int = 1) -> Tensor:
        """Add some rows, or take them away, those of a cluster one after another; return their columns."""
        truth, prediction = (ops.cast(one, "float64") for one in (rows.truth, rows.prediction))
        found = ops.empty(len(COLUMNS) * len(truth), truth, "float64").reshape(len(COLUMNS), len(truth))
        if rows.truth is truth and rows.prediction is prediction:
            ops.xp.subtract(truth, prediction, out=found[1])
        else:
            found[1] = rows.error
        more = fill_columns(found, truth, prediction, rows.weight, (at.centre, at.said), logs, ops.xp)
        self.sums[len(COLUMNS) :] += times * ops.home(ops.stacked(more))
        if self._weighted:
            self.sums[: len(COLUMNS)] += times * ops.home(found.sum(1))
        if self.clusters is None:
            products = _products(found, ops)
            self.products += times * products
            if not self._weighted:
                self.sums[: len(COLUMNS)] += times * products[0]
            return found
        cluster = np.asarray(rows.cluster)
        lacking = int(cluster[-1]) + 1 - len(self.clusters)
        if lacking > 0:  # and some that may come
            self.clusters = np.pad(self.clusters, ((0, lacking + len(self.clusters) // 4), (0, 0)))
        starts = np.flatnonzero(np.append(True, cluster[1:] != cluster[:-1]))
        self.clusters[cluster[starts]] += times * np.add.reduceat(found, starts, axis=1).T
        return found

    def moved(self, old: At, new: At, near: Numbers) -> "_Added":
        """The sums about something else; ``near`` are all rows whose truth may lie between the two baselines."""
        found = copy.deepcopy(self)
        if len(near.truth):
            found.add(near, old, near.has_logs, times=-1)
        logs = np.log1p(old.said) - np.log1p(new.said) if min(old.said, new.said) > -1 else 0.0
        move = movement(SUMS, old.centre - new.centre, old.said - new.said, logs)
        found.sums, move = move @ found.sums, move[: len(COLUMNS), : len(COLUMNS)]
        with np.errstate(invalid="ignore"):
            found.products = move @ found.products @ move.T
        found.clusters = None if found.clusters is None else found.clusters @ move.T
        if len(near.truth):
            found.add(near, new, near.has_logs)
        return found

    def joined(self, other: "_Added") -> "_Added":
        """Add what was added elsewhere, about the same."""
        self.sums, self.products = self.sums + other.sums, self.products + other.products
        if self.clusters is not None and other.clusters is not None:
            longer, shorter = sorted((self.clusters, other.clusters), key=len, reverse=True)
            longer[: len(shorter)] += shorter
            self.clusters = longer
        return self


class _Part:
    """What is added up of rows about a guess, and the few of them that are kept: some evenly spaced ones, the worst and
    the heaviest, and those that lie near the baseline or a median.
    """

    def __init__(
        self, step: int, clustered: bool, worst: bool, operations: ArrayOperations, block: int, guess: Guess,
        weighted: bool,
    ) -> None:  # fmt: skip
        self._step, self._ops, self._block = step, operations, block
        self._clustered, self.weighted, self.at = clustered, weighted, guess.at
        self.added = _Added(weighted, clustered)
        self.rows, self.zeros, self.largest = 0, 0, 0.0
        self.least, self.ends = np.inf, (np.inf, -np.inf)
        self.some: list[Numbers] = []
        self.worst: tuple[WorstError, ...] | None = () if worst else None
        self.heavy = [np.zeros((5, 0))] * len(KEYS)
        self._least_heavy = np.full(len(KEYS), -np.inf)
        self.errors = Middle(guess.some.error, 0.0, guess.some.weight)
        self.sizes = [Sizes(operations) for _ in range(1 + guess.sure)]  # of errors, and of those of a baseline
        self.away = Middle(guess.some.truth, guess.at.said, guess.some.weight, max(guess.reach, 0.0))
        self._near = [guess.some.take(slice(0))]
        self._waiting, self._reach, self._narrows = 0, guess.reach, guess.first

    def add(self, rows: Numbers) -> None:
        """Add some rows."""
        self.some.append(rows.some(self._step, self._ops, -self.rows % self._step))
        distances = rows.error, *([rows.truth - self.at.said] if len(self.sizes) == 2 else [])
        for sizes, numbers in zip(self.sizes, distances, strict=True):
            sizes.add(abs(numbers), rows.weight)
        if self._clustered:
            rows = rows.take(order_of(np.asarray(rows.cluster)))
        for block in rows.blocks(self._block):
            self._add_block(block)

    def _add_block(self, rows: Numbers) -> None:
        ops, truth = self._ops, self._ops.cast(rows.truth, "float64")
        low, high = ops.ends(truth)
        self.ends = min(self.ends[0], low), max(self.ends[1], high)
        least = min(low, float(rows.prediction.min()))
        self.least, self.rows = min(self.least, least), self.rows + len(truth)
        self.zeros += int(ops.xp.count_nonzero(truth == 0)) if low <= 0 <= high else 0
        found = self.added.add(rows, self.at, least > -1, ops)
        size, away = found[_SIZE], found[_AWAY]
        if rows.weight is not None:
            size, away = abs(rows.error), abs(truth - self.at.said)
        self._keep_worst(rows, size)
        if not self._clustered:
            self._keep_heavy(found, rows)
        self.errors.add(size, size, rows.weight, ops)
        self.away.add(truth, away, rows.weight, ops)
        near, most = ops.places(away < self._reach), _MANY + int(_MORE * self.rows**0.5)
        if len(near):
            self._near.append(rows.take(near).some(1, ops))
            self._waiting += len(near)
        if self._narrows:
            self.errors.narrow(most)
            self.away.narrow(most)
        if self._waiting > most:
            self._come_closer()

    def _keep_worst(self, rows: Numbers, size: Tensor) -> None:
        largest = float(size.max())
        least = abs(self.worst[-1].error) if self.worst is not None and len(self.worst) == WORST else -1.0
        if self.worst is not None and rows.places is not None and largest >= least:
            columns, places = (size, rows.error, rows.truth, rows.prediction), rows.places
            here = (replace(one, row=int(places[one.row])) for one in worst_of_block(0, columns, least))
            self.worst = worst_of([*self.worst, *here])
        self.largest = max(self.largest, largest)

    def _keep_heavy(self, columns: Tensor, rows: Numbers) -> None:
        """Keep a few rows of those that have most of a term that grows without end."""
        most = self._ops.home(self._ops.xp.amax(columns[_GROWING], 1))
        for place in np.flatnonzero(most > self._least_heavy):  # hardly ever any, once some blocks were seen
            key = _HEAVY[place]
            top = self._ops.places(columns[key] > self._least_heavy[place])
            if len(top) > HEAVY:
                top = top[self._ops.top(columns[key][top], HEAVY)]
            own = (self._ops.home(one[top]) for one in (columns[key], rows.truth, rows.prediction, columns[0]))
            found = np.stack([*own, np.ones(len(top))])
            self.heavy[place] = kept = heaviest([self.heavy[place], found])
            self._least_heavy[place] = kept[0].min() if kept.shape[1] == HEAVY else -np.inf

    def _come_closer(self) -> None:
        """Keep about half of the rows near the baseline."""
        near = Numbers.joined(self._near)
        apart = abs(near.truth - self.at.said)
        self._reach = float(np.partition(apart, len(apart) // 2)[len(apart) // 2])
        self._near = [near.take(apart < self._reach)]
        self._waiting = len(self._near[0].truth)

    def about(self, at: At) -> tuple[_Added, bool]:
        """The sums about something else, and whether that is near enough to be told."""
        apart = abs(at.said - self.at.said)
        near = Numbers.joined(self._near if apart else self._near[:1])
        near = near if near.cluster is None else near.take(order_of(near.cluster))
        return self.added.moved(self.at, at, near), not apart or apart < self._reach


# ── what parts tell ──────────────────────────────────────────────────────────────────────────────────────────────
def _errors_of(parts: "Sequence[_Part]") -> ErrorSums:
    """The sums of errors."""
    centre = parts[0].at.centre
    each = [movement(SUMS, part.at.centre - centre) @ part.added.sums for part in parts]
    sums = dict(zip(SUMS, map(float, np.sum(each, axis=0)), strict=True))
    names = "one", "size", "error", "square", "truth", "truth2", "prediction", "prediction2", "both", "logs", "share"
    largest, least = max(part.largest for part in parts), min(part.least for part in parts)
    zeros = sum(part.zeros for part in parts)
    found = first_sums([*(sums[name] for name in names), zeros], centre, largest, least, parts[0].weighted, None)
    worst = [part.worst for part in parts if part.worst is not None]
    return replace(found, worst=worst_of(itertools.chain(*worst))) if worst else found


def _varied(parts: "Sequence[_Part]", at: At) -> tuple[SecondSums, bool]:
    """What a baseline loses and how errors vary, and whether parts were near enough to it to tell."""
    each = [part.about(at) for part in parts]
    added, sure = reduce(_Added.joined, (one for one, _ in each)), all(near for _, near in each)
    rows = sum(part.rows for part in parts)
    far = max(part.ends[1] for part in parts) - at.said, at.said - min(part.ends[0] for part in parts)
    largest = max(part.largest for part in parts)
    known, found = around_median([part.errors for part in parts], 0.0, rows, largest)
    grids = [reduce(Sizes.joined, sizes).result() for sizes in zip(*(part.sizes for part in parts), strict=False)]
    away, near = around_median([part.away for part in parts], at.said, rows, max(far))
    names = "away", "sign", "logs away", "share away"
    lost, balance, logs, shares = (float(added.sums[SUMS.index(name)]) for name in names)
    away = away.among(grids[1]) if len(grids) == 2 else away
    told = SecondSums(lost, balance, logs, shares, max(far), sizes=away, errors=known.among(grids[0]))
    if added.clusters is None:
        products = added.products[np.ix_(IN_ORDER, IN_ORDER)].astype(np.float64)
        heavy = HeavyRows(tuple(map(heaviest, zip(*(part.heavy for part in parts), strict=True))), rows)
        told = replace(told, products=products, heavy=heavy)
    else:
        numbers = np.flatnonzero(added.clusters[:, 0])
        told = replace(told, clusters=added.clusters[numbers][:, IN_ORDER], cluster_numbers=numbers)
    return told, sure and found and near
