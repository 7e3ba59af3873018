"""Costs that differ by row, added up in the engine that holds the rows.

The engine (Polars for files) sums the cost columns, the cost of the cheapest decision and products of these, for each
truth, decision and segment. Within such a group every cost is a constant or one of these columns, so the sums suffice.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce

import narwhals as nw
import numpy as np

from stakes.engines.labels import Labels, rows_of
from stakes.engines.lazy.deciding import with_decision
from stakes.engines.lazy.groups import count_groups, read_as_rows
from stakes.engines.lazy.queries import Groups, Look, QuerySource
from stakes.engines.lazy.spark_text import choose
from stakes.engines.memory import Rows, count_classes
from stakes.engines.plan import Counted, Plan
from stakes.engines.pricing import cost_column
from stakes.engines.reading import RowQuestion
from stakes.tallies import CostSums, ScoreTable
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.columns import Columns
from stakes.tallies.cost_sums import OWN, CostGroups
from stakes.tallies.pricing import Pricing


def count_costs_inside(
    source: QuerySource, given: Mapping[str, str], asked: RowQuestion
) -> "tuple[CostQuery, Counted] | None":
    """Add up costs in another engine; None if a column of costs or scores holds anything but numbers.

    Scores are decided by a threshold, or by each row's own costs; the result is None if they are not probabilities and
    there is no threshold. Returns the query, too, which knows the decisions.
    """
    query = None if asked.pricing is None else CostQuery.of(source, asked.pricing)
    if query is None:
        return None
    keys = [name for name in given if name in ("truth", "prediction") or name.startswith("by")]
    if "prediction" not in given:
        if asked.threshold is None and not source.look_at_scores([]).of_probabilities:
            return None
        query, keys = query.decided(asked), [*keys, "decided"]
    groups = query.ask(keys)
    groups.check(of_classes=True)

    def count(plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        kept = replace(rows, scores=None).standing_for(*groups.amounts)
        return query.beside(count_classes(plan, kept, by), groups, plan, kept, by)

    counted = count_groups(asked, groups, count)
    return None if counted is None else (query, groups.of_rows(counted))


@dataclass(frozen=True, eq=False)
class CostQuery:
    """Rows in another engine, and the numbers that are summed over them.

    The numbers of a row are 1, its cost columns, and the lowest cost in each row of the cost matrix, whose key is the
    set of that row's cells.
    """

    source: QuerySource
    pricing: Pricing

    @classmethod
    def of(cls, source: QuerySource, pricing: Pricing) -> "CostQuery | None":
        """Make the query, or None if costs or scores are not numeric; missing and infinite costs are refused."""
        columns = [cost_column(name) for name in pricing.costs.columns]
        scores = {"score"} & source.places.keys()
        if not all(source.dtype(argument).is_numeric() for argument in (*columns, *scores)):
            return None
        query, places = cls(source, pricing), [f"cost{place}" for place in range(len(columns))]
        costs = (one.alias(place) for one, place in zip(query.columns.values(), places, strict=True))
        looked = Look.at(source.frame.select(*costs), places)
        source.refuse_nothing(looked.rows)
        looked.refuse(dict(zip(places, columns, strict=True)))
        return query

    @property
    def columns(self) -> dict[str, nw.Expr]:
        """The costs of each row, by the name of their column."""
        places = self.source.places
        return {name: nw.col(places[cost_column(name)]).cast(nw.Float64) for name in self.pricing.costs.columns}

    @cached_property
    def _numbers(self) -> dict[object, nw.Expr]:
        columns = self.columns

        def number(name: object) -> nw.Expr:
            if isinstance(name, frozenset):  # the lowest of these costs
                return reduce(lambda one, other: choose(other < one, other, one), map(number, name))
            return columns[name] if isinstance(name, str) else nw.lit(float(name))  # type: ignore[arg-type]

        return {name: number(name) for name in _names(self.pricing)}

    def decided(self, asked: RowQuestion) -> "CostQuery":
        """The same rows with the index of their decision, by each row's own costs or by a threshold."""
        truths = self.source.groups(["truth"])
        assert truths is not None
        truths.check(of_classes=True)
        any_score = np.full(len(truths.sizes), 0.5)
        plan = read_as_rows(replace(asked, by=None), {**truths.columns, "score": any_score}).plan
        assert plan is not None
        score = nw.col(self.source.places["score"]).cast(nw.Float64)
        frame = with_decision(self.source.frame, score, plan, self.pricing, self.columns, asked.threshold)
        places = {**self.source.places, "decided": "decided"}
        return replace(self, source=replace(self.source, frame=frame, places=places))

    def adding(self, pairs: Sequence[tuple[int, int]] = (), cubes: bool = False) -> QuerySource:
        """The rows with their numbers, to be summed, and products of some pairs of them by squared weight.

        With ``cubes`` also their cubes, and products by weight.
        """
        frame = self.source.frame.with_columns(*(one.alias(f"n{i}") for i, one in enumerate(self._numbers.values())))
        each = [nw.col(f"n{place}") for place in range(len(self._numbers))]
        more = {f"n{one}_{other}": each[one] * each[other] * self.source.unit for one, other in pairs}
        if cubes:
            more |= {f"n{place}_cubed": one * one * one for place, one in enumerate(each)}
            weighted = pairs if "weight" in self.source.places else ()
            more |= {f"n{one}_{other}_once": each[one] * each[other] for one, other in weighted}
        frame = frame.with_columns(*(number.alias(name) for name, number in more.items())) if more else frame
        return replace(self.source, frame=frame, added=(*(f"n{place}" for place in range(len(each))), *more))

    def beside_scores(self) -> QuerySource:
        """The rows with their numbers and the squares of these, to be summed for each score."""
        return self.adding([(place, place) for place in range(len(self._numbers))])

    def ask(self, keys: Sequence[str]) -> Groups:
        """Sum numbers, products and cubes by weight, and products by squared weight, over groups of equal rows."""
        pairs = list(itertools.combinations_with_replacement(range(len(self._numbers)), 2))
        groups = self.adding(pairs, cubes=True).groups(keys)
        assert groups is not None
        return groups

    def paid(self, groups: Groups, plan: Plan, rows: Rows) -> Array:
        """The mean cost of a row in each group."""
        sums = costs_of(self.pricing, groups, plan).numbers(rows.truth, np.asarray(rows.prediction))
        return divide(sums[:, OWN], sums[:, 0])

    def beside(self, counted: Counted, groups: Groups, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        """Add the costs of groups to their decisions, overall and by segment."""
        costs, weighted = costs_of(self.pricing, groups, plan), groups.weight is not None

        def paid_in(segment: str | None) -> CostSums:
            here = rows_of(by, segment)
            labels = rows.truth[here], np.asarray(rows.prediction)[here], plan.classes, plan.decisions
            return costs[here].tally(*labels, weighted)

        return counted.with_tallies(paid_in)

    def with_costs(self, table: ScoreTable, plan: Plan, groups: Groups, scores: Array, positive: Array) -> ScoreTable:
        """The table of groups with these scores, with the cost of each decision beside them."""
        (weight, squares), costs = groups.amounts, costs_of(self.pricing, groups, plan)
        own_squares = np.stack([groups.added[f"n{place}_{place}"] for place in range(len(self._numbers))], axis=-1)
        values: dict[str, Array] = {}
        for c, name in enumerate(plan.classes):
            mine, called = (positive, "positives") if name == plan.positive else (~positive, "negatives")
            values |= {called: np.where(mine, weight, 0)}
            values |= {} if squares is None else {f"{called}_squared": np.where(mine, squares, 0.0)}
            for d, share in enumerate(costs.shares[c, :-1]):
                values[f"cost {d} of {called}"] = np.where(mine, costs.sums @ share, 0.0)
                values[f"cost {d} of {called} squared"] = np.where(mine, own_squares @ share**2, 0.0)
        return replace(table, store=Columns.added(scores, values))


def costs_of(pricing: Pricing, groups: Groups, plan: Plan) -> CostGroups:
    """The costs of groups, from the sums that were queried."""
    names, added, groups_of = _names(pricing), groups.added, len(groups.sizes)
    each = range(len(names))

    def products(kind: str) -> Array:
        found = np.empty((groups_of, len(names), len(names)))
        for one, other in itertools.combinations_with_replacement(each, 2):
            found[:, one, other] = found[:, other, one] = added[f"n{one}_{other}{kind}"]
        return found

    sums, nothing = np.stack([added[f"n{place}"] for place in each], axis=-1), np.zeros((groups_of, 0, 0))
    squared, once, cubes = nothing, nothing, nothing
    if "n0_cubed" in added:
        squared = products("")
        once = products("_once") if "n0_0_once" in added else squared
        cubes = np.stack([added[f"n{place}_cubed"] for place in each], axis=-1)
    prices = pricing.prices(plan.classes, plan.decisions, plan.positive)
    shares = np.zeros((len(prices), len(plan.decisions) + 1, len(names)))
    for c, row in enumerate(prices):
        for d, cell in enumerate([*row, frozenset(row)]):
            fixed = isinstance(cell, Fraction)
            shares[c, d, names.index(1 if fixed else cell)] = float(cell) if fixed else 1.0  # type: ignore[arg-type]
    return CostGroups(sums, once, squared, cubes, shares)


def _names(pricing: Pricing) -> list[object]:
    """The numbers of a row: 1, its columns of costs, and the lowest cost in each row of the matrix."""
    lowest: list[object] = [frozenset(row) for row in pricing.costs.matrix]
    return [1, *pricing.costs.columns, *dict.fromkeys(lowest)]
