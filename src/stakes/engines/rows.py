"""Selects the rows that count: those without gaps, if others are dropped, and with a weight above 0."""

from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress

import numpy as np

from stakes import errors
from stakes.engines.classes.scores import ClassColumns
from stakes.engines.columns import Arguments, Column, as_frequencies, as_weights, to_column
from stakes.engines.missing import keep, lacking, present_rows
from stakes.engines.segments import segment_labels
from stakes.engines.tables import as_columns
from stakes.frozen import dataclass, field, replace
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of


@dataclass(frozen=True)
class Dropped:
    """Rows that lacked a value or have no weight: their number, by segment if known, and their weight."""

    rows: int = 0
    segments: Mapping[str, int] = field(default_factory=dict)
    weight: float = 0


@dataclass(frozen=True, eq=False)
class RowsThatCount:
    """The rows that count: their columns, their weight, and a ``table`` of class scores that came as one array.

    ``length`` is the number of rows before some were dropped; ``places`` are their original numbers, if some were.
    """

    columns: dict[str, Column]
    table: ClassColumns | None
    weight: Array | None
    length: int
    dropped: Dropped
    places: Array | None = None

    def of_some_weight(self, weight: Array) -> "RowsThatCount":
        """Drop rows of weight 0, and count them as dropped: the weight may be a mistake."""
        heavy = weight > 0
        lost = _in_segments({name: column.keep(~heavy) for name, column in self.columns.items()})
        segments = Counter(self.dropped.segments) + Counter(lost)
        dropped = replace(self.dropped, rows=self.length - int(heavy.sum()), segments=segments)
        return replace(self, weight=weight, dropped=dropped)._taken(np.flatnonzero(heavy))

    def repeated(self, frequency: Array) -> "RowsThatCount":
        """Repeat each row as often as its frequency says."""
        whole = self._taken(np.repeat(np.arange(len(frequency)), frequency))
        return replace(whole, length=self.dropped.rows + int(frequency.sum()))

    def _taken(self, rows: Array) -> "RowsThatCount":
        return replace(
            self,
            columns={name: column.keep(rows) for name, column in self.columns.items()},
            table=None if self.table is None else self.table.keep(rows),
            weight=None if self.weight is None else self.weight[rows],
            places=rows if self.places is None else self.places[rows],
        )


def keep_numbers(places: Array | None) -> AbstractContextManager[None]:
    """Let errors and warnings name the original number of a row."""
    if places is None:
        return nullcontext()
    return errors.pointing(lambda problem: problem.renumbered(lambda row: int(places[row])))


def rows_that_count(
    unread: Arguments, table: ClassColumns | None, missing: str, given: Arguments | None = None
) -> RowsThatCount:
    """Read the columns and drop rows; ``given`` are the arguments beside a table, for messages."""
    present, dropped, places = _present(missing, unread, table), Dropped(), None
    if present is not None:
        dropped, places = _dropped(unread, present), np.flatnonzero(present)
        unread = {name: keep(values, present) for name, values in unread.items()}
        table = None if table is None else table.keep(present)
    with keep_numbers(places):
        columns = as_columns(unread, given or {})
        rows = len(columns["truth"])
        if table is not None and len(table.values) != rows:
            raise errors.wrong_length("score", len(table.values), rows)
        try:
            weight = as_weights(columns.pop("weight")) if "weight" in columns else None
        except errors.EmptyError as nothing:
            nothing.dropped += dropped.rows
            raise
        frequency = as_frequencies(columns.pop("frequency")) if "frequency" in columns else None
    counting = RowsThatCount(columns, table, weight, dropped.rows + rows, dropped, places)
    if frequency is not None:
        counting = counting.repeated(frequency)
    weight = counting.weight
    return counting if weight is None or weight.all() else counting.of_some_weight(weight)


def _present(missing: str, unread: Arguments, table: ClassColumns | None) -> Array | None:
    """A mask of the complete rows, if others are to be dropped and there are any."""
    if not is_one_of(missing, ("error", "drop")):
        raise errors.unknown_missing(missing)
    present = present_rows(unread, table) if missing == "drop" else None
    return None if present is None or present.all() else present


def _dropped(unread: Arguments, present: Array) -> Dropped:
    """The dropped rows; one without a segment is in none, and one without a weight has weight 0."""
    segments, weight = {}, 0.0
    by = {name: values for name, values in unread.items() if name.partition(" ")[0] == "by"}
    there = present_rows(by, None) if by else None
    if there is not None and (lost := there & ~present).any():
        segments = _in_segments({name: to_column(keep(values, lost), name) for name, values in by.items()})
    if "weight" in unread and (lost := ~present & ~lacking(unread["weight"])).any():
        with suppress(errors.EmptyError):  # all weights are 0
            weight = float(as_weights(to_column(keep(unread["weight"], lost), "weight")).sum())
    return Dropped(int(np.count_nonzero(~present)), segments, weight)


def _in_segments(columns: Mapping[str, Column]) -> dict[str, int]:
    """The number of rows in each segment."""
    labels = segment_labels(columns)
    return {} if labels is None else dict(zip(labels.names, np.bincount(labels.codes).tolist(), strict=True))
