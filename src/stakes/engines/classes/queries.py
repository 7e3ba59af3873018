"""Scores of several classes in another engine: decisions, ranks, losses and bins are worked out where the rows lie.

One query looks at the scores, one adds up the rows by truth, segment, decision and rank, and one for each class counts
its scores in bins (of very many classes two). Nothing but groups and sums comes back. A table of few rows is brought
here instead: it is no larger than the sample of rows that intervals take from larger ones in memory.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import narwhals as nw
import numpy as np

from stakes.engines.alike import Spelling
from stakes.engines.classes.sums import (
    MOST_TOGETHER,
    ClassSums,
    Oddities,
    any_scores,
    class_names,
    decided_by,
    decisions_of,
    is_of,
    losses_against_rest,
    pair_bits,
)
from stakes.engines.clusters.queries import ROW, QueryClusters, QueryRowGroups
from stakes.engines.clusters.rows import ClusterRows, grid_bits
from stakes.engines.columns import LazyTable, to_column
from stakes.engines.conditions.translation import combine_in_pairs
from stakes.engines.cost_sums import CostQuery
from stakes.engines.labels import Labels, encode
from stakes.engines.lazy.deciding import with_decisions
from stakes.engines.lazy.groups import count_as_rows
from stakes.engines.lazy.queries import (
    MOST_GROUPS,
    MOST_SCORES,
    Groups,
    Look,
    QuerySource,
    row_by_row,
    surprise,
    whether,
    with_infinite,
)
from stakes.engines.lazy.spark_text import choose
from stakes.engines.memory import Binned, Rows, count_classes
from stakes.engines.plan import Counted, Plan
from stakes.engines.pricing import of_costs
from stakes.engines.reading import RowQuestion
from stakes.engines.segments import segment_labels
from stakes.tallies import ClassScores, Tally, bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.bayes import ROUNDING
from stakes.tallies.class_blocks import MOMENTS
from stakes.tallies.class_scores import SAMPLE
from stakes.tallies.clusters import MOST_CLASSES
from stakes.tallies.error_terms import Term

FEW_ROWS = SAMPLE
"""Tables of up to this many rows are collected: they are their own sample."""

_ROW_GROUPS = 256
"""Random groups of rows that intervals are made from: they are known to about 4 %."""

_ENOUGH_KINDS = 100_000
"""About as many kinds of rows are asked whether rows are alike."""

_MOMENTS = [f"moment_{loss}_{power}" for loss in range(MOMENTS[0]) for power in range(MOMENTS[1])]


def open_class_table(source: QuerySource, asked: RowQuestion, given: dict[str, str]) -> "ClassTable | None":
    """Look at class scores where they are; None when there are few rows, or when the question needs the rows."""
    classes = class_names(given)
    if not all(source.dtype(f"score of {name}").is_numeric() for name in classes):
        return None  # text may spell numbers, which is read row by row
    looked = _look_at(source, classes)
    if looked.rows <= FEW_ROWS:
        return None
    truths = source.groups(["truth"], MOST_GROUPS)
    if truths is None:
        return None
    looked.refuse({f"s{place}": f"score of {name}" for place, name in enumerate(classes)})
    codes = _codes(truths, asked, classes)
    if codes is None:
        return None
    priced = CostQuery.of(source, asked.pricing) if asked.pricing is not None and of_costs(given) else None
    if priced is None and of_costs(given):
        return None
    table = ClassTable(source, asked, classes, looked, priced=priced)
    return table.with_scores(codes)


def _codes(truths: Groups, asked: RowQuestion, classes: tuple[str, ...]) -> dict[object, int] | None:
    """The place among the classes of each value of the truth; None where one has no scores, or is missing."""
    column = truths.columns["truth"]
    truths.check(of_classes=True)
    names = () if asked.pricing is None else asked.pricing.names
    spelling = Spelling.of(asked.alike, asked.classes, asked.positive, [*classes, *names])
    labels = encode(to_column(column, "truth"))
    called = [spelling(name) if spelling.words else name for name in labels.names]
    if not set(called) <= set(classes):
        return None  # which is refused where the rows are read
    return {value: classes.index(called[code]) for value, code in zip(column.to_list(), labels.codes, strict=True)}


def _look_at(source: QuerySource, classes: tuple[str, ...]) -> Look:
    """A first look at the scores, and at their sums."""
    names = [f"s{place}" for place in range(len(classes))]
    scores = [nw.col(source.places[f"score of {name}"]).cast(nw.Float64) for name in classes]
    frame = source.frame.select(*(score.alias(name) for name, score in zip(names, scores, strict=True)))
    frame = frame.with_columns(sum_of(map(nw.col, names)).alias("total"))
    tests = {"outside": _any((nw.col(n) < 0) | (nw.col(n) > 1) for n in names), "uneven": _uneven(nw.col("total"))}
    found = Look.at(frame, [*names, "total"], tests)
    source.refuse_nothing(found.rows)
    return found


sum_of, _any = (partial(combine_in_pairs, combine) for combine in (operator.add, operator.or_))
"""The sum of columns in each row, and whether any of several tests holds."""


def _uneven(total: nw.Expr) -> nw.Expr:
    return (total - 1.0 > ROUNDING) | (1.0 - total > ROUNDING)


@row_by_row
def _with_codes(frame: LazyTable, table: "ClassTable", codes: Mapping[object, int]) -> LazyTable:
    return table._with_codes(frame, codes)


@row_by_row
def _with_ranks_and_losses(frame: LazyTable, table: "ClassTable") -> LazyTable:
    return table._with_losses(table._with_ranks(frame))


@dataclass(frozen=True, eq=False)
class ClassTable:
    """A table of class scores in another engine; ``plain`` has nothing but them and the code of the true class.

    Costs that differ by row are ``priced``.
    """

    source: QuerySource
    asked: RowQuestion
    classes: tuple[str, ...]
    looked: Look
    plain: "LazyTable | None" = None
    priced: CostQuery | None = None

    @property
    def _keys(self) -> list[str]:
        return [name for name in self.source.places if name == "prediction" or name.startswith("by")]

    @property
    def _by(self) -> list[str]:
        return [name for name in self._keys if name != "prediction"]

    @property
    def _span(self) -> tuple[float, float]:
        """How far all scores reach."""
        lows, highs = zip(*(self.looked.span(f"s{place}") for place in range(len(self.classes))), strict=True)
        return min(lows), max(highs)

    @property
    def _oddities(self) -> Oddities:
        """The rows whose scores are no probabilities."""
        (low, high), (least, most), found = self._span, self.looked.span("total"), self.looked.found
        uneven = int(found["uneven"]), None, least if 1 - least > ROUNDING else most
        return Oddities(self.looked.rows, (low, high), uneven, (int(found["outside"]), None, low if low < 0 else high))

    def with_scores(self, codes: Mapping[object, int]) -> "ClassTable":
        """The same table with what follows from the scores of a row beside them."""
        plain = _with_codes(self.source.frame, self, codes)
        pairs = [f"{kind}{place}" for kind in ("log", "square") for place in range(len(self.classes))]
        added = "odd", "missed", *_MOMENTS, *pairs
        places = {**self.source.places, "code": "code", "rank": "rank", "decided": "decided"}
        source = replace(self.source, frame=_with_ranks_and_losses(plain, self), places=places, added=added)
        priced = None if self.priced is None else replace(self.priced, source=source)
        return replace(self, source=source, plain=plain, priced=priced)

    def _with_codes(self, frame: LazyTable, codes: Mapping[object, int]) -> LazyTable:
        """Add the scores as numbers, and the code of the true class."""
        truth = nw.col(self.source.places["truth"])
        scores = [nw.col(self.source.places[f"score of {name}"]).cast(nw.Float64) + 0.0 for name in self.classes]
        code = sum_of(choose(truth == value, nw.lit(place), nw.lit(0)) for value, place in codes.items())
        return frame.with_columns(code.alias("code"), *(one.alias(f"s{place}") for place, one in enumerate(scores)))

    def _with_ranks(self, frame: LazyTable) -> LazyTable:
        """Add the rank of the true class, and what is decided."""
        k = len(self.classes)
        own = sum_of(choose(nw.col("code") == place, nw.col(f"s{place}"), nw.lit(0.0)) for place in range(k))
        frame = frame.with_columns(own.alias("own"))
        frame = frame.with_columns(sum_of(map(self._goes_before, range(k))).alias("rank"))
        pricing, costs = self.asked.pricing, {} if self.priced is None else self.priced.columns
        return with_decisions(frame, self.classes, pricing if self.asked.prediction is None else None, costs)

    def _goes_before(self, place: int) -> Term:
        score, own = nw.col(f"s{place}"), nw.col("own")
        return whether((score > own) | ((score == own) & (nw.col("code") > place)))

    def _with_losses(self, frame: LazyTable) -> LazyTable:
        """Add what a row loses, and what its other scores do; those of rows that are no probabilities nobody asks."""
        k, (low, high) = len(self.classes), self._span
        scores = [nw.col(f"s{place}") for place in range(k)]
        odd = _uneven(sum_of(scores))
        if low < 0 or high > 1:
            odd = _any([odd, *((s < 0) | (s > 1) for s in scores)])
        within = [_within(nw.col(f"s{place}")).alias(f"p{place}") for place in range(k)]
        frame = frame.with_columns(whether(odd).alias("odd"), _within(nw.col("own")).alias("mine"), *within)
        others = [choose(nw.col("code") == place, nw.lit(0.0), nw.col(f"p{place}")) for place in range(k)]
        frame = frame.with_columns(
            ((1.0 - nw.col("mine")) * (1.0 - nw.col("mine"))).alias("missed"),
            *(other.alias(f"other{place}") for place, other in enumerate(others)),
        )
        squares = [(nw.col(f"other{place}") * nw.col(f"other{place}")).alias(f"square{place}") for place in range(k)]
        logs = [surprise(1.0 - nw.col(f"other{place}")).alias(f"log{place}") for place in range(k)]
        frame = frame.with_columns(*squares, *logs, surprise(nw.col("mine")).alias("loss_0"))
        distance = sum_of(nw.col(f"square{place}") for place in range(k))
        finite = surprise(nw.col("mine"), 0.0)  # of an infinite loss no higher moment is asked for
        frame = frame.with_columns((distance + nw.col("missed")).alias("loss_1"), finite.alias("finite_0"))
        unit = self.source.unit
        for loss, name in enumerate(("finite_0", "loss_1")):
            one = nw.col(name)
            powers = [nw.col(f"loss_{loss}"), unit, unit * one, unit * one * one, unit * one * one * one]
            frame = frame.with_columns(*(value.alias(f"moment_{loss}_{n}") for n, value in enumerate(powers)))
        return frame

    def count(self, exact: bool | None) -> Counted | None:
        """Ask the engine for its groups, and count them as if they were rows."""
        own = ["prediction"] if "prediction" in self._keys else ["decided"]
        if self.asked.decisions_only:
            groups = replace(self.source, added=()).groups(["truth", *self._by, *own])
            assert groups is not None
            return self._read(groups, partial(self._count_decisions, groups))
        groups = self.source.groups(["truth", *self._by, *own, "rank"])
        assert groups is not None
        columns = {name: groups.columns[name] for name in ("truth", *self._keys)}
        replace(groups, columns=columns).check(of_classes=True)
        counted = self._read(groups, partial(self._count, groups, exact))
        if counted is not None and self.priced is not None:
            costs = self.priced.ask(["truth", *self._by, *own])
            counted = self._read(costs, partial(self.priced.beside, counted, costs))
        keys = ["truth", *self._by, *own, "rank"]
        if counted is not None and (self.asked.groups_by or "cluster" in self.source.places):
            counted = self._count_clusters(keys, counted, self._held)
        elif counted is not None and self.asked.row_groups and len(self.classes) <= MOST_CLASSES:
            counted = self._with_row_groups(keys, counted)
        return None if counted is None else groups.of_rows(counted)

    def _read(self, groups: Groups, count: Callable[[Plan, Rows, Labels | None], Counted | None]) -> Counted | None:
        """Read groups as if they were rows, decided as they were, and count them."""
        given = {name: groups.columns[name] for name in ("truth", *self._keys)}
        given["score"] = any_scores(self.classes, len(groups.sizes))

        def decided(plan: Plan, rows: Rows, by: Labels | None) -> Counted | None:
            if not is_of(plan, self.classes):
                return None
            if decided_by(self.asked) != "rows":
                names = decisions_of(self.asked, self.classes)
                places = np.array([plan.decisions.index(name) for name in names])
                rows = replace(rows, prediction=places[groups.columns["decided"].to_numpy().astype(np.int64)])
            return count(plan, replace(rows, scores=None), by)

        return count_as_rows(self.asked, given, None, decided)

    def _count_decisions(self, groups: Groups, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        """Count what is decided, and nothing else of the scores."""
        how = decided_by(self.asked)
        self._oddities.tell(self.asked, how)
        kept, by, _ = rows.standing_for(*groups.amounts).in_order(by, None)
        return groups.of_rows(replace(count_classes(plan, kept, by), decided_by=how))

    def _count(self, groups: Groups, exact: bool | None, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        how = decided_by(self.asked)
        self._oddities.tell(self.asked, how)
        kept = rows.standing_for(*groups.amounts)
        kept, by, order = kept.in_order(by, groups.columns["rank"].to_numpy())
        counted = count_classes(plan, kept, by)
        return self._sums(groups, order, kept.truth, by, exact).added_to(counted, how)

    def _sums(self, groups: Groups, order: Array, truth: Array, by: Labels | None, exact: bool | None) -> ClassSums:
        k, segments = len(self.classes), [""] if by is None else list(by.names)
        segment = np.zeros(len(truth), np.int64) if by is None else by.codes.astype(np.int64)
        shape, cells = (len(segments), k), segment * k + truth.astype(np.int64)
        sizes = groups.amounts[0][order]

        def add(values: Array, places: Array = cells) -> Array:
            sums = np.zeros(shape, np.int64 if values.dtype.kind in "iu" else np.longdouble)
            np.add.at(sums.reshape(-1), places, values)
            return sums

        lost = {name: with_infinite(values[order]) for name, values in groups.added.items()}
        moments = np.stack([add(lost[name]) for name in _MOMENTS], axis=-1).reshape(*shape, *MOMENTS)
        kinds = ("log", "square")
        others = np.stack(
            [np.stack([add(lost[f"{kind}{place}"]).sum(1) for place in range(k)], 1) for kind in kinds], -1
        )
        pairs, tables = self._binned(segments, exact)
        return ClassSums(
            self.classes,
            segments,
            add(sizes),
            None if groups.squares is None else add(groups.squares[order]),
            add(sizes, segment * k + groups.columns["rank"].to_numpy().astype(np.int64)[order]),
            moments,
            losses_against_rest(moments, add(lost["missed"]), others),
            add(lost["odd"]).sum(1),
            pairs,
            tables,
            self._span,
        )

    # ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def _held(self) -> QueryRowGroups | QueryClusters:
        return QueryRowGroups.of(self.source) if self.asked.groups_by else QueryClusters.of(self.source)

    def in_groups(self) -> LazyTable:
        """The scores and true classes of rows, what they weigh, and the number of their cluster or random group."""
        assert self.plain is not None
        frame = self._held.put_together(replace(self.source, frame=self.plain), numbered=True).frame
        unit = self.source.unit
        return frame.select("code", *(f"s{c}" for c in range(len(self.classes))), unit.alias("unit"), "held")

    def _with_row_groups(self, keys: list[str], counted: Counted) -> Counted | None:
        """Add random groups of rows to the scores, from which figures that no sums tell have their intervals."""
        places = {**self.source.places, **{f"{ROW}{place}": f"s{place}" for place in range(len(self.classes))}}
        table = replace(self, source=replace(self.source, places=places), priced=None)
        held = QueryRowGroups.of(table.source, max(self.looked.rows // _ENOUGH_KINDS, 1))
        if held.alike:
            return counted  # rows that are alike would stay together
        found = table._count_clusters(keys, counted, replace(held, groups=_ROW_GROUPS))
        return None if found is None else _beside_scores(found)

    def _count_clusters(
        self, keys: list[str], counted: Counted, held: QueryRowGroups | QueryClusters
    ) -> Counted | None:
        """Add the clusters to what was counted: decisions, ranks and losses, and the cells of each class's scores."""
        source, tables = self.source, counted.class_scores.tables
        summed = replace(source, added=()) if self.priced is None else self.priced.adding()
        lost = replace(summed, added=(*summed.added, "moment_0_0", "moment_1_0"))
        groups = held.put_together(lost).groups([*keys, "cluster"])
        assert groups is not None
        names = encode(to_column(groups.columns["cluster"], "cluster")).names

        def entries(found: Groups, rows: Rows) -> Rows:
            cluster = encode(to_column(found.columns["cluster"], "cluster")).into(names).astype(np.int64)
            return replace(rows.standing_for(*found.amounts), alike=found.sizes, cluster=cluster)

        def cells(place: int, by: Labels | None) -> ClusterRows:
            columns = tables[place].as_columns()
            grid = self._grid_of(place), grid_bits(columns.scores, columns.counts().sum(0), len(tables))
            found = held.put_together(self._with_score(place).on_grid(*grid)).groups(
                ["code", *self._by, "score", "cluster"]
            )
            assert found is not None
            truth, edges = (found.columns[name].to_numpy() for name in ("code", "score"))
            rows = Rows(truth.astype(np.int64), scores=edges.astype(np.float64))
            own = None if by is None else Labels(self._segments_of(found, by.names), by.names)
            return ClusterRows(entries(found, rows), own, grid, held.count, held.counts)

        def add(plan: Plan, rows: Rows, by: Labels | None) -> Counted:
            ranks, columns = groups.columns["rank"].to_numpy(), [groups.added[f"moment_{n}_0"] for n in range(2)]
            paid = None if self.priced is None else self.priced.paid(groups, plan, rows)
            beside = [cells(place, by) for place in range(len(self.classes))]
            losses = with_infinite(np.stack(columns, axis=-1))
            whole = ClusterRows(entries(groups, rows), by, None, held.count, held.counts, beside, ranks, losses, paid)
            return whole.added_to(counted)

        return self._read(groups, add)

    def _segments_of(self, groups: Groups, segments: Sequence[str]) -> Array:
        """The segment of each group, by its place among all."""
        by = segment_labels({name: to_column(groups.columns[name], name) for name in self._by})
        assert by is not None
        return by.into(segments).astype(np.int64)

    # ── the scores of each class ─────────────────────────────────────────────────────────────────────────────────
    def _binned(self, segments: list[str], exact: bool | None) -> tuple[list[Binned], list[Binned]]:
        """The scores by the true class, and against the rest if that needs more: one by one, or in bins of many."""
        k = len(self.classes)
        known: list[Binned] = []
        while exact is not False and len(known) < k:
            found = self._scores(len(known), "code", segments, None if exact else MOST_GROUPS)
            if found is None:
                break
            known.append(found)
        if len(known) == k:
            return known, []
        pairs = [self._in_bins(place, "code", k, segments, pair_bits(k)) for place in range(k)]
        few = k <= MOST_TOGETHER
        return pairs, [self._in_bins(n, f"is{n}", 2, segments, bins.FINE) for n in range(0 if few else k)]

    def _with_score(self, place: int) -> QuerySource:
        """The table with the score of one class."""
        assert self.plain is not None
        frame = self.plain.with_columns(whether(nw.col("code") == place).alias(f"is{place}"))
        places = {**self.source.places, "score": f"s{place}", f"is{place}": f"is{place}"}
        return replace(self.source, frame=frame, places=places, added=())

    def _scores(self, place: int, key: str, segments: list[str], most: int | None) -> Binned | None:
        source = self._with_score(place)
        keys = [key, *self._by]
        too_many = most is not None and source.has_too_many_scores
        groups = None if too_many else source.groups([*keys, "score"], most)
        if groups is None or (most is not None and groups.columns["score"].n_unique() > MOST_SCORES):
            return None
        return self._cells(groups, key, len(self.classes), segments, None)

    def _grid_of(self, place: int) -> str:
        low, high = self.looked.span(f"s{place}")
        return "probability" if low >= 0 and high <= 1 else "line"

    def _in_bins(self, place: int, key: str, size: int, segments: list[str], bits: int) -> Binned:
        grid = self._grid_of(place)
        groups = self._with_score(place).on_grid(grid, bits).groups([key, *self._by, "score"])
        assert groups is not None
        return replace(self._cells(groups, key, size, segments, grid), bits=bits)

    def _cells(self, groups: Groups, key: str, size: int, segments: list[str], grid: str | None) -> Binned:
        """Groups of scores in the order of their cells."""
        cells = groups.columns[key].to_numpy().astype(np.int64)
        if self._by:
            cells = cells + size * self._segments_of(groups, segments)
        edges = groups.columns["score"].to_numpy().astype(np.float64)
        order = np.lexsort((edges, cells))
        weights, squares = (None if one is None else one[order] for one in groups.amounts)
        assert weights is not None
        return Binned(grid, cells[order], edges[order], weights, squares)


def _beside_scores(counted: Counted) -> Counted:
    """The same with the groups of rows beside the scores, instead of clusters, overall and by segment."""
    scores = counted.tallies[ClassScores.kind]
    assert isinstance(scores, ClassScores)
    tallies: dict[str, Tally] = {**counted.tallies, scores.kind: replace(scores, row_groups=counted.clusters)}
    segments = {name: _beside_scores(part) for name, part in counted.segments.items()}
    return replace(counted, tallies=tallies, clusters=None, segments=segments)


def _within(score: Term) -> Term:
    return choose(score < 0, 0.0, choose(score > 1, 1.0, score))
