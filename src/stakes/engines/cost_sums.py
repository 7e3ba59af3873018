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
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from stakes import errors
from stakes.engines.class_queries import with_cheapest
from stakes.engines.columns import Arguments, Values
from stakes.engines.memory import Rows, count_classes
from stakes.engines.plan import Counted, Plan
from stakes.engines.pricing import cost_column
from stakes.engines.queries import Groups, Look, QuerySource
from stakes.engines.reading import Read, RowQuestion, count_read, read_rows
from stakes.engines.spark_text import choose
from stakes.tallies import CostSums, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
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
    """Add up costs in another engine; None where columns of them hold something else than numbers.

    Where there are no decisions but scores, each row's own costs decide, or a threshold does; None of scores that are
    no probabilities, which wait for one.
    """
    assert asked.pricing is not None
    columns = {cost_column(name): name for name in asked.pricing.costs.columns}
    if not all(source.dtype(argument).is_numeric() for argument in columns):
        return None
    query, how = CostQuery(source, asked.pricing), "rows"
    query.check(columns)
    keys = [argument for argument in given if argument not in (*columns, "weight", "score")]
    if "prediction" not in given:
        if asked.threshold is None and not source.look_at_scores([]).of_probabilities:
            return None
        how = "costs" if asked.threshold is None else "threshold"
        query, keys = query.decided(given, asked), [*keys, "decided"]
    groups = query.ask(keys)
    groups.check(of_classes=True)
    read = query.read(groups, given, asked)
    if read.plan is None:
        return None
    rows = replace(read.rows, costs=None, scores=None).standing_for(*groups.amounts)
    if how != "rows":
        rows = replace(rows, prediction=np.asarray(groups.columns["decided"]).astype(np.int64))
    counted = count_classes(read.plan, rows, read.by)
    found = query.add_to(counted, groups, read.plan, rows)
    segments = {}
    for name, part in counted.segments.items():
        assert read.by is not None
        here = read.by.codes == read.by.names.index(name)
        segments[name] = query.add_to(part, groups.take(here), read.plan, rows.take(here))
    total = int(groups.sizes.sum()) + groups.weightless
    told: dict[str, Any] = {"decided_by": how, "threshold": asked.threshold if how == "threshold" else None}
    return replace(found, segments=segments, dropped=groups.weightless, read=total, **told)


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
        costs, columns = self.pricing.costs, self._columns

        def lowest(row: Sequence[Cell]) -> nw.Expr:
            each = (columns[cell] if isinstance(cell, str) else nw.lit(float(cell)) for cell in row)
            return reduce(lambda one, other: choose(other < one, other, one), each)

        found: dict[object, nw.Expr] = {1: nw.lit(1.0)}
        return found | columns | {frozenset(row): lowest(row) for row in costs.matrix}

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(itertools.combinations_with_replacement(range(len(self._numbers)), 2))

    def read(self, groups: Groups, given: Mapping[str, str], asked: RowQuestion, **other: Values) -> Read:
        """Read groups as if they were rows, with any costs and scores: these are known by groups."""
        rows = len(groups.sizes)
        table: dict[str, Values] = {column: np.zeros(rows) for column in self.pricing.costs.columns}
        table |= {given[argument]: values for argument, values in groups.columns.items() if argument in given}
        table |= {given["score"]: np.full(rows, 0.5)} if "score" in given else {}
        plain = {"weight": None, "where": None, "missing": "error", "text_format": None}
        with errors.pointing(lambda problem: problem.unnumbered()):
            return read_rows(table, replace(asked, **{**plain, **other}))

    def decided(self, given: Mapping[str, str], asked: RowQuestion) -> "CostQuery":
        """The same rows with the decision that each one's own costs take, or a threshold does, by its place."""
        truths = self.source.groups(["truth"])
        assert truths is not None
        truths.check(of_classes=True)
        plan = self.read(truths, given, asked, by=None).plan
        assert plan is not None
        score = nw.col(self.source.places["score"]).cast(nw.Float64)
        if asked.threshold is not None:
            places = [plan.decisions.index(name) for name in plan.classes]
            code = choose(score >= float(asked.threshold), nw.lit(places[1]), nw.lit(places[0]))
            frame = self.source.frame.with_columns(code.alias("decided"))
        else:
            frame = self.source.frame.with_columns((1.0 - score).alias("s0"), score.alias("s1"))
            frame = with_cheapest(frame, self.pricing, plan.classes, plan.positive, self._columns)
        places_of = {**self.source.places, "decided": "decided"}
        return replace(self, source=replace(self.source, frame=frame, places=places_of))

    @property
    def _columns(self) -> dict[str, nw.Expr]:
        places = self.source.places
        return {name: nw.col(places[cost_column(name)]).cast(nw.Float64) for name in self.pricing.costs.columns}

    def beside_scores(self) -> QuerySource:
        """The rows with their costs and squares of these, to be added up for each score."""
        unit = nw.col(self.source.places["weight"]).cast(nw.Float64) if "weight" in self.source.places else nw.lit(1.0)
        each = {f"paid_{place}": one for place, one in enumerate(self._columns.values())}
        each |= {f"{name}_squared": unit * one * one for name, one in each.items()}
        frame = self.source.frame.with_columns(*(one.alias(name) for name, one in each.items()))
        return replace(self.source, frame=frame, added=tuple(each))

    def with_costs(self, table: ScoreTable, plan: Plan, groups: Groups, scores: Array, positive: Array) -> ScoreTable:
        """The table of groups with these scores, and beside them what each decision costs there."""
        names, (weight, squares) = self.pricing.costs.columns, groups.amounts
        known: dict[object, tuple[Array, Array]] = {1: (weight, weight if squares is None else squares)}
        known |= {n: (groups.added[f"paid_{i}"], groups.added[f"paid_{i}_squared"]) for i, n in enumerate(names)}
        values: dict[str, Array] = {}
        prices = self.pricing.prices(plan.classes, plan.decisions, plan.positive)
        for row, name in zip(prices, plan.classes, strict=True):
            mine, called = (positive, "positives") if name == plan.positive else (~positive, "negatives")
            values |= {called: np.where(mine, weight, 0)}
            values |= {} if squares is None else {f"{called}_squared": np.where(mine, squares, 0.0)}
            for d, cell in enumerate(row):
                number, times = (1, float(cell)) if isinstance(cell, Fraction) else (cell, 1.0)
                paid, square = known[number]
                values[f"cost {d} of {called}"] = np.where(mine, paid * times, 0.0)
                values[f"cost {d} of {called} squared"] = np.where(mine, square * times**2, 0.0)
        return replace(table, store=Columns.added(scores, values))

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
