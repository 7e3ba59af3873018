"""Which rows count: those without gaps, if others are to be left out, and those of some weight."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.class_scores import ClassColumns
from stakes.engines.columns import Column, as_weights, to_column
from stakes.engines.missing import keep, lacking, present_rows
from stakes.engines.segments import segment_labels
from stakes.engines.tables import as_columns
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of


@dataclass(frozen=True, eq=False)
class RowsThatCount:
    """The rows that count: their columns (the weight by itself), and scores of several classes if those came apart.

    ``length`` is the number of rows before any were left out, ``dropped`` how many of them lacked a value, and
    ``dropped_in`` in which segments those were, where that is known; ``dropped_weight`` is what they weigh, as far as
    they have a weight. ``places`` are where the rows stood, if some were left out.
    """

    columns: dict[str, Column]
    table: ClassColumns | None
    weight: Array | None
    length: int
    dropped: int = 0
    places: Array | None = None
    dropped_in: Mapping[str, int] = field(default_factory=dict)
    dropped_weight: float = 0


def rows_that_count(
    found: Mapping[str, Any], table: ClassColumns | None, missing: str, given: Mapping[str, Any] | None = None
) -> RowsThatCount:
    """Read the columns and leave out rows; ``given`` is what was given beside a table, for messages."""
    present, dropped_in, lost = _present(missing, found, table), {}, 0.0
    if present is not None:
        dropped_in, lost = _count_dropped(found, present), _dropped_weight(found.get("weight"), present)
        found = {name: keep(values, present) for name, values in found.items()}
        table = None if table is None else table.keep(present)
    columns = as_columns(found, given or {})
    rows = len(columns["truth"])
    if table is not None and len(table.values) != rows:
        raise errors.wrong_length("score", len(table.values), rows)
    weight = as_weights(columns.pop("weight")) if "weight" in columns else None
    length, places = (rows, None) if present is None else (len(present), np.flatnonzero(present))
    counting = RowsThatCount(columns, table, weight, length, length - rows, places, dropped_in, lost)
    return counting if weight is None or weight.all() else _of_some_weight(counting, weight > 0)


def _present(missing: str, found: Mapping[str, Any], table: ClassColumns | None) -> Array | None:
    """Which rows are complete, if others are to be left out and there are any."""
    if not is_one_of(missing, ("error", "drop")):
        raise errors.unknown_missing(missing)
    present = present_rows(found, table) if missing == "drop" else None
    return None if present is None or present.all() else present


def _count_dropped(found: Mapping[str, Any], present: Array) -> dict[str, int]:
    """How many rows each segment loses; a row that lacks its segment is in none."""
    by = {name: values for name, values in found.items() if name.partition(" ")[0] == "by"}
    there = present_rows(by, None) if by else None
    if there is None or not (lost := there & ~present).any():
        return {}
    labels = segment_labels({name: to_column(keep(values, lost), name) for name, values in by.items()})
    assert labels is not None
    return dict(zip(labels.names, np.bincount(labels.codes).tolist(), strict=True))


def _dropped_weight(weight: Any, present: Array) -> float:
    """What the rows that are left out weigh; those without a weight weigh nothing."""
    if weight is None or not (lost := ~present & ~lacking(weight)).any():
        return 0
    return float(as_weights(to_column(keep(weight, lost), "weight")).sum())


def _of_some_weight(rows: RowsThatCount, heavy: Array) -> RowsThatCount:
    """A row of weight 0 is a row that is not there."""
    return replace(
        rows,
        columns={name: column.keep(heavy) for name, column in rows.columns.items()},
        table=None if rows.table is None else rows.table.keep(heavy),
        weight=rows.weight[heavy],  # type: ignore[index]
        places=np.flatnonzero(heavy) if rows.places is None else rows.places[heavy],
    )
