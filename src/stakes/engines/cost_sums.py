"""Costs that differ by row, of rows that are not here: they are added up where they lie.

Files are counted batch by batch, since costs add up: decisions, and scores by which each row's own costs, or a given
threshold, decide. Another engine is asked for sums of the columns of costs, of what
the cheapest decision costs and of the products of these, for each truth, decision and segment: within such a group
every cost is a number or one of these columns, so what is to be known of it follows from those sums.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments
from stakes.engines.memory import Rows, count_classes
from stakes.engines.plan import Counted, Plan
from stakes.engines.pricing import cost_column
from stakes.engines.queries import Groups, Look, QuerySource, choose
from stakes.engines.reading import RowQuestion, count_read, read_rows
from stakes.tallies import CostSums
from stakes.tallies.arithmetic import Array
from stakes.tallies.costs import Cell
from stakes.tallies.pricing import Pricing

if TYPE_CHECKING:
    from stakes.engines.files.reading import Files


def count_costs(files: "Files", asked: RowQuestion, rows: int) -> Counted | None:
    """Count files so many rows at a time, scores in bins.

    None where something is wrong, or batches have different classes: all rows together tell better what it is.
    """

    def count(found: Arguments, first: int) -> Counted:
        columns = {column: found[argument] for argument, column in files.wanted.items()}
        return count_read(read_rows(columns, replace(asked, where=None, text_format=None))).binned()

    counted, empty = None, 0
    try:
        for part in files.read_batches(rows, count):
            if isinstance(part, int):
                empty += part
            else:
                counted = part if counted is None else counted + part
    except errors.InputError:
        return None
    if counted is None:
        raise files.nothing_there()
    return replace(counted, dropped=counted.dropped + empty, read=counted.rows_read + empty)


def count_costs_inside(source: QuerySource, given: Mapping[str, str], asked: RowQuestion) -> Counted | None:
    """Add up costs in another engine; None where columns of them hold something else than numbers."""
    assert asked.pricing is not None
    columns = {cost_column(name): name for name in asked.pricing.costs.columns}
    if not all(source.dtype(argument).is_numeric() for argument in columns):
        return None
    query = CostQuery(source, asked.pricing)
    query.check(columns)
    groups = query.ask([argument for argument in given if argument not in (*columns, "weight")])
    groups.check(of_classes=True)
    table = {column: np.zeros(len(groups.sizes)) for column in columns.values()}  # any costs: they are known by groups
    table |= {given[argument]: values for argument, values in groups.columns.items()}
    with errors.pointing(lambda problem: problem.unnumbered()):
        read = read_rows(table, replace(asked, weight=None, where=None, missing="error", text_format=None))
    if read.plan is None:
        return None
    rows = replace(read.rows, costs=None).standing_for(*groups.amounts)
    counted = count_classes(read.plan, rows, read.by)
    found = query.add_to(counted, groups, read.plan, rows)
    segments = {}
    for name, part in counted.segments.items():
        assert read.by is not None
        here = read.by.codes == read.by.names.index(name)
        segments[name] = query.add_to(part, groups.take(here), read.plan, rows.take(here))
    total = int(groups.sizes.sum()) + groups.weightless
    return replace(found, segments=segments, dropped=groups.weightless, read=total)


@dataclass(frozen=True, eq=False)
class CostQuery:
    """Rows in another engine, and what is added up of them.

    Of each row there are the numbers 1, its columns of costs, and the lowest cost in each row of the matrix, known by
    what stands there.
    """

    source: QuerySource
    pricing: Pricing

    @cached_property
    def _numbers(self) -> dict[object, nw.Expr]:
        costs, places = self.pricing.costs, self.source.places
        columns = {name: nw.col(places[cost_column(name)]).cast(nw.Float64) for name in costs.columns}

        def lowest(row: Sequence[Cell]) -> nw.Expr:
            each = (columns[cell] if isinstance(cell, str) else nw.lit(float(cell)) for cell in row)
            return reduce(lambda one, other: choose(other < one, other, one), each)

        found: dict[object, nw.Expr] = {1: nw.lit(1.0)}
        return found | columns | {frozenset(row): lowest(row) for row in costs.matrix}

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(itertools.combinations_with_replacement(range(len(self._numbers)), 2))

    def check(self, columns: Mapping[str, str]) -> None:
        """Refuse costs that are missing or infinite, by what their columns are called."""
        costs = {f"cost{place}": self._numbers[name] for place, name in enumerate(columns.values())}
        looked = Look.at(self.source.frame.select(*(cost.alias(name) for name, cost in costs.items())), [*costs])
        self.source.refuse_nothing(looked.rows)
        looked.refuse(dict(zip(costs, columns, strict=True)))

    def ask(self, keys: Sequence[str]) -> Groups:
        """Add up numbers, squares and cubes by weight, and products by squared weight, in groups of rows alike."""
        frame = self.source.frame.with_columns(*(one.alias(f"n{i}") for i, one in enumerate(self._numbers.values())))
        each = [nw.col(f"n{place}") for place in range(len(self._numbers))]
        unit = nw.col(self.source.places["weight"]).cast(nw.Float64) if "weight" in self.source.places else nw.lit(1.0)
        more = {f"n{one}_{other}": each[one] * each[other] * unit for one, other in self._pairs}
        more |= {f"n{place}_squared": one * one for place, one in enumerate(each)}
        more |= {f"n{place}_cubed": one * one * one for place, one in enumerate(each)}
        frame = frame.with_columns(*(number.alias(name) for name, number in more.items()))
        added = (*(f"n{place}" for place in range(len(each))), *more)
        groups = replace(self.source, frame=frame, added=added).groups(keys)
        assert groups is not None
        return groups

    def add_to(self, counted: Counted, groups: Groups, plan: Plan, rows: Rows) -> Counted:
        """Put the costs of groups beside their decisions."""
        K, M = len(plan.classes), len(plan.decisions)
        sums, products, powers = np.zeros((K, M + 3)), np.zeros((K, M + 3, M + 3)), np.zeros((K, 2))
        prices = self.pricing.prices(plan.classes, plan.decisions, plan.positive)
        for c, d in np.ndindex(K, M):
            mine = groups.take((rows.truth == c) & (rows.prediction == d))
            paid = np.stack([self._share(cell) for cell in (1, prices[c][d], frozenset(prices[c]), *prices[c])])
            sums[c] += paid @ self._added(mine)
            products[c] += paid @ self._products(mine) @ paid.T
            powers[c] += [self._added(mine, "_squared") @ paid[1] ** 2, self._added(mine, "_cubed") @ paid[1] ** 3]
        found = CostSums(plan.classes, plan.decisions, sums, products, powers, groups.weight is not None)
        return replace(counted, tallies={**counted.tallies, found.kind: found})

    def _share(self, cost: object) -> Array:
        """A cost as a multiple of one of the numbers."""
        share = np.zeros(len(self._numbers))
        number, times = (1, float(cost)) if isinstance(cost, Fraction) else (cost, 1.0)
        share[[*self._numbers].index(number)] = times
        return share

    def _added(self, groups: Groups, power: str = "") -> Array:
        return np.array([math.fsum(groups.added[f"n{place}{power}"]) for place in range(len(self._numbers))])

    def _products(self, groups: Groups) -> Array:
        found = np.zeros((len(self._numbers),) * 2)
        for one, other in self._pairs:
            found[one, other] = found[other, one] = math.fsum(groups.added[f"n{one}_{other}"])
        return found
