"""Predicted numbers in arrays, batch by batch: in files, and where tensors lie."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

import numpy as np

from stakes.engines.cells import Cells
from stakes.engines.clusters import ClusterNumbers
from stakes.engines.columns import Arguments, Column, as_finite, to_column
from stakes.engines.files.reading import Files
from stakes.engines.kinds import over_exposure
from stakes.engines.labels import encode
from stakes.engines.numbers import OTHER, Asked, FirstPass, SecondPass, SecondSums
from stakes.engines.rows import Dropped, rows_that_count
from stakes.engines.segments import segment_labels
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.operations import ArrayOperations
from stakes.tallies import ErrorSums, bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import deal_out
from stakes.tallies.error_sums import CellCounts, count_cells, histogram_of
from stakes.tallies.error_variation import AWAY, HEAVY, KEYS, OWN, TERMS, HeavyRows, SizeCounts, heaviest, weighed_terms
from stakes.tallies.keys import add_up, order_of, put_together
from stakes.tallies.moments import BLOCK, differences
from stakes.tallies.parallel import in_turn

_BLOCK = 1 << 14
"""Rows of arrays in memory that are worked on at a time: temporaries stay in the processor's cache."""

_PICTURED = 1 << 20
"""About so many rows are looked at for a picture."""

_DENSE = 1 << 22
"""So many neighbouring bins of sizes are counted in a table."""

_MANY = 1 << 20
"""So many errors around the median are put together, those that are alike as one."""

_PARTS = ("prediction", "logs", "percentages")
_WITH_WORST = (*_PARTS, "worst")
"""What is added up of errors; the worst of them are told by the numbers of their rows, where those have any."""

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

    def blocks(self, rows: int) -> "Iterator[Numbers]":
        """The rows, so many at a time."""
        yield from (self.take(slice(start, start + rows)) for start in range(0, len(self.truth), rows))

    def terms(self, prediction: Tensor, centre: float, said: float, operations: ArrayOperations) -> tuple[Tensor, ...]:
        """The terms of the rows and what always saying a number loses, times weights (``error_variation.py``)."""
        error, always = Numbers(self.truth, prediction, None).error, said + 0.0 * self.truth[:1]
        truth, prediction = (operations.cast(one, "float64") for one in (self.truth, prediction))
        return weighed_terms(truth, prediction, error, self.weight, centre, always, operations.xp)


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
    """Truths and predictions that come in batches, anew for each pass."""

    def __init__(self, reader: NumberReader, begin: "Callable[[], FirstParts]") -> None:
        self._reader, self._begin = reader, begin

    def _added(self, begin: "Callable[[], Parts]") -> "Parts":
        """Begin with nothing, in one place or in several, and add all batches."""
        raise NotImplementedError

    def first(self) -> FirstPass:
        """Add up errors, and count them by size."""
        return self._added(self._begin).result(self._reader.cells)

    def second(self, asked: Asked) -> SecondPass:
        """Add up what the baselines lose, and how errors vary."""
        cells = self._reader.cells
        return self._added(lambda: SecondParts(asked, cells, self._reader.clustered)).result()

    def cross(self, centre: float) -> dict[str, Array]:
        """Add up the products of what depends on the predictions of two models, of all rows ("") and by segment."""
        return self._added(lambda: CrossParts(centre)).result(self._reader.cells)


class FileNumbers(BatchNumbers):
    """Those in files."""

    def __init__(self, files: Files, missing: str, at_a_time: int, in_groups: bool = False) -> None:
        reader = NumberReader(files.wanted, missing, in_groups)
        super().__init__(reader, lambda: FirstParts(files.likely_rows, _WITH_WORST))
        self._files, self._at_a_time = files, at_a_time

    def _added(self, begin: "Callable[[], Parts]") -> "Parts":
        one, other = begin(), begin()
        in_turn(self._batches(), [one.add, other.add])
        parts = one.joined(other)
        if isinstance(parts, FirstParts) and not parts.rows:
            raise self._files.nothing_there()
        return parts

    def _batches(self) -> Iterator[NumberBatch]:
        none = np.zeros(0)
        for batch in self._files.read_batches(self._at_a_time, self._reader.read):
            yield NumberBatch(Numbers(none, none, None), None, Dropped(batch)) if isinstance(batch, int) else batch


# ── what is kept of all rows and of those of each segment ────────────────────────────────────────────────────────
class FirstParts:
    """What the first pass adds up: errors by segment, and a picture of truths and predictions on a coarse grid.

    Of very many rows evenly spaced ones are pictured, which stand for several each.
    """

    def __init__(self, likely_rows: int, parts: tuple[str, ...] = _PARTS) -> None:
        self._found: dict[int, _First] = {}
        self._step, self._parts = max(likely_rows // _PICTURED, 1), parts
        self._cells: list[CellCounts] = []
        self.rows, self._dropped, self._lost = 0, 0, 0.0

    def add(self, batch: NumberBatch) -> None:
        """Add some rows."""
        self._dropped, self._lost = self._dropped + batch.dropped.rows, self._lost + batch.dropped.weight
        self.rows += len(batch.rows.truth)
        for some in batch.rows.take(slice(None, None, self._step)).blocks(BLOCK):
            self._cells.append(count_cells(some.truth, some.prediction, some.weight))
        for cell, some in batch.by_cell() if batch.cells is not None else [(0, batch.rows)]:
            if len(some.truth):
                self._found.setdefault(cell, _First(self._parts)).add(some)

    def joined(self, other: Self) -> Self:
        """Put together what was added in two places."""
        for cell, part in other._found.items():
            self._found[cell] = self._found[cell].joined(part) if cell in self._found else part
        self._cells += other._cells
        self.rows, self._dropped = self.rows + other.rows, self._dropped + other._dropped
        self._lost += other._lost
        return self

    def result(self, cells: Mapping[str, int]) -> FirstPass:
        """Return the sums of all rows, and of segments, which have these numbers."""
        found = {cell: part.result() for cell, part in self._found.items()}
        picture = {cell: count * self._step for cell, count in histogram_of(self._cells).items()}
        whole = replace(ErrorSums.sum(found.values()), histogram=picture)
        segments = {name: found[cell] for name, cell in cells.items()}
        return FirstPass(whole, segments, self.rows, self._dropped, self._lost)


class SecondParts:
    """What the second pass adds up: what baselines lose and how errors vary, also in segments by their numbers."""

    def __init__(
        self,
        asked: Asked,
        cells: Mapping[str, int],
        clustered: bool,
        operations: ArrayOperations = _HERE,
        block: int = _BLOCK,
    ) -> None:
        def adding(said: float, sums: ErrorSums) -> _Second:
            return _Second(asked.centre, said, sums.sizes, clustered, operations, block)

        self._whole = adding(asked.whole, asked.first.whole)
        self._found = {name: adding(asked.segments[name], asked.first.segments[name]) for name in cells}
        self._names = {cell: name for name, cell in cells.items()}

    def add(self, batch: NumberBatch) -> None:
        """Add some rows."""
        self._whole.add(batch.rows)
        for cell, rows in batch.by_cell():
            self._found[self._names[cell]].add(rows)

    def joined(self, other: Self) -> Self:
        """Put together what was added in two places."""
        self._whole = self._whole.joined(other._whole)
        self._found = {name: part.joined(other._found[name]) for name, part in self._found.items()}
        return self

    def result(self) -> SecondPass:
        """Return the sums of all rows, and of segments."""
        return SecondPass(self._whole.result(), {name: part.result() for name, part in self._found.items()})


class CrossParts:
    """The products of what depends on the predictions of two models."""

    def __init__(self, centre: float) -> None:
        self._centre = centre
        self._found: dict[int, Array] = {}

    def add(self, batch: NumberBatch) -> None:
        """Add some rows."""
        for cell, some in batch.by_cell() if batch.cells is not None else [(0, batch.rows)]:
            for rows in some.blocks(_BLOCK):
                both = (rows.terms(said, self._centre, 0.0, _HERE)[0][[*OWN]] for said in (rows.prediction, rows.other))
                self._found[cell] = self._found.get(cell, 0.0) + next(both) @ next(both).T

    def joined(self, other: Self) -> Self:
        """Put together what was added in two places."""
        for cell, products in other._found.items():
            self._found[cell] = self._found.get(cell, 0.0) + products
        return self

    def result(self, cells: Mapping[str, int]) -> dict[str, Array]:
        """Return the products of all rows (""), and of segments, which have these numbers."""
        by_name = {name: self._found[cell] for name, cell in cells.items()}
        return {"": np.sum([*self._found.values()], axis=0), **by_name}


Parts = TypeVar("Parts", FirstParts, SecondParts, CrossParts)


class _First:
    """Sums of errors, and how many there are of each size."""

    def __init__(self, parts: tuple[str, ...]) -> None:
        self._parts = parts
        self._sums: ErrorSums | None = None
        self._sizes = Sizes(_HERE)

    def add(self, rows: Numbers) -> None:
        """Add some rows."""
        self._add(ErrorSums.from_rows(rows.truth, rows.prediction, rows.weight, places=rows.places, parts=self._parts))
        error = rows.error
        self._sizes.add(np.abs(error, out=error), rows.weight)

    def _add(self, sums: ErrorSums) -> None:
        self._sums = sums if self._sums is None else ErrorSums.sum([self._sums, sums])

    def joined(self, other: "_First") -> "_First":
        """Put together what was added in two places."""
        assert other._sums is not None
        self._add(other._sums)
        self._sizes.join(other._sizes)
        return self

    def result(self) -> ErrorSums:
        """Return the sums of all that was added."""
        assert self._sums is not None
        return replace(self._sums, sizes=self._sizes.result())


class _Second:
    """What a number loses that is always said, how errors vary, and the rows that can carry a figure."""

    def __init__(
        self, centre: float, said: float, sizes: SizeCounts | None, clustered: bool, operations: ArrayOperations,
        block: int,
    ) -> None:  # fmt: skip
        self._centre, self._said, self._ops, self._block = centre, said, operations, block
        self._lost = np.zeros(4, np.longdouble)
        self._largest = 0.0
        self._products: Array = np.zeros((len(TERMS), len(TERMS)))
        self._clusters: Array | None = np.zeros((0, len(TERMS))) if clustered else None
        self._away = Sizes(operations)
        self._sizes, self._around = sizes, (np.inf, np.inf) if sizes is None else sizes.median_range
        self._middle: list[Array] = [np.zeros((2, 0))]
        self._waiting = 0
        self._heavy = [np.zeros((5, 0))] * len(KEYS)
        self._least_heavy = [-np.inf] * len(KEYS)
        self._rows = 0

    def add(self, rows: Numbers) -> None:
        """Add some rows."""
        if self._clusters is not None:
            rows = rows.take(order_of(np.asarray(rows.cluster)))
        for block in rows.blocks(self._block):
            self._add_block(block)
        self._away.add(abs(rows.truth - self._said), rows.weight)

    def joined(self, other: "_Second") -> "_Second":
        """Put together what was added in two places."""
        self._lost += other._lost
        self._largest = max(self._largest, other._largest)
        self._products += other._products
        if self._clusters is not None and other._clusters is not None:
            self._clusters = _add_rows(self._clusters, other._clusters)
        self._away.join(other._away)
        self._middle += other._middle
        self._heavy = [heaviest(both) for both in zip(self._heavy, other._heavy, strict=True)]
        self._rows += other._rows
        return self

    def _add_block(self, rows: Numbers) -> None:
        ops = self._ops
        terms, lost = rows.terms(rows.prediction, self._centre, self._said, ops)
        self._lost += ops.home(ops.stacked([one.sum() for one in (terms[AWAY], *lost)]))
        self._largest = max(self._largest, float(abs(rows.truth - self._said).max()))
        if self._clusters is None:
            for part in (slice(_HALF), slice(_HALF, None)):  # a matrix times itself has no quick way
                self._products[part] += ops.home(terms[part] @ terms.T)
            self._keep_heavy(terms, rows)
            self._rows += len(rows.truth)
        else:
            self._add_clusters(terms, rows.cluster)
        sizes = terms[_SIZE] if rows.weight is None else abs(rows.error)
        here = ops.places((sizes >= self._around[0]) & (sizes <= self._around[1]))
        self._waiting += len(here)
        self._middle.append(np.stack([ops.home(sizes[here]), ops.home(terms[0][here])]))
        if self._waiting > _MANY:
            self._middle, self._waiting = [self._around_median()], 0

    def _keep_heavy(self, terms: Tensor, rows: Numbers) -> None:
        """Keep a few rows of those that have most of a term that grows without end."""
        most = self._ops.home(self._ops.stacked([terms[key].max() for key in KEYS]))
        for place, key in enumerate(KEYS):
            if most[place] <= self._least_heavy[place]:  # as nearly always, once some blocks were seen
                continue
            top = self._ops.places(terms[key] > self._least_heavy[place])
            if len(top) > HEAVY:
                top = top[self._ops.top(terms[key][top], HEAVY)]
            own = (self._ops.home(one[top]) for one in (terms[key], rows.truth, rows.prediction, terms[0]))
            found = np.stack([*own, np.ones(len(top))])
            self._heavy[place] = kept = heaviest([self._heavy[place], found])
            self._least_heavy[place] = kept[0].min() if kept.shape[1] == HEAVY else -np.inf

    def _add_clusters(self, terms: Array, cluster: Array | None) -> None:
        assert self._clusters is not None
        assert cluster is not None
        most = int(cluster[-1]) + 1  # they are in their order
        if most > len(self._clusters):
            self._clusters = _add_rows(self._clusters, np.zeros((most, len(TERMS))))
        starts = np.flatnonzero(np.append(True, cluster[1:] != cluster[:-1]))
        self._clusters[cluster[starts]] += np.add.reduceat(terms, starts, axis=1).T

    def _around_median(self) -> Array:
        """The sizes of errors around the median, and how many there are of each."""
        return np.stack(add_up(*np.concatenate(self._middle, axis=1)))

    def result(self) -> SecondSums:
        """Return the sums of all that was added."""
        numbers = None if self._clusters is None else np.flatnonzero(self._clusters[:, 0])
        held = None if self._clusters is None else self._clusters[numbers]
        products = self._products if held is None else None
        away, balance, logs, shares = map(float, self._lost)
        lost = away, balance, logs, shares, self._largest
        errors = None if self._sizes is None else self._sizes.refined(*self._around_median())
        heavy = HeavyRows(tuple(self._heavy), self._rows) if held is None else None
        return SecondSums(*lost, products, held, self._away.result(), errors, heavy, numbers)


_SIZE, _HALF = TERMS.index("size"), len(TERMS) // 2


def _add_rows(one: Array, other: Array) -> Array:
    """The sums of two tables, of which one may have more rows."""
    longer, shorter = sorted((one, other), key=len, reverse=True)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total


class Sizes:
    """How many sizes (or what weight of them) lie in each bin of the fixed grid."""

    def __init__(self, operations: ArrayOperations) -> None:
        self._ops = operations
        self._zeros = 0.0
        self._start = 0
        self._dense: Array = np.zeros(0)
        self._sparse: list[tuple[Array, ...]] = []

    def add(self, sizes: Tensor, weight: Tensor | None) -> None:
        """Count some |x|."""
        ops = self._ops
        numbers = ops.bits(ops.cast(sizes, "float64")) >> (52 - bins.FINE)  # as bins.numbers() of what is not < 0
        if not len(numbers):
            return
        low, high = map(int, ops.ends(numbers))
        if low == 0:
            positive = numbers > 0
            self._zeros += float((~positive).sum() if weight is None else weight[~positive].sum())
            self.add(sizes[positive], None if weight is None else weight[positive])
            return
        if high - low < _DENSE and self._make_room(low, high):
            here = slice(low - self._start, high + 1 - self._start)
            numbers -= low
            self._dense[here] += ops.home(ops.count(numbers, high - low + 1, weight))
        else:
            weight = np.ones(len(numbers)) if weight is None else ops.home(weight).astype(np.float64)
            self._sparse.append(add_up(ops.home(numbers), weight))

    def join(self, other: "Sizes") -> None:
        """Add what was counted elsewhere."""
        self._zeros += other._zeros
        self._sparse += other._sparse
        there = np.flatnonzero(other._dense)
        self._sparse.append((there + other._start, other._dense[there]))

    def _make_room(self, low: int, high: int) -> bool:
        self._start = self._start if len(self._dense) else low
        more = max(self._start - low, 0), max(high + 1 - self._start - len(self._dense), 0)
        if len(self._dense) + sum(more) > _DENSE:
            return False
        if any(more):
            self._start, self._dense = self._start - more[0], np.pad(self._dense, more)
        return True

    def result(self) -> SizeCounts | None:
        """Return the bins that hold any."""
        there = np.flatnonzero(self._dense)
        numbers, counts = put_together([(there + self._start, self._dense[there]), *self._sparse])
        lower = bins.edges(numbers, "line")
        if self._zeros:
            lower, counts = np.append(0.0, lower), np.append(self._zeros, counts)
        return SizeCounts.of_bins(lower, counts) if len(lower) else None
