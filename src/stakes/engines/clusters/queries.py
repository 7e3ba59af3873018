"""Clusters of a table in another engine: their number, and the group of each row."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import narwhals as nw

from stakes import errors
from stakes.engines.columns import LazyTable, to_column
from stakes.engines.lazy.queries import QuerySource, collect, lacks, row_by_row, whether
from stakes.engines.lazy.spark_text import (
    SparkText,
    add_columns,
    add_up,
    choose,
    column_of,
    count_whole_numbers,
    keep_rows,
)
from stakes.engines.segments import segment_labels
from stakes.tallies.clusters import MOST_GROUPS
from stakes.tallies.error_terms import Term

_PRIME = 2147483647


@dataclass(frozen=True, eq=False)
class QueryClusters:
    """The distinct clusters of a table in another engine, and their number overall and by segment."""

    each: LazyTable
    count: int
    counts: Mapping[str, int]

    @classmethod
    def of(cls, source: QuerySource) -> "QueryClusters":
        """Count the clusters, of all rows and of each segment."""
        frame, place = source.frame, source.places["cluster"]
        if source.dtype("cluster").is_nested():
            raise errors.unsupported_type("cluster", str(source.dtype("cluster")))
        count, gaps = _count_different(frame, place)
        if gaps:
            raise errors.missing_values("cluster", gaps, None)
        if "weight" in source.places:
            frame = frame.filter(nw.col(source.places["weight"]) != 0)
            count, _ = _count_different(frame, place)
        if source.dtype("cluster").is_float():
            _refuse_fractions(frame, place)
        each, counts = frame.group_by(place).agg(nw.len().alias("rows")).select(place), {}
        if by := [name for name in source.places if name.startswith("by")]:
            keys = list(dict.fromkeys(source.places[name] for name in by))
            inner = frame.group_by(*dict.fromkeys([*keys, place])).agg(nw.len().alias("rows"))
            table = collect(inner.group_by(*keys).agg(nw.len().alias("count")))
            labels = segment_labels({name: to_column(table[source.places[name]], name) for name in by})
            assert labels is not None
            many = table["count"].to_numpy()
            counts = {labels.names[code]: int(many[row]) for row, code in enumerate(labels.codes.tolist())}
        return cls(each, count, counts)

    def put_together(self, source: QuerySource, numbered: bool = False) -> QuerySource:
        """The same table with group numbers in place of clusters, if there are very many clusters.

        Clusters that are not numbers are numbered by the engine in sorted order; a multiplicative hash spreads them
        over groups. Few clusters stay as they are, unless ``numbered`` asks for numbers.
        """
        many, place = self.count > MOST_GROUPS, source.places["cluster"]
        if not many and not numbered:
            return source
        if many and source.dtype("cluster").is_signed_integer():
            spark = source.frame.implementation.is_pyspark()
            whole: Term = (nw.col(place).cast(nw.Int64) % _PRIME + _PRIME) % _PRIME  # signs of remainders differ
            whole = SparkText(f"pmod(CAST({place} AS BIGINT), {_PRIME})") if spark else whole
            frame = add_columns(source.frame, {"held": _random_group(whole)})
        else:
            number = nw.col("number").cast(nw.Int64)
            group = _random_group(number) if many else number
            known = self.each.with_row_index("number", order_by=place).select(place, group.alias("held"))
            frame = source.frame.join(known, on=place, how="left")
        return replace(source, frame=frame, places={**source.places, "cluster": "held"})


def _count_different(frame: LazyTable, place: str) -> tuple[int, int]:
    """The number of different values in a column, and of rows without one."""
    if frame.implementation.is_pyspark() and frame.collect_schema()[place].is_signed_integer():
        found = count_whole_numbers(frame, place)
    else:
        each = frame.group_by(place).agg(nw.len().alias("rows"))
        each = each.with_columns((whether(lacks(each, place)) * nw.col("rows")).alias("gaps"))
        found = each.select(nw.len().alias("count"), nw.col("gaps").sum())
    (one,) = collect(found).rows(named=True)
    return int(one["count"] or 0), int(one["gaps"] or 0)


def _refuse_fractions(frame: LazyTable, place: str) -> None:
    """Refuse clusters that are no whole numbers of 64 bits, and say in how many rows."""
    number = column_of(frame)(place)
    whole = choose(number.abs() < 2.0**63, number, 0.5).floor()
    wrong = collect(add_up(keep_rows(frame, number != whole), [], [], [place]))
    if rows := int(wrong["rows"][0] or 0):
        raise errors.fractional_labels("cluster", rows, None, float(wrong[f"low {place}"][0])).unnumbered()


def _random_group(number: Term) -> Term:
    return number * 16807 % _PRIME % MOST_GROUPS


@dataclass(frozen=True, eq=False)
class QueryRowGroups:
    """Random groups of the rows of a table in another engine, by a hash of their values: the same in every query.

    If too many rows are ``alike`` to stay together, equal rows are numbered and spread over groups. There are so many
    ``groups``.
    """

    alike: bool
    groups: int = MOST_GROUPS
    count: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, source: QuerySource, one_in: int = 1) -> "QueryRowGroups":
        """Find out whether many rows have equal values; perhaps from ``one_in`` some kinds of rows, at random."""
        mixed = _mix(source.frame, _numbers_in(source))
        mixed = mixed.filter(nw.col("mixed") % one_in == 0) if one_in > 1 else mixed
        each = mixed.group_by("mixed").agg(nw.len().alias("rows"))
        (found,) = collect(each.select(nw.len().alias("kinds"), nw.col("rows").sum().alias("all"))).rows(named=True)
        return cls(int(found["kinds"] or 0) < _FEW_ALIKE * int(found["all"] or 0))

    def put_together(self, source: QuerySource, numbered: bool = True) -> QuerySource:
        """The same table with group numbers as its clusters."""
        order = [place for name, place in source.places.items() if name.startswith(ROW)] if self.alike else []
        frame = _add_group(_mix(source.frame, _numbers_in(source)), list(dict.fromkeys(order)), self.groups)
        return replace(source, frame=frame, places={**source.places, "cluster": "held"})


ROW = "row "
"""Prefix of the columns by which rows are assigned to groups."""

_FEW_ALIKE = 0.99


def _numbers_in(source: QuerySource) -> list[str]:
    """The numeric columns by which rows are assigned to groups, and the code of the truth."""
    schema, places = source.frame.collect_schema(), source.places
    found = [place for name, place in places.items() if name.startswith(ROW) and schema[place].is_numeric()]
    return ["code", *dict.fromkeys(found)]


@row_by_row
def _mix(frame: LazyTable, columns: Sequence[str]) -> LazyTable:
    """Add a pseudo-random whole number to each row, the same for rows with equal values."""
    mixed = nw.lit(0.0)
    for place, name in enumerate(columns, 2):
        mixed = mixed + nw.col(name).cast(nw.Float64) * (12345.0 * math.sqrt(place + 1 / math.pi))
    frame = frame.with_columns(mixed.alias("mixed"))
    part = nw.col("mixed") - nw.col("mixed").floor()
    return frame.with_columns((part * float(_PRIME)).floor().cast(nw.Int64).alias("mixed"))


@row_by_row
def _add_group(frame: LazyTable, order: Sequence[str], groups: int = MOST_GROUPS) -> LazyTable:
    """Add the group of each row; rows with equal values are numbered in ``order``, if there is one."""
    number = nw.col("mixed").cum_count().over("mixed", order_by=order).cast(nw.Int64) if order else nw.lit(0)
    frame = frame.with_columns(((nw.col("mixed") + number * 1000003) * 16807 % _PRIME).alias("held"))
    held = nw.col("held")
    frame = frame.with_columns((held * held % _PRIME).alias("held"))  # a linear map would spread rows too evenly
    return frame.with_columns((held * 48271 % _PRIME % groups).alias("held"))
