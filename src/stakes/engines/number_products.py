"""Sums of products of the terms of predicted numbers, about an origin that may be moved afterwards."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from stakes.engines.number_rows import NumberBatch, Numbers
from stakes.engines.tensors.arrays import Tensor
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_terms import BETWEEN, COLUMNS, FORMULAS, IN_ORDER, OWN, ArrayTerms, Origin, move
from stakes.tallies.operations import ArrayOperations
from stakes.tallies.parallel import to_each

BLOCK = 20_000
"""Rows of arrays in memory that are worked on at a time: few enough for a cache, and for BLAS to multiply quickly."""

HERE = ArrayOperations()

_LARGE = np.errstate(over="ignore", invalid="ignore")
"""What no float holds is refused once all rows were added, or has no interval."""

_PLACE, _ROOM = {name: place for place, name in enumerate(COLUMNS)}, len(COLUMNS) + len(BETWEEN)
_ALL, _WITHOUT_SHARES = slice(0, len(COLUMNS)), slice(_PLACE["prediction"], _PLACE["logs"])
"""The columns that are made: all, or those without shares and logarithms."""

VARYING = _PLACE["one"]
"""From here on are the columns whose products say how figures vary: all terms, and the sign that moves one of them."""

_OWN = [IN_ORDER[place] for place in OWN]
_PAIRS = [
    (slice(_PLACE["prediction"], _PLACE["error"]), slice(0, _PLACE["size"])),
    (slice(_PLACE["size"], _PLACE["square"]), slice(VARYING, _PLACE["square"])),
    (slice(_PLACE["square"], len(COLUMNS)), slice(VARYING, len(COLUMNS))),
]
"""Which columns are multiplied with which: a few at a time, for which BLAS has a quick way."""

_SQUARES = [tuple(_PLACE[each] for each in (*FORMULAS[name][1:], name)) for name in ("square", "cross", "truth2")]
"""Columns whose product is a column."""


class ProductSums:
    """Sums over rows of products of every two ``COLUMNS``: times weights, and times squared weights.

    Of rows in clusters sums of the columns by cluster stand in for the second. ``COLUMNS`` has a column of ones, so
    sums of single columns are among the products. Without ``shares`` what needs them is NaN.
    """

    def __init__(self, weighted: bool, clustered: bool, shares: bool = True) -> None:
        self.made = _ALL if shares else _WITHOUT_SHARES
        self._sums = np.full((len(COLUMNS), len(COLUMNS)), np.nan, np.longdouble)
        self._sums[self.made, self.made] = 0.0
        self._squared = self._sums.copy() if weighted and not clustered else None
        self.clusters: Array | None = np.zeros((0, len(self._varying))) if clustered else None
        self._memory: Tensor | None = None

    @_LARGE
    def add(self, rows: Numbers, at: Origin, logs: bool, ops: ArrayOperations = HERE, times: int = 1) -> Tensor:
        """Add rows, or take them away, those of a cluster one after another; return columns with weights.

        The columns are overwritten by the next rows.
        """
        made = self.made
        columns = _columns(rows, at, logs, ops, self._room(rows.truth, ops), made)
        weighed = columns if rows.weight is None else columns * rows.weight
        self._sums[made, made] += times * _products(weighed, columns, ops, made)
        if self._squared is not None:
            self._squared[made, made] += times * _products(weighed, weighed, ops, made)
        if self.clusters is not None:
            self._add_clusters(times * weighed[VARYING - made.start :], np.asarray(rows.cluster))
        return weighed

    @property
    def _varying(self) -> Sequence[str]:
        """The columns that are added up by cluster."""
        return COLUMNS[VARYING : self.made.stop]

    def _room(self, truth: Tensor, ops: ArrayOperations) -> Tensor:
        """Memory that was used before: new memory takes longer to get than to fill."""
        size = _ROOM * len(truth)
        if self._memory is None or len(self._memory) < size:
            self._memory = ops.empty(size, truth, "float64")
        return self._memory[:size].reshape(_ROOM, len(truth))

    def _add_clusters(self, columns: Array, cluster: Array) -> None:
        assert self.clusters is not None
        lacking = int(cluster[-1]) + 1 - len(self.clusters)
        if lacking > 0:  # and some that may come
            self.clusters = np.pad(self.clusters, ((0, lacking + len(self.clusters) // 4), (0, 0)))
        starts = np.flatnonzero(np.append(True, cluster[1:] != cluster[:-1]))
        self.clusters[cluster[starts]] += np.add.reduceat(columns, starts, axis=1).T

    @_LARGE
    def moved(self, old: Origin, new: Origin, near: Numbers) -> "ProductSums":
        """The sums about another origin; ``near`` are all rows whose truth may lie between the two baselines.

        All other truths lie on the same side of both, so their distances change by what the baselines differ by.
        """
        found = copy.copy(self)
        found._sums, found._squared, found.clusters = copy.deepcopy((self._sums, self._squared, self.clusters))
        found._memory = None  # which may lie elsewhere, near rows are here
        if len(near.truth):
            found.add(near, old, near.has_logs, times=-1)
        logs = np.log1p(old.baseline) - np.log1p(new.baseline) if min(old.baseline, new.baseline) > -1 else 0.0
        by = old.centre - new.centre, old.baseline - new.baseline, float(logs), old.predicted - new.predicted
        for sums in (found._sums, found._squared):
            if sums is not None:
                move(sums, COLUMNS, *by)
                move(sums.T, COLUMNS, *by)
        if found.clusters is not None:
            move(found.clusters.T, self._varying, *by)
        if len(near.truth):
            found.add(near, new, near.has_logs)
        return found

    @_LARGE
    def joined(self, other: "ProductSums") -> "ProductSums":
        """Add what was added elsewhere, about the same origin."""
        self._sums += other._sums
        if self._squared is not None and other._squared is not None:
            self._squared += other._squared
        if self.clusters is not None and other.clusters is not None:
            longer, shorter = sorted((self.clusters, other.clusters), key=len, reverse=True)
            longer[: len(shorter)] += shorter
            self.clusters = longer
        return self

    def sum_of(self, name: str) -> float:
        """The sum of a column, or of a term that is the product of two, times weights."""
        one, other = (name, "one") if name in _PLACE else FORMULAS[name][1:]
        return float(self._sums[_PLACE[one], _PLACE[other]])

    @property
    @_LARGE
    def products(self) -> Array:
        """Sums of products of every two terms, times squared weights."""
        sums = self._sums if self._squared is None else self._squared
        return sums[np.ix_(IN_ORDER, IN_ORDER)].astype(np.float64)

    @property
    def by_cluster(self) -> tuple[Array, Array]:
        """The numbers of the clusters that there are, and the sums of their terms."""
        assert self.clusters is not None
        numbers = np.flatnonzero(self.clusters[:, 0])
        found = np.full((len(numbers), len(COLUMNS)), np.nan)
        found[:, VARYING : self.made.stop] = self.clusters[numbers]
        return numbers, found[:, IN_ORDER]


def _columns(rows: Numbers, at: Origin, logs: bool, ops: ArrayOperations, room: Tensor, made: slice = _ALL) -> Tensor:
    """The columns of rows, without weights, made in this room."""
    truth, prediction = (ops.cast(one, "float64") for one in (rows.truth, rows.prediction))
    terms = ArrayTerms(truth, prediction, at, logs, ops.xp, dict(zip((*COLUMNS, *BETWEEN), room, strict=True)).get)
    terms.put("one", 1.0)
    if rows.truth is not truth or rows.prediction is not prediction:
        terms.put("error", rows.error)
    for name in COLUMNS[made]:
        _ = terms[name]
    return room[made]


def _products(left: Tensor, right: Tensor, ops: ArrayOperations, made: slice) -> Array:
    """The sums of products of the columns that were made; ``@`` would keep other threads waiting."""
    found = np.zeros((len(COLUMNS), len(COLUMNS)))
    for pair in _PAIRS:
        some, others = (slice(max(one.start, made.start), min(one.stop, made.stop)) for one in pair)
        here, there = (slice(one.start - made.start, one.stop - made.start) for one in (some, others))
        found[some, others] = product = ops.home(ops.xp.inner(left[here], right[there]))
        found[others, some] = product.T
    for one, other, square in _SQUARES:
        found[one, other] = found[other, one] = found[square, _PLACE["one"]]
    return found[made, made]


class CrossParts:
    """The products of what depends on the predictions of two models."""

    def __init__(self, centre: float) -> None:
        self._at = Origin(centre, 0.0)
        self._found: dict[int, Array] = {}

    def add_all(self, batches: Iterator[NumberBatch]) -> None:
        """Add rows that come in batches."""
        to_each(batches, [self.add])

    def add(self, batch: NumberBatch) -> None:
        """Add some rows, those of each segment by its number."""
        for cell, some in batch.by_cell() if batch.cells is not None else [(0, batch.rows)]:
            for rows in some.blocks(BLOCK):
                one, other = (self._own(model) for model in (rows, replace(rows, prediction=rows.other)))
                self._found[cell] = self._found.get(cell, 0.0) + np.inner(one, other)

    def _own(self, rows: Numbers) -> Array:
        found = _columns(rows, self._at, rows.has_logs, HERE, np.empty((_ROOM, len(rows.truth))))[_OWN]
        return np.asarray(found if rows.weight is None else found * rows.weight)

    def joined(self, other: Self) -> Self:
        """Put together what was added in two places."""
        for cell, products in other._found.items():
            self._found[cell] = self._found.get(cell, 0.0) + products
        return self

    def result(self, cells: Mapping[str, int]) -> dict[str, Array]:
        """Return the products of all rows (""), and of segments, which have these numbers."""
        by_name = {name: self._found[cell] for name, cell in cells.items()}
        return {"": np.sum([*self._found.values()], axis=0), **by_name}
