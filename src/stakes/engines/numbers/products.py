"""Sums of products of the terms of predicted numbers, about an origin that may be moved afterwards."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Self

import numpy as np

from stakes.engines.numbers.rows import NumberBatch, Numbers
from stakes.engines.tensors.arrays import Tensor
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_terms import BETWEEN, COLUMNS, FORMULAS, IN_ORDER, OWN, ArrayTerms, Origin, move
from stakes.tallies.operations import ArrayOperations

BLOCK = 20_000
"""Rows of arrays in memory that are worked on at a time: few enough for a cache, and for BLAS to multiply quickly."""

HERE = ArrayOperations()

_LARGE = np.errstate(over="ignore", invalid="ignore")
"""What no float holds is refused once all rows were added, or has no interval."""

_PLACE = {name: place for place, name in enumerate(COLUMNS)}

VARYING, GROWING = _PLACE["one"], _PLACE["square"]
"""From here on are the columns whose products say how figures vary (all terms, and the sign that moves one of them),
and those that grow without end, in the order of ``KEYS``."""

_OWN = [IN_ORDER[place] for place in OWN]
_SQUARES = [(*FORMULAS[name][1:], name) for name in ("square", "cross", "truth2")]
"""Columns whose product is a column."""


def _pairs(at_a_time: int) -> Iterator[tuple[slice, slice]]:
    """Which columns are multiplied with which: so many at a time, with all that stand before them."""
    two, others = (_PLACE["prediction"], _PLACE["error"]), (_PLACE["size"], len(COLUMNS))
    for start in range(*two, at_a_time):
        yield slice(start, min(start + at_a_time, two[1])), slice(0, others[0])
    for start in range(*others, at_a_time):
        yield slice(start, start + at_a_time), slice(VARYING, start + at_a_time)


class MadeColumns:
    """Which of the ``COLUMNS`` are made, one below the other, and which of them are multiplied with which."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.places = np.array([_PLACE[name] for name in self.names])
        self.both = np.ix_(self.places, self.places)
        self.varying, self.growing = self._of(slice(VARYING, len(COLUMNS))), self._of(slice(GROWING, len(COLUMNS)))
        self.pairs = [[(self._of(some), self._of(others)) for some, others in _pairs(many)] for many in (1, 4)]
        self.squares = [[*map(self.names.index, (*each, "one"))] for each in _SQUARES]

    def _of(self, columns: slice) -> slice:
        """Where these columns, or those of them that are made, are found."""
        return slice(*np.searchsorted(self.places, [columns.start, columns.stop]).tolist())


EVERY = MadeColumns(COLUMNS)
_WITHOUT_LOGS = MadeColumns(name for name in COLUMNS if "log" not in name)
_WITHOUT_SHARES = MadeColumns(COLUMNS[_PLACE["prediction"] : _PLACE["logs"]])


class ProductSums:
    """Sums over rows of products of every two ``COLUMNS``: times weights, and times squared weights.

    Of rows in clusters sums of the columns by cluster stand in for the second. ``COLUMNS`` has a column of ones, so
    sums of single columns are among the products. Without ``shares`` what needs them is NaN.
    """

    def __init__(self, weighted: bool, clustered: bool, shares: bool = True) -> None:
        self._shares = shares
        made = self.made_columns(logs=True)
        self._sums = np.full((len(COLUMNS), len(COLUMNS)), np.nan, np.longdouble)
        self._sums[made.both] = 0.0
        self._squared = self._sums.copy() if weighted and not clustered else None
        self._none = np.diagonal(self._sums)[VARYING:].astype(np.float64)
        self.clusters: Array | None = np.zeros((0, len(self._none))) if clustered else None
        self._memory: Tensor | None = None

    def made_columns(self, logs: bool) -> MadeColumns:
        """What is made of rows that all have logarithms, or of others: where one has none no figure is asked for."""
        return (EVERY if logs else _WITHOUT_LOGS) if self._shares else _WITHOUT_SHARES

    @_LARGE
    def add(self, rows: Numbers, at: Origin, logs: bool, ops: ArrayOperations = HERE, times: int = 1) -> Tensor:
        """Add rows, or take them away, those of a cluster one after another; return columns with weights.

        The columns are overwritten by the next rows.
        """
        made = self.made_columns(logs)
        columns = _columns(rows, at, logs, ops, self._room(made, rows.truth, ops), made)
        weighed = columns if rows.weight is None else columns * rows.weight
        self._sums[made.both] += times * _products(weighed, columns, ops, made)
        if self._squared is not None:
            self._squared[made.both] += times * _products(weighed, weighed, ops, made)
        if self.clusters is not None:
            self._add_clusters(times * weighed[made.varying], np.asarray(rows.cluster), made)
        return weighed

    def _room(self, made: MadeColumns, truth: Tensor, ops: ArrayOperations) -> Tensor:
        """Memory that was used before: new memory takes longer to get than to fill."""
        rows = len(made.names) + len(BETWEEN)
        size = rows * len(truth)
        if self._memory is None or len(self._memory) < size:
            self._memory = ops.empty(size, truth, "float64")
        return self._memory[:size].reshape(rows, len(truth))

    def _add_clusters(self, columns: Array, cluster: Array, made: MadeColumns) -> None:
        assert self.clusters is not None
        lacking = int(cluster[-1]) + 1 - len(self.clusters)
        if lacking > 0:  # and some that may come
            self.clusters = np.pad(self.clusters, ((0, lacking + len(self.clusters) // 4), (0, 0)))
        starts = np.flatnonzero(np.append(True, cluster[1:] != cluster[:-1]))
        places = made.places[made.varying] - VARYING
        self.clusters[np.ix_(cluster[starts], places)] += np.add.reduceat(columns, starts, axis=1).T

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
            move(found.clusters.T, COLUMNS[VARYING:], *by)
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
        return numbers, (self.clusters[numbers] + self._none)[:, np.array(IN_ORDER) - VARYING]


def _columns(rows: Numbers, at: Origin, logs: bool, ops: ArrayOperations, room: Tensor, made: MadeColumns) -> Tensor:
    """The columns of rows, without weights, made in this room."""
    truth, prediction = (ops.cast(one, "float64") for one in (rows.truth, rows.prediction))
    terms = ArrayTerms(truth, prediction, at, logs, ops.xp, dict(zip((*made.names, *BETWEEN), room, strict=True)).get)
    terms.put("one", 1.0)
    if rows.truth is not truth or rows.prediction is not prediction:
        terms.put("error", rows.error)
    terms.make(made.names)
    return room[: len(made.names)]


def _products(left: Tensor, right: Tensor, ops: ArrayOperations, made: MadeColumns) -> Array:
    """The sums of products of the columns that were made; ``@`` would keep other threads waiting.

    In memory one column at a time is quickest; a device rather has fewer things to do.
    """
    found = np.zeros((len(made.names), len(made.names)))
    for some, others in made.pairs[ops.xp is not np]:
        found[some, others] = product = ops.home(ops.xp.inner(left[some], right[others]))
        found[others, some] = product.T
    for one, other, square, ones in made.squares:
        found[one, other] = found[other, one] = found[square, ones]
    return found


class CrossParts:
    """The products of what depends on the predictions of two models."""

    def __init__(self, centre: float) -> None:
        self._at = Origin(centre, 0.0)
        self._found: dict[int, Array] = {}

    def add(self, batch: NumberBatch) -> None:
        """Add some rows, those of each segment by its number."""
        for cell, some in batch.by_cell() if batch.cells is not None else [(0, batch.rows)]:
            for rows in some.blocks(BLOCK):
                one, other = (self._own(model) for model in (rows, replace(rows, prediction=rows.other)))
                self._found[cell] = self._found.get(cell, 0.0) + np.inner(one, other)

    def _own(self, rows: Numbers) -> Array:
        room = np.empty((len(EVERY.names) + len(BETWEEN), len(rows.truth)))
        found = _columns(rows, self._at, rows.has_logs, HERE, room, EVERY)[_OWN]
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
