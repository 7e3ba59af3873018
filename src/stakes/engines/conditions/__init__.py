"""where=: the rows that a condition such as ``site = 'A' AND age > 60`` keeps, the same in every engine."""

from collections.abc import Mapping
from typing import Any

from stakes import errors
from stakes.engines.conditions.kinds import groups, kind_of
from stakes.engines.conditions.syntax import parse
from stakes.engines.conditions.translation import holding
from stakes.engines.conditions.tree import Condition, Truth

__all__ = ["Condition", "choose_rows", "filtered", "groups", "parse"]


def filtered(frame: Any, condition: Condition, places: Mapping[str, str]) -> Any:
    """Return the rows of a lazy Narwhals frame that satisfy a condition, chosen where they lie.

    ``places`` are the names of the condition's columns in the frame.
    """
    schema = frame.collect_schema()
    seen = {column: {kind_of(schema[place], frame.implementation)} - {""} for column, place in places.items()}
    kinds = {c: group.settle(seen, lambda *_: 0) for group in groups(condition) for c in group.columns}
    for column, kind in kinds.items():
        if kind == "boolean" and "number" in seen[column]:  # whether all of them are 0 and 1 is not known here
            raise errors.condition_of_other_kind(column, kind, "number")
    return holding(frame, condition, places, kinds)


def choose_rows(columns: Mapping[str, Any], condition: Condition, rows: int) -> Any:
    """Say of each row whether it satisfies a condition: a mask. ``columns`` are those that it names, of any make."""
    import numpy as np
    import polars as pl

    from stakes.engines.conditions.frames import Part, as_polars, rows_kept, settle_kinds

    if isinstance(condition.tree, Truth):
        return np.full(rows, condition.tree.value)
    part = Part(pl.DataFrame({name: as_polars(columns[name], name) for name in condition.columns}))
    return rows_kept(condition, settle_kinds(groups(condition), [part]), part)
