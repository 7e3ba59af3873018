"""Rows that two models share, in files or another engine: grouped by the outputs of both, so that no row is fetched.

Decisions come back as one group for each truth and pair of decisions. Scores come back by the cells of a coarse grid,
with sums of the distances from the lower ends of their cells: within a cell the rank of a row is almost linear in its
score, so these sums give the covariance of the placements of both models.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import narwhals as nw

from stakes.engines.columns import Data, LazyTable
from stakes.engines.cost_sums import CostQuery
from stakes.engines.files.reading import Files, count_typed
from stakes.engines.lazy.deciding import with_decision, with_decisions
from stakes.engines.lazy.queries import Groups, QuerySource, round_down, whether
from stakes.engines.numbers.batches import FileNumbers
from stakes.engines.numbers.passes import OTHER
from stakes.engines.numbers.queries import QueryNumbers
from stakes.engines.on_disk import table_of
from stakes.engines.plan import Plan
from stakes.engines.pricing import of_costs
from stakes.engines.streaming import BATCH, rows_in_files
from stakes.engines.tables import is_lazy
from stakes.tallies.arithmetic import Array
from stakes.tallies.pricing import Pricing

MOST_CELLS = 2 * 10**5
"""Most combinations of cells in a query."""

PRODUCTS = ((0,), (1,), (0, 0), (0, 1), (1, 1))
"""Sums within a cell: the distances of the two scores from its lower ends, and products of these."""

FOURTHS = "fourths"
"""The name of the sum of fourth powers of weights, which tells how few rows carry a figure of decisions."""

SIDES = ("first", "second")
_NAMES = [f"above_{'_'.join(SIDES[side] for side in sides)}_added" for sides in PRODUCTS]


@dataclass(frozen=True, eq=False)
class Output:
    """The output of a model for a row, by the name of its column: a decision, or a score.

    A score is grouped by the number of ``cuts`` that it reaches, or by its cell on a ``grid`` of so many ``bits``. With
    several ``classes`` (class → column) rows are grouped by the index of the decision: the highest score, or the
    cheapest one. The same if each row's own costs, or a ``threshold``, decide between the two classes of a ``plan``;
    between cuts, ``taken`` are the indices of the decisions.
    """

    column: str = ""
    cuts: Sequence[float] | None = None
    grid: str = ""
    bits: int = 0
    classes: Mapping[str, str] = field(default_factory=dict)
    pricing: Pricing | None = None
    plan: Plan | None = None
    threshold: float | None = None
    taken: Sequence[int] | None = None

    @property
    def argument(self) -> str:
        """The argument that the column would be passed as."""
        return "score" if self.grid or self.classes or self.plan is not None else "prediction"

    def columns(self, side: str) -> dict[str, str]:
        """The columns by argument, of the model on one side."""
        several = {f"score {side} {name}": column for name, column in self.classes.items()}
        return several or {f"{self.argument} {side}": self.column}

    @property
    def decisions(self) -> tuple[str, ...]:
        """The possible decisions between several classes, or the two of a plan."""
        if self.plan is not None:
            return self.plan.decisions
        return tuple(self.classes) if self.pricing is None else self.pricing.decisions(tuple(self.classes))

    @property
    def places(self) -> Sequence[int]:
        """The decision of each group index."""
        return range(len(self.decisions)) if self.taken is None else self.taken


def group_shared(
    data: Data,
    shared: Mapping[str, str],
    where: str | None,
    outputs: tuple[Output, Output],
    pricing: Pricing | None = None,
) -> Groups:
    """Group rows by shared columns (by argument: truth, segments, weight, cluster) and the outputs of two models.

    Groups have the sums of :data:`PRODUCTS`, each times the squared weight. With costs that differ by row
    (``pricing``), whose columns are among the shared ones, they have those of :class:`CostQuery`.
    """
    named = [one.columns(side) for side, one in zip(SIDES, outputs, strict=True)]
    with as_engine_table(data, {**shared, **named[0], **named[1]}, where) as (table, left):
        assert table is not None  # otherwise counting each model has refused it
        return _ask(table, shared, left, outputs, pricing)


@contextmanager
def as_engine_table(
    data: Data, named: Mapping[str, str], where: str | None
) -> Iterator[tuple[Data | None, str | None]]:
    """The rows as a table of an engine (Polars for files), and the condition that is still to be applied.

    The table is None if a column of the files has several kinds.
    """
    if is_lazy(data):
        yield data, where
        return
    files = Files.open(data, dict(named), where)
    with files.relation() as relation:
        if relation is not None:
            yield relation, where
            return
    with table_of(files, BATCH) as table:
        yield table, None


def cross_products(
    data: Data, shared: Mapping[str, str], where: str | None, columns: tuple[str, str], centre: float
) -> dict[str, Array]:
    """Sum the products of the terms of two models' predicted numbers (:data:`OWN`), overall and by segment."""
    named = {**shared, "prediction": columns[0], OTHER: columns[1]}
    if is_lazy(data):
        return QueryNumbers.of(QuerySource.of(data, named, where), "error").in_place().cross(centre)
    files = Files.open(data, named, where)
    with files.relation() as table:
        if table is not None:
            return cross_products(table, shared, where, columns, centre)
    quick = files.with_types(("truth", "prediction", "weight", "exposure"))
    return count_typed(files, quick, lambda some: FileNumbers(some, "error", BATCH).cross(centre))


def have_more_rows_than(most: int, data: Data, truth: str, where: str | None) -> bool:
    """Whether there are more rows than that in files, or in a table of another engine."""
    if not is_lazy(data):
        return Files.open(data, {"truth": truth}, where).have_more_rows_than(most)
    return count_where(data, truth, where) > most


def count_where(data: Data, truth: str, where: str | None) -> int:
    """The number of rows that satisfy a condition."""
    return QuerySource.of(data, {"truth": truth}, where).count() if is_lazy(data) else rows_in_files(data, truth, where)


# ── in another engine ────────────────────────────────────────────────────────────────────────────────────────────
def _ask(
    data: Data, shared: Mapping[str, str], where: str | None, outputs: tuple[Output, Output], pricing: Pricing | None
) -> Groups:
    columns = [one.columns(side) for side, one in zip(SIDES, outputs, strict=True)]
    source = QuerySource.of(data, {**shared, **columns[0], **columns[1]}, where)
    frame, places = source.frame, {name: source.places[name] for name in shared}
    query = None if pricing is None else CostQuery(source, pricing)
    costs = {} if query is None else query.columns
    for side, one, named in zip(SIDES, outputs, columns, strict=True):
        own = [source.places[name] for name in named]
        scores = [nw.col(place).cast(nw.Float64) for place in own]
        if one.classes:
            frame = frame.with_columns(*((score + 0.0).alias(f"s{place}") for place, score in enumerate(scores)))
            decided = with_decisions(frame, tuple(one.classes), one.pricing, costs)
            frame, places[side] = decided.with_columns(nw.col("decided").alias(side)), side
        elif one.plan is not None and one.cuts is None and pricing is not None:
            decided = with_decision(frame, scores[0], one.plan, pricing, costs, one.threshold)
            frame, places[side] = decided.with_columns(nw.col("decided").alias(side)), side
        elif one.argument == "score":
            frame, places[side] = _on_grid(frame, scores[0], one, side), side
        else:
            places[side] = own[0]
    if outputs[0].grid:
        frame = frame.with_columns(*_products(source.unit))
    added = tuple(_NAMES) if outputs[0].grid else (FOURTHS,) if "weight" in places else ()
    if FOURTHS in added:
        frame = frame.with_columns((source.unit * source.unit * source.unit).alias(FOURTHS))  # which weights multiply
    keys = [name for name in places if name != "weight" and not of_costs([name])]
    table = replace(source, frame=frame, places=places, added=added)
    if query is not None:
        return replace(query, source=table).ask(keys)
    groups = table.groups(keys)
    assert groups is not None
    return groups


def _on_grid(frame: LazyTable, score: nw.Expr, output: Output, side: str) -> LazyTable:
    """Add the cell of a score and its distance from the lower end, or the number of cuts that it reaches."""
    if output.cuts is not None:
        reached = nw.lit(0)
        for cut in output.cuts:
            reached = reached + whether(score >= float(cut))
        return frame.with_columns(reached.alias(side))
    frame = round_down(frame.with_columns(score.alias("edge")), output.grid, 2.0**output.bits)
    edge = nw.col("edge")
    return frame.with_columns((score - edge).alias(f"above_{side}"), edge.alias(side))


def _products(unit: nw.Expr) -> Iterator[nw.Expr]:
    """The products of a row times its weight; sums are weighted again, which makes the squared weight."""
    for sides, name in zip(PRODUCTS, _NAMES, strict=True):
        product = unit
        for side in sides:
            product = product * nw.col(f"above_{SIDES[side]}")
        yield product.alias(name)
