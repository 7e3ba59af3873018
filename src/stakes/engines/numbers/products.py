"""Sums of products of the terms of predicted numbers, about an origin that may be moved afterwards."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import numpy as np

from stakes.engines.numbers.blocks import (
    BLOCK,
    EVERY,
    PLACE,
    VARYING,
    ColumnMaker,
    MadeColumns,
    made_columns,
    sums_of_products,
)
from stakes.engines.numbers.passes import ALL, Wanted
from stakes.engines.numbers.rows import NumberBatch, Numbers
from stakes.engines.tensors.arrays import Tensor
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_terms import COLUMNS, FORMULAS, IN_ORDER, OWN, Origin, move
from stakes.tallies.operations import ArrayOperations

HERE = ArrayOperations()

_LARGE = np.errstate(over="ignore", invalid="ignore")
"""What no float holds is refused once all rows were added, or has no interval."""

_OWN = [IN_ORDER[place] for place in OWN]


class ProductSums:
    """Sums over rows of products of every two ``COLUMNS``: times weights, and times squared weights.

    Of rows in clusters sums of the columns by cluster stand in for the second. ``COLUMNS`` has a column of ones, so
    sums of single columns are among the products. What is not wanted is NaN.
    """

    def __init__(
        self, weighted: bool, clustered: bool, wanted: Wanted = ALL, operations: ArrayOperations = HERE
    ) -> None:
        self._wanted, self._ops = wanted, operations
        self._sums = np.full((len(COLUMNS), len(COLUMNS)), np.nan, np.longdouble)
        self._sums[made_columns(wanted, logs=True).both] = 0.0
        self._squared = self._sums.copy() if weighted and not clustered else None
        terms = [0.0 if name in wanted.terms else np.nan for name in COLUMNS[VARYING:]]
        self._none = np.array(terms)
        self.clusters: Array | None = np.zeros((0, len(terms))) if clustered else None
        self.squares = 0.0 if weighted and clustered else None
        self._maker = ColumnMaker(operations)

    @_LARGE
    def add(self, rows: Numbers, at: Origin, logs: bool, times: int = 1) -> tuple[Tensor, Tensor]:
        """Add rows, or take them away, those of a cluster one after another; return columns, and those with weights.

        They are overwritten by the next rows.
        """
        made = made_columns(self._wanted, logs)
        columns = self._maker.columns(rows, at, made)
        weighed = columns if rows.weight is None else columns * rows.weight
        every = self._squared is None and self.clusters is None
        self._sums[made.both] += times * sums_of_products(weighed, columns, self._ops, made, every)
        if self._squared is not None:
            self._squared[made.both] += times * sums_of_products(weighed, weighed, self._ops, made)
        if self.squares is not None and rows.weight is not None:
            self.squares += times * float((rows.weight**2).sum())
        if self.clusters is not None:
            self._add_clusters(times * weighed[made.varying], np.asarray(rows.cluster), made)
        return columns, weighed

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
        found._ops, found._maker = HERE, ColumnMaker(HERE)  # all rows may lie elsewhere, near ones are here
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
        if self.squares is not None and other.squares is not None:
            self.squares += other.squares
        if self.clusters is not None and other.clusters is not None:
            longer, shorter = sorted((self.clusters, other.clusters), key=len, reverse=True)
            longer[: len(shorter)] += shorter
            self.clusters = longer
        return self

    def sum_of(self, name: str) -> float:
        """The sum of a column, or of a term that is the product of two, times weights."""
        one, other = (name, "one") if name in PLACE else FORMULAS[name][1:]
        return float(self._sums[PLACE[one], PLACE[other]])

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


class CrossParts:
    """The products of what depends on the predictions of two models."""

    def __init__(self, centre: float) -> None:
        self._at, self._maker = Origin(centre, 0.0), ColumnMaker(HERE)
        self._found: dict[int, Array] = {}

    def add(self, batch: NumberBatch) -> None:
        """Add some rows, those of each segment by its number."""
        for cell, some in batch.by_cell() if batch.cells is not None else [(0, batch.rows)]:
            for rows in some.blocks(BLOCK):
                one, other = (self._own(model) for model in (rows, replace(rows, prediction=rows.other)))
                self._found[cell] = self._found.get(cell, 0.0) + np.inner(one, other)

    def _own(self, rows: Numbers) -> Array:
        found = self._maker.columns(rows, self._at, EVERY, rows.has_logs)[_OWN]
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
