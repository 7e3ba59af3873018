"""Rows of predicted numbers as they come in batches, checked, with their segments and clusters as numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stakes.engines.cells import Cells
from stakes.engines.clusters.numbering import ClusterGroups
from stakes.engines.columns import Arguments, Column, to_column
from stakes.engines.kinds import read_numbers
from stakes.engines.labels import encode
from stakes.engines.numbers.passes import OTHER
from stakes.engines.rows import Dropped, rows_that_count
from stakes.engines.segments import segment_labels
from stakes.engines.tensors.arrays import Tensor
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import deal_out
from stakes.tallies.moments import differences
from stakes.tallies.operations import ArrayOperations


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
        """Blocks of this many rows."""
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
    """Reads and checks batches of some columns; segments are numbered in the order in which they come up.

    Clusters are put into groups, as of rows in memory, if there are very many.

    ``in_groups`` deals rows out among groups as if they were clusters: the same ones of every output.
    """

    def __init__(self, wanted: Iterable[str], missing: str, in_groups: bool = False) -> None:
        self._missing, self._in_groups = missing, in_groups
        self.clustered = in_groups or "cluster" in wanted
        self._segments, self._clusters = Cells(), ClusterGroups()
        self._by: dict[str, str] = {name: "" for name in wanted if name.startswith("by")}

    def read(self, found: Arguments, begin: int) -> NumberBatch:
        """Read some rows, of which the first has this number."""
        rows = rows_that_count(found, None, self._missing)
        columns = rows.columns
        truth, prediction, weight = read_numbers(columns, rows.weight)
        other = read_numbers({**columns, "prediction": columns[OTHER]}, None)[1] if OTHER in columns else None
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
        return cells, self._clusters.of(columns["cluster"], cells).astype(np.int64) if "cluster" in columns else None

    @property
    def segments(self) -> int:
        """How many segments came up so far."""
        return len(self._segments.names)

    @property
    def cluster_counts(self) -> tuple[int, dict[str, int]]:
        """The number of clusters, overall and by segment; 0 where there are none."""
        cells = self.cells
        return self._clusters.counts(sorted(cells, key=cells.__getitem__))

    @property
    def cells(self) -> dict[str, int]:
        """The number of each segment by its name, in their order."""
        if not self._by:
            return {}
        columns = {name: to_column(values, name) for name, values in self._segments.columns(self._by).items()}
        labels = segment_labels(columns)
        assert labels is not None
        return {labels.names[labels.codes[cell]]: int(cell) for cell in np.argsort(labels.codes)}
