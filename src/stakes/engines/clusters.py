"""Clusters of rows that were not kept: how many rows of each class lie where in each of them.

What leaving out a cluster changes follows from its rows of each class, by decision and by the cell of a coarse grid
that scores lie in. More clusters than some thousand are put together at random, as those of rows in memory are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import narwhals as nw
import numpy as np

from stakes import errors
from stakes.engines.binning import BinnedCounts
from stakes.engines.cells import Found
from stakes.engines.columns import Column, LazyTable, kind_changes, to_column
from stakes.engines.labels import Labels, encode, whole_numbers
from stakes.engines.memory import Rows
from stakes.engines.plan import Counted
from stakes.engines.queries import QuerySource, collect, lacks, whether
from stakes.engines.segments import segment_labels
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import MOST_GROUPS, Clusters, deal_out
from stakes.tallies.keys import put_together

BITS = 5
"""Into so many bits of a power of two the scores of a cluster are told apart."""

_SPAN = 1 << 11
"""More than there are groups of clusters."""


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Groups of rows alike in cluster, class, decision and cell, and their segments.

    ``count`` is the number of clusters, ``counts`` those of segments; more than some are put together.
    """

    rows: Rows
    by: Labels | None
    grid: tuple[str, int] | None
    count: int
    counts: Mapping[str, int]

    def added_to(self, counted: Counted) -> Counted:
        """Return what was counted with its clusters, and those of its segments."""
        segments = {}
        for code, name in enumerate(() if self.by is None else self.by.names):
            assert self.by is not None
            held = self._clusters(np.flatnonzero(self.by.codes == code), self.counts[name])
            segments[name] = replace(counted.segments[name], clusters=held)
        return replace(counted, clusters=self._clusters(slice(None), self.count), segments=segments)

    def _clusters(self, chosen: Array | slice, count: int) -> Clusters:
        rows = self.rows.take(chosen)
        codes, sizes, scores = np.asarray(rows.cluster), np.asarray(rows.alike, np.float64), rows.scores
        weight, squares = (sizes if one is None else one for one in (rows.weight, rows.squares))
        if scores is not None and self.grid is not None:
            scores = _middles(scores, *self.grid)
        said = rows.truth, rows.prediction, scores, weight
        together = self.count > MOST_GROUPS
        found = Clusters(codes, count, *said) if together else Clusters.of(codes, *said)
        return replace(found, alike=sizes, squares=squares, grid=self.grid)


def _middles(edges: Array, grid: str, bits: int) -> Array:
    """A score inside each cell, which is named by its lower edge."""
    numbers = bins.numbers(edges, grid, bits)
    after = bins.edges(numbers + 1, grid, bits)
    return (edges + (np.minimum(after, 1.0) if grid == "probability" else after)) / 2


# ── in another engine ────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class QueryClusters:
    """The clusters of a table in another engine: each once, how many there are, and how many in each segment."""

    each: LazyTable
    count: int
    counts: Mapping[str, int]

    @classmethod
    def of(cls, source: QuerySource) -> "QueryClusters":
        """Count the clusters, of all rows and of each segment."""
        frame, place = source.frame, source.places["cluster"]
        if source.dtype("cluster").is_nested():
            raise errors.unsupported_type("cluster", str(source.dtype("cluster")))
        gaps = frame.select(whether(lacks(frame, place)).alias("gaps")).select(nw.col("gaps").sum())
        if missing := collect(gaps).item():
            raise errors.missing_values("cluster", int(missing), None)
        if "weight" in source.places:
            frame = frame.filter(nw.col(source.places["weight"]) != 0)
        each = frame.group_by(place).agg(nw.len().alias("rows")).select(place)
        count, counts = int(collect(each.select(nw.len().alias("count"))).item()), {}
        if by := [name for name in source.places if name.startswith("by")]:
            keys = list(dict.fromkeys(source.places[name] for name in by))
            inner = frame.group_by(*dict.fromkeys([*keys, place])).agg(nw.len().alias("rows"))
            table = collect(inner.group_by(*keys).agg(nw.len().alias("count")))
            labels = segment_labels({name: to_column(table[source.places[name]], name) for name in by})
            assert labels is not None
            many = table["count"].to_numpy()
            counts = {labels.names[code]: int(many[row]) for row, code in enumerate(labels.codes.tolist())}
        return cls(each, count, counts)

    def put_together(self, source: QuerySource) -> QuerySource:
        """The same table with numbers of groups in place of clusters, where there are very many of those.

        The engine numbers clusters in their order, and the remainders of a product are as good as random.
        """
        if self.count <= MOST_GROUPS:
            return source
        place = source.places["cluster"]
        dealt = (nw.col("number").cast(nw.Int64) * 16807) % 2147483647 % MOST_GROUPS
        numbered = self.each.with_row_index("number", order_by=place).select(place, dealt.alias("held"))
        frame = source.frame.join(numbered, on=place, how="left")
        return replace(source, frame=frame, places={**source.places, "cluster": "held"})


# ── in files ─────────────────────────────────────────────────────────────────────────────────────────────────────
_DENSE = 1 << 24
"""Clusters whose names are numbers as near to each other as this are looked up in a table."""


class ClusterNumbers:
    """Clusters, numbered in the order in which they come up."""

    def __init__(self) -> None:
        self._kind = ""
        self._known: Array = np.zeros(0, np.int64)
        self._numbers: Array = np.zeros(0, np.int64)
        self._names: dict[str, int] = {}
        self._low, self._table = 0, np.zeros(0, np.int64)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._known) + len(self._names)

    def of(self, cluster: Column) -> Array:
        """The number of the cluster of each row."""
        self._kind = self._kind or cluster.kind
        if cluster.kind != self._kind:
            raise kind_changes("cluster", self._kind, cluster.kind)
        if cluster.kind != "number":
            labels = encode(cluster)
            named = [self._names.setdefault(name, len(self._names)) for name in labels.names]
            return np.array(named, np.int64)[labels.codes]
        values = whole_numbers(cluster).astype(np.int64)
        low, high = int(values.min()), int(values.max()) + 1
        if high - low > _DENSE:
            found, rows = np.unique(values, return_inverse=True)
            return self._number(found)[rows]
        self._make_room(low, high)
        places = values - self._low
        numbers = self._table[places]
        if numbers.min() < 0:
            there = np.zeros(len(self._table), bool)
            there[places[numbers < 0]] = True
            new = np.flatnonzero(there)
            self._table[new] = self._number(new + self._low)
            numbers = self._table[places]
        return numbers

    def _make_room(self, low: int, high: int) -> None:
        """Let the table of numbers hold these clusters too; begin a new one where they lie too far from the others."""
        first, last = min(low, self._low), max(high, self._low + len(self._table))
        if not len(self._table) or last - first > _DENSE:
            self._low, self._table = low, np.full(high - low, -1)
        elif last - first > len(self._table):
            more = self._low - first, last - self._low - len(self._table)
            self._low, self._table = first, np.pad(self._table, more, constant_values=-1)

    def _number(self, found: Array) -> Array:
        """The numbers of clusters that are in their order, each of which is there once."""
        new = np.setdiff1d(found, self._known, assume_unique=True)
        own = len(self._known) + np.arange(len(new))
        self._known, self._numbers = put_together([(self._known, self._numbers), (new, own)])
        return np.asarray(self._numbers[np.searchsorted(self._known, found)])


@dataclass(eq=False)
class ClusterCounts:
    """Rows of each cluster by cell (truth, decision, segment) and by bin of their scores, counted batch by batch.

    The first clusters are groups by themselves, and later ones are dealt out among them.
    """

    _numbers: ClusterNumbers = field(default_factory=ClusterNumbers)
    _bins: BinnedCounts = field(default_factory=lambda: BinnedCounts(BITS))
    _seen: list[Array] = field(default_factory=list)

    def add(self, cluster: Column, found: Found, scores: Array | None, weight: Array | None, by_segment: bool) -> None:
        """Count a batch, whose rows lie in these cells; clusters of segments are counted where there are any."""
        numbers = self._numbers.of(cluster)
        groups = np.where(numbers < MOST_GROUPS, numbers, deal_out(numbers))
        cells = found.of_rows.astype(np.int64)
        self._bins.add(np.zeros(len(cells)) if scores is None else scores, cells * _SPAN + groups, weight)
        if by_segment:
            self._seen = [np.unique(np.concatenate([*self._seen, (cells << 40) + numbers]))]

    def result(self, rows: Rows, by: Labels | None) -> ClusterRows:
        """The groups, where ``rows`` are the cells read as rows, and ``by`` are their segments."""
        found = self._bins.result()
        cells, groups = np.divmod(found.cells, _SPAN)
        scored = rows.scores is not None
        entries = replace(rows.take(cells), cluster=groups, scores=found.edges if scored else None)
        count, counts = self._numbers.count, {}
        if by is not None:
            cell, number = self._seen[0] >> 40, self._seen[0] & ((1 << 40) - 1)
            pairs = np.unique((by.codes[cell].astype(np.int64) << 40) + number)
            counts = dict(zip(by.names, np.bincount(pairs >> 40, minlength=len(by.names)).tolist(), strict=True))
            by = replace(by, codes=by.codes[cells])
        entries = entries.standing_for(found.weights, found.squares)
        if found.squares is not None:
            entries = replace(entries, alike=found.weights**2 / found.squares)
        return ClusterRows(entries, by, (str(found.grid), BITS) if scored else None, count, counts)
