"""Predicted numbers in files: read in batches, and added up as they go by."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from stakes.engines.cells import Cells
from stakes.engines.columns import Arguments, as_finite, to_column
from stakes.engines.files.reading import Files
from stakes.engines.labels import encode
from stakes.engines.numbers import Asked, FirstPass, SecondPass, SecondSums
from stakes.engines.rows import Dropped, rows_that_count
from stakes.engines.segments import segment_labels
from stakes.tallies import ErrorSums, bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_sums import Cell
from stakes.tallies.error_variation import AWAY, OWN, TERMS, HeavyRows, SizeCounts, terms_of_rows
from stakes.tallies.moments import differences
from stakes.tallies.parallel import ahead

_BLOCK = 1 << 13
"""Rows that are worked on at a time: temporaries stay in the processor's cache."""

_PICTURED = 1 << 20
"""About so many rows are looked at for a picture."""

_DENSE = 1 << 22
"""So many neighbouring bins of sizes are counted in a table."""

OTHER = "prediction of another model"

_PARTS = ("prediction", "logs", "percentages", "worst")


@dataclass(frozen=True, eq=False)
class Numbers:
    """Some rows: truth, prediction, weight, the number of the cluster, and their numbers in the whole.

    ``other`` is what another model predicts.
    """

    truth: Array
    prediction: Array
    weight: Array | None
    cluster: Array | None
    places: Array
    other: Array | None = None

    def take(self, rows: Array | slice) -> "Numbers":
        """Return some of them."""
        beside = (None if one is None else one[rows] for one in (self.weight, self.cluster, self.other))
        weight, cluster, other = beside
        return Numbers(self.truth[rows], self.prediction[rows], weight, cluster, self.places[rows], other)


@dataclass(frozen=True, eq=False)
class NumberBatch:
    """Rows that were read at once, and their segments as numbers."""

    rows: Numbers
    cells: Array | None
    dropped: Dropped

    def by_cell(self) -> Iterator[tuple[int, Numbers]]:
        """The rows of each segment."""
        if self.cells is None:
            return
        order = np.argsort(self.cells, kind="stable")
        rows, cells = self.rows.take(order), self.cells[order]
        starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
        for start, end in zip(starts, [*starts[1:], len(cells)], strict=True):
            yield int(cells[start]), rows.take(slice(start, end))


class FileNumbers:
    """Truths and predictions in files, which are read anew for each pass."""

    def __init__(self, files: Files, missing: str, at_a_time: int) -> None:
        self._files, self._missing, self._at_a_time = files, missing, at_a_time
        self._segments, self._clusters = Cells(), Cells()
        self._by: dict[str, str] = {name: "" for name in files.wanted if name.startswith("by")}

    def first(self) -> FirstPass:
        """Add up errors, and count them by size."""
        parts: dict[int, _First] = {}
        picture = _Picture(self._files.likely_rows)
        rows, dropped, lost = 0, 0, 0.0
        for batch in ahead(self._batches()):
            dropped, lost = dropped + batch.dropped.rows, lost + batch.dropped.weight
            rows += len(batch.rows.truth)
            picture.add(batch.rows)
            for cell, some in batch.by_cell() if self._by else [(0, batch.rows)]:
                if len(some.truth):
                    parts.setdefault(cell, _First()).add(some)
        if not rows:
            raise self._files.nothing_there()
        found = {cell: part.result() for cell, part in parts.items()}
        whole = replace(ErrorSums.sum(found.values()), histogram=picture.result())
        segments = {name: found[cell] for name, cell in self._cells().items()} if self._by else {}
        return FirstPass(whole, segments, rows, dropped, lost)

    def second(self, asked: Asked) -> SecondPass:
        """Add up what the baselines lose, and how errors vary."""
        clustered = "cluster" in self._files.wanted
        whole = _Second(asked.centre, asked.whole, asked.first.whole.sizes, clustered)
        cells = self._cells() if self._by else {}
        parts = {
            cell: _Second(asked.centre, asked.segments[name], asked.first.segments[name].sizes, clustered)
            for name, cell in cells.items()
        }
        for batch in ahead(self._batches()):
            if len(batch.rows.truth):
                whole.add(batch.rows)
            for cell, rows in batch.by_cell():
                parts[cell].add(rows)
        return SecondPass(whole.result(), {name: parts[cell].result() for name, cell in cells.items()})

    def cross(self, centre: float) -> dict[str, Array]:
        """Add up the products of what depends on the predictions of two models, of all rows ("") and by segment."""
        products: dict[int, Array] = {}
        for batch in ahead(self._batches()):
            for cell, some in batch.by_cell() if self._by else [(0, batch.rows)]:
                for start in range(0, len(some.truth), _BLOCK):
                    found = _cross(some.take(slice(start, start + _BLOCK)), centre)
                    products[cell] = products.get(cell, 0.0) + found
        by_name = {name: products[cell] for name, cell in self._cells().items()} if self._by else {}
        return {"": np.sum([*products.values()], axis=0), **by_name}

    def _batches(self) -> Iterator[NumberBatch]:
        """Read and check the rows, batch by batch."""
        none = np.zeros(0)
        for batch in self._files.read_batches(self._at_a_time, self._read):
            if isinstance(batch, int):
                yield NumberBatch(Numbers(none, none, None, None, none), None, Dropped(batch))
            else:
                yield batch

    def _read(self, found: Arguments, begin: int) -> NumberBatch:
        rows = rows_that_count(found, None, self._missing)
        columns = rows.columns
        truth, prediction = as_finite(columns["truth"]), as_finite(columns["prediction"])
        places = begin + (np.arange(len(truth)) if rows.places is None else rows.places)
        by = {name: columns[name] for name in self._by}
        self._by |= {name: column.kind for name, column in by.items()}
        cells = self._segments.of([encode(column) for column in by.values()]).of_rows if by else None
        cluster = self._clusters.of([encode(columns["cluster"])]).of_rows if "cluster" in columns else None
        other = as_finite(columns[OTHER]) if OTHER in columns else None
        return NumberBatch(Numbers(truth, prediction, rows.weight, cluster, places, other), cells, rows.dropped)

    def _cells(self) -> dict[str, int]:
        """The number of each segment by its name, in their order."""
        columns = {name: to_column(values, name) for name, values in self._segments.columns(self._by).items()}
        labels = segment_labels(columns)
        assert labels is not None
        return {labels.names[labels.codes[cell]]: int(cell) for cell in np.argsort(labels.codes)}


def _cross(rows: Numbers, centre: float) -> Array:
    assert rows.other is not None
    one, other = (
        terms_of_rows(rows.truth, said, rows.weight, centre, 0.0)[0][[*OWN]] for said in (rows.prediction, rows.other)
    )
    return np.asarray(one @ other.T)


# ── what is kept of the rows of a segment, or of all ─────────────────────────────────────────────────────────────
class _First:
    """Sums of errors, and how many there are of each size."""

    def __init__(self) -> None:
        self._sums: ErrorSums | None = None
        self._sizes = _Sizes()

    def add(self, rows: Numbers) -> None:
        """Add some rows."""
        columns = rows.truth, rows.prediction
        sums = ErrorSums.from_rows(*columns, rows.weight, places=rows.places, parts=_PARTS)
        self._sums = sums if self._sums is None else ErrorSums.sum([self._sums, sums])
        self._sizes.add(np.abs(differences(*columns)), rows.weight)

    def result(self) -> ErrorSums:
        """Return the sums of all that was added."""
        assert self._sums is not None
        return replace(self._sums, sizes=self._sizes.result())


class _Picture:
    """Truths and predictions on a coarse grid; of very many rows evenly spaced ones, which stand for several each."""

    def __init__(self, likely_rows: int) -> None:
        self._step = max(likely_rows // _PICTURED, 1)
        self._cells: list[ErrorSums] = []

    def add(self, rows: Numbers) -> None:
        """Add some rows."""
        some = rows.take(slice(None, None, self._step))
        if len(some.truth):
            seen = ErrorSums.from_rows(some.truth, some.prediction, some.weight, parts=("histogram",))
            self._cells = [ErrorSums.sum([*self._cells, seen])]

    def result(self) -> dict[Cell, float]:
        """Return how many rows lie in each cell."""
        return {cell: count * self._step for cell, count in (self._cells[0].histogram or {}).items()}


class _Second:
    """What a number loses that is always said, how errors vary, and the rows that can carry a figure."""

    def __init__(self, centre: float, said: float, sizes: SizeCounts | None, clustered: bool) -> None:
        self._centre, self._said = centre, said
        self._lost = np.zeros(4, np.longdouble)
        self._largest = 0.0
        self._products: Array = np.zeros((len(TERMS), len(TERMS)))
        self._clusters: Array | None = np.zeros((0, len(TERMS))) if clustered else None
        self._away = _Sizes()
        self._around = (np.inf, np.inf) if sizes is None else sizes.median_range
        self._middle: list[Array] = []
        self._heavy: HeavyRows | None = None

    def add(self, rows: Numbers) -> None:
        """Add some rows."""
        for start in range(0, len(rows.truth), _BLOCK):
            self._add_block(rows.take(slice(start, start + _BLOCK)))
        self._away.add(np.abs(rows.truth - self._said), rows.weight)

    def _add_block(self, rows: Numbers) -> None:
        terms, lost = terms_of_rows(rows.truth, rows.prediction, rows.weight, self._centre, self._said)
        self._lost += [terms[AWAY].sum(), *lost.sum(axis=1)]
        self._largest = max(self._largest, float(np.abs(rows.truth - self._said).max()))
        if self._clusters is None:
            self._products += terms @ terms.T
            self._keep_heavy(terms, rows)
        else:
            self._add_clusters(terms, rows.cluster)
        sizes = np.abs(differences(rows.truth, rows.prediction))
        here = np.flatnonzero((sizes >= self._around[0]) & (sizes <= self._around[1]))
        self._middle.append(np.stack([sizes[here], terms[0, here]]))

    def _keep_heavy(self, terms: Array, rows: Numbers) -> None:
        found = HeavyRows.of(terms, rows.truth, rows.prediction)
        self._heavy = found if self._heavy is None else HeavyRows.joined([self._heavy, found])

    def _add_clusters(self, terms: Array, cluster: Array | None) -> None:
        assert self._clusters is not None
        assert cluster is not None
        most = max(int(cluster.max()) + 1, len(self._clusters))
        self._clusters = np.pad(self._clusters, ((0, most - len(self._clusters)), (0, 0)))
        np.add.at(self._clusters, cluster, terms.T)

    def result(self) -> SecondSums:
        """Return the sums of all that was added."""
        held = None if self._clusters is None else self._clusters[self._clusters[:, 0] > 0]
        around, weights = np.concatenate(self._middle, axis=1)
        sizes, place = np.unique(around, return_inverse=True)
        away, balance, logs, shares = map(float, self._lost)
        return SecondSums(
            away,
            balance,
            logs,
            shares,
            self._largest,
            self._products if held is None else None,
            held,
            self._away.result(),
            (sizes, np.bincount(place, weights, len(sizes))),
            self._heavy,
        )


class _Sizes:
    """How many sizes (or what weight of them) lie in each bin of the fixed grid."""

    def __init__(self) -> None:
        self._zeros = 0.0
        self._start = 0
        self._dense: Array = np.zeros(0)
        self._sparse: list[tuple[Array, Array]] = []

    def add(self, sizes: Array, weight: Array | None) -> None:
        """Count some."""
        numbers = (sizes + 0.0).view(np.int64) >> (52 - bins.FINE)  # as bins.numbers() does for what is not below 0
        positive = numbers > 0
        if not positive.all():
            self._zeros += float((~positive).sum() if weight is None else weight[~positive].sum())
            numbers, weight = numbers[positive], None if weight is None else weight[positive]
        if not len(numbers):
            return
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < _DENSE and self._make_room(low, high):
            self._dense += np.bincount(numbers - self._start, weight, len(self._dense))
        else:
            found, place = np.unique(numbers, return_inverse=True)
            self._sparse.append((found, np.bincount(place, weight, len(found)).astype(np.float64)))

    def _make_room(self, low: int, high: int) -> bool:
        start, end = (low, high + 1) if not len(self._dense) else (
            min(low, self._start), max(high + 1, self._start + len(self._dense))
        )  # fmt: skip
        if end - start > _DENSE:
            return False
        dense = np.zeros(end - start)
        dense[self._start - start :][: len(self._dense)] = self._dense
        self._start, self._dense = start, dense
        return True

    def result(self) -> SizeCounts | None:
        """Return the bins that hold any."""
        there = np.flatnonzero(self._dense)
        parts = [(there + self._start, self._dense[there]), *self._sparse]
        numbers, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
        counts = np.bincount(place, np.concatenate([part[1] for part in parts]), len(numbers))
        lower = bins.edges(numbers, "line")
        if self._zeros:
            lower, counts = np.append(0.0, lower), np.append(self._zeros, counts)
        return SizeCounts.of_bins(lower, counts) if len(lower) else None
