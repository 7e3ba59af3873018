"""Conditions on rows in another engine, which filters them itself."""

from collections import Counter
from collections.abc import Mapping

import narwhals as nw

from stakes import errors
from stakes.engines.columns import LazyTable
from stakes.engines.conditions.kinds import DATE, SOME_DATE, SOME_DATES, Group, groups, kind_of, settle
from stakes.engines.conditions.translation import holding
from stakes.engines.conditions.tree import Condition
from stakes.errors import InputError, short


def filter_rows(frame: LazyTable, condition: Condition, places: Mapping[str, str]) -> LazyTable:
    """Return the rows of a lazy Narwhals frame that satisfy a condition; none is fetched.

    ``places`` are the names of the condition's columns in the frame.
    """
    schema = frame.collect_schema()
    seen = {column: {kind_of(schema[place], frame.implementation)} - {""} for column, place in places.items()}
    compared = groups(condition)
    counts = _count_texts(frame, compared, seen, places)
    kinds = settle(compared, seen, counts)
    for column, kind in kinds.items():
        if kind == "date" and "text" in seen[column]:
            raise InputError(
                "dates-elsewhere",
                f"where: the column {short(repr(column))} holds dates as text, which other engines do not read "
                "as dates; make it a column of dates",
            )
        if counts[column, "other"]:
            raise errors.condition_of_other_kind(column, kind, "number")
    return holding(frame, condition, places, kinds)


def _count_texts(
    frame: LazyTable, compared: list[Group], seen: Mapping[str, set[str]], places: Mapping[str, str]
) -> Counter[tuple[str, str]]:
    """Count texts, those that look like dates, and numbers other than 0 and 1, if only the values can decide."""
    tests: dict[tuple[str, str], nw.Expr] = {}
    for column, group in {column: each for each in compared for column in each.columns}.items():
        value = nw.col(places[column])
        if group.kind == "boolean" and "number" in seen[column]:
            tests[column, "other"] = (value != 0) & (value != 1)
        elif group.candidates and "text" in seen[column]:
            text = value.cast(nw.String).str.strip_chars()
            looks = {"text": ".", "date": DATE, SOME_DATE: SOME_DATES}
            tests |= {(column, kind): text.str.contains(look) for kind, look in looks.items()}
    if not tests:
        return Counter()
    counts = [test.fill_null(False).cast(nw.Int64).sum().alias(f"{i}") for i, test in enumerate(tests.values())]
    (row,) = frame.select(*counts).collect().rows()
    return Counter({key: count or 0 for key, count in zip(tests, row, strict=True)})
