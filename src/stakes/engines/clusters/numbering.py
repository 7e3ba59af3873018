"""Clusters that come in batches, numbered as they appear, and the group of each."""

from collections.abc import Callable, Sequence

import numpy as np

from stakes import errors
from stakes.engines.columns import Column, kind_changes
from stakes.engines.labels import encode, whole_numbers
from stakes.tallies.arithmetic import Array, distinct
from stakes.tallies.clusters import MOST_GROUPS, deal_out

_DENSE = 1 << 24
"""Largest range of numeric cluster names that is looked up in a table."""

_NUMBER_BITS = 40
"""Bits of a cluster's number where that of its segment stands before it."""


class ClusterNumbers:
    """Numbers clusters in order of appearance; ``group`` maps these numbers, to some of this ``kind``."""

    def __init__(self, group: Callable[[Array], Array] = np.asarray, kind: type[np.integer] = np.int32) -> None:
        self._kind, self._group = "", group
        self._whole = 0
        self._known: Array = np.zeros(0, np.int64)
        self._numbers: Array = np.zeros(0, np.int64)
        self._names: dict[str, int] = {}
        self._below_0: set[str] = set()
        self._low, self._table = 0, np.zeros(0, kind)

    @property
    def count(self) -> int:
        """The number of clusters."""
        return self._whole + len(self._names)

    def of(self, cluster: Column) -> Array:
        """The number of each row's cluster, as mapped by ``group``."""
        self._kind = self._kind or cluster.kind
        if cluster.kind != self._kind:
            raise kind_changes("cluster", self._kind, cluster.kind)
        if cluster.kind != "number":
            labels = encode(cluster)
            named = [self._names.setdefault(name, len(self._names)) for name in labels.names]
            return self._group(np.array(named, np.int64))[labels.codes]
        values = whole_numbers(cluster)
        bits = values.view(np.int64) if values.dtype == np.uint64 else values  # as good a name
        low, high = int(bits.min()), int(bits.max()) + 1
        if low < 0:
            self._below_0.add("beyond 2⁶³" if bits is not values else "negative")
            if len(self._below_0) > 1:  # different columns of integers, of which some now have the same bits
                raise errors.beyond_64_bits("cluster")
        values = bits
        low = low if low < 0 or low > high - low else 0
        if high - low > _DENSE:
            found, rows = np.unique(values.astype(np.int64), return_inverse=True)
            self._make_room(low, low)  # an empty range: numbers are kept without a table
            self._remember(found, self._number(found))
            return self._number(found)[rows]
        self._make_room(low, high)
        places = values if self._low == 0 else np.subtract(values, self._low, dtype=np.int64)
        numbers = self._table.take(places)
        if numbers.min() < 0:
            lacking = np.flatnonzero(numbers < 0)
            there = np.zeros(len(self._table), bool)
            there[places[lacking]] = True
            new = np.flatnonzero(there)
            self._table[new] = self._number(new + self._low)
            numbers[lacking] = self._table[places[lacking]]
        return numbers

    def _make_room(self, low: int, high: int) -> None:
        """Extend the table to these clusters; start a new one if they lie too far from the others."""
        first, last = min(low, self._low), max(high, self._low + len(self._table))
        if not len(self._table) or low == high or last - first > _DENSE:
            held = np.flatnonzero(self._table >= 0)
            self._remember(held + self._low, self._table[held])
            self._low, self._table = low, np.full(high - low, -1, self._table.dtype)
        elif last - first > len(self._table):
            more = self._low - first, last - self._low - len(self._table)
            self._low, self._table = first, np.pad(self._table, more, constant_values=-1)

    def _number(self, found: Array) -> Array:
        """The numbers of distinct clusters that are not in the table; new clusters get the next numbers."""
        new = ~np.isin(found, self._known)
        numbers = np.empty(len(found), np.int64)
        numbers[~new] = self._numbers[np.searchsorted(self._known, found[~new])]
        numbers[new] = self._group(self._whole + np.arange(np.count_nonzero(new)))
        self._whole += int(np.count_nonzero(new))
        return numbers

    def _remember(self, found: Array, numbers: Array) -> None:
        """Keep the numbers of clusters that are not in the table."""
        self._known, firsts = np.unique(np.append(self._known, found), return_index=True)
        self._numbers = np.append(self._numbers, numbers)[firsts]


class ClusterGroups:
    """The group of each cluster: the first clusters are groups of their own, later ones are distributed among them.

    Where rows have segments, the clusters of each are ``_seen`` as numbers of both, in order; those of some batches
    wait to be put together with the others.
    """

    def __init__(self) -> None:
        self._numbers = ClusterNumbers(put_in_groups, np.int16)
        self._seen: list[Array] = []

    def of(self, cluster: Column, segment: Array | None = None) -> Array:
        """The group of each row of a batch; the clusters of each ``segment`` are counted, too."""
        if segment is None:
            return self._numbers.of(cluster)
        if not self._seen:
            self._numbers = ClusterNumbers()  # a group does not tell clusters apart
        numbers = self._numbers.of(cluster)
        self._seen.append(distinct((segment.astype(np.int64) << _NUMBER_BITS) + numbers))
        if sum(map(len, self._seen[1:])) > len(self._seen[0]):
            self._seen = [distinct(np.concatenate(self._seen))]
        return put_in_groups(numbers)

    def counts(self, segments: Sequence[str]) -> tuple[int, dict[str, int]]:
        """The number of clusters, overall and by segment, whose names these are."""
        if not self._seen:
            return self._numbers.count, {}
        sizes = np.bincount(distinct(np.concatenate(self._seen)) >> _NUMBER_BITS, minlength=len(segments)).tolist()
        return self._numbers.count, dict(zip(segments, sizes, strict=True))


def put_in_groups(numbers: Array) -> Array:
    """The group of each cluster by its number."""
    return np.where(numbers < MOST_GROUPS, numbers, deal_out(numbers))
