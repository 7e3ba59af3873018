"""Which rows count: those without gaps, if others are to be left out, and those of some weight."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.class_scores import Table
from stakes.engines.columns import Column, as_columns, as_weights
from stakes.engines.missing import keep, present_rows
from stakes.tallies.arithmetic import Array


@dataclass(frozen=True, eq=False)
class RowsThatCount:
    """The rows that count: their columns (the weight by itself), and scores of several classes if those came apart.

    ``length`` is the number of rows before any were left out, ``dropped`` how many of them lacked a value. ``places``
    are where the rows stood, if some were left out.
    """

    columns: dict[str, Column]
    table: Table | None
    weight: Array | None
    length: int
    dropped: int = 0
    places: Array | None = None


def rows_that_count(
    found: Mapping[str, Any], table: Table | None, missing: str, given: Mapping[str, Any] | None = None
) -> RowsThatCount:
    """Read the columns and leave out rows; ``given`` is what was given beside a table, for messages."""
    present = _present(missing, found, table)
    if present is not None:
        found = {name: keep(values, present) for name, values in found.items()}
        table = None if table is None else table.keep(present)
    columns = as_columns(found, given or {})
    rows = len(columns["truth"])
    if table is not None and len(table.values) != rows:
        raise errors.wrong_length("score", len(table.values), rows)
    weight = as_weights(columns.pop("weight")) if "weight" in columns else None
    length, places = (rows, None) if present is None else (len(present), np.flatnonzero(present))
    counting = RowsThatCount(columns, table, weight, length, length - rows, places)
    return counting if weight is None or weight.all() else _of_some_weight(counting, weight > 0)


def _present(missing: str, found: Mapping[str, Any], table: Table | None) -> Array | None:
    """Which rows are complete, if others are to be left out and there are any."""
    if missing not in ("error", "drop"):
        raise errors.unknown_missing(missing)
    present = present_rows(found, table) if missing == "drop" else None
    return None if present is None or present.all() else present


def _of_some_weight(rows: RowsThatCount, heavy: Array) -> RowsThatCount:
    """A row of weight 0 is a row that is not there."""
    return replace(
        rows,
        columns={name: column.keep(heavy) for name, column in rows.columns.items()},
        table=None if rows.table is None else rows.table.keep(heavy),
        weight=rows.weight[heavy],  # type: ignore[index]
        places=np.flatnonzero(heavy) if rows.places is None else rows.places[heavy],
    )
