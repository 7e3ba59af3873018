"""where=: the rows that a condition such as ``site = 'A' AND age > 60`` keeps, the same in every engine."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from stakes import errors
from stakes.engines.conditions.kinds import DATE, SOME_DATE, SOME_DATES, Group, groups, kind_of
from stakes.engines.conditions.syntax import parse
from stakes.engines.conditions.translation import holding
from stakes.engines.conditions.tree import Condition, Truth
from stakes.errors import InputError, short

__all__ = ["Condition", "choose_rows", "filtered", "groups", "parse"]


def filtered(frame: Any, condition: Condition, places: Mapping[str, str]) -> Any:
    """Return the rows of a lazy Narwhals frame that satisfy a condition, chosen where they lie.

    ``places`` are the names of the condition's columns in the frame.
    """
    schema = frame.collect_schema()
    seen = {column: {kind_of(schema[place], frame.implementation)} - {""} for column, place in places.items()}
    found = groups(condition)
    looked = _looked_at(frame, found, seen, places)
    kinds = {
        column: group.settle(seen, lambda column, kind: looked[column, kind] / (looked[column, "text"] or 1))
        for group in found
        for column in group.columns
    }
    for column, kind in kinds.items():
        if kind == "date" and "text" in seen[column]:
            raise InputError(
                "dates-elsewhere",
                f"where: the column {short(repr(column))} holds dates as text, which are not read as dates where the "
                "rows lie; make it a column of dates",
            )
        if looked[column, "other"]:
            raise errors.condition_of_other_kind(column, kind, "number")
    return holding(frame, condition, places, kinds)


def _looked_at(
    frame: Any, found: list[Group], seen: Mapping[str, set[str]], places: Mapping[str, str]
) -> Counter[tuple[str, str]]:
    """Count, where only the values tell: texts, those that look like dates, and numbers that are neither 0 nor 1."""
    import narwhals as nw

    asked: dict[tuple[str, str], Any] = {}
    for column, group in {column: each for each in found for column in each.columns}.items():
        value = nw.col(places[column])
        if group.kind == "boolean" and "number" in seen[column]:
            asked[column, "other"] = (value != 0) & (value != 1)
        elif group.candidates and "text" in seen[column]:
            text = value.cast(nw.String).str.strip_chars()
            looks = {"text": ".", "date": DATE, SOME_DATE: SOME_DATES}
            asked |= {(column, kind): text.str.contains(look) for kind, look in looks.items()}
    if not asked:
        return Counter()
    counts = [test.fill_null(False).cast(nw.Int64).sum().alias(f"{i}") for i, test in enumerate(asked.values())]
    (row,) = frame.select(*counts).collect().rows()
    return Counter({key: count or 0 for key, count in zip(asked, row, strict=True)})


def choose_rows(columns: Mapping[str, Any], condition: Condition, rows: int) -> Any:
    """Say of each row whether it satisfies a condition: a mask. ``columns`` are those that it names, of any make."""
    import numpy as np
    import polars as pl

    from stakes.engines.conditions.frames import Part, as_polars, rows_kept, settle_kinds

    if isinstance(condition.tree, Truth):
        return np.full(rows, condition.tree.value)
    part = Part(pl.DataFrame({name: as_polars(columns[name], name) for name in condition.columns}))
    return rows_kept(condition, settle_kinds(groups(condition), [part]), part)
