"""Counts the rows of each weight separately, each as one row, without reading them into memory."""

from collections.abc import Iterator
from dataclasses import fields

from stakes.engines.columns import Data
from stakes.engines.counting import count_rows
from stakes.engines.lazy.queries import QuerySource
from stakes.engines.plan import Counted
from stakes.engines.reading import RowQuestion
from stakes.engines.shared_rows import as_engine_table

MOST_WEIGHTS = 20
"""Most different weights that are counted separately: each takes a pass over all rows."""


def count_by_weight(data: Data, asked: RowQuestion) -> dict[float, Counted] | None:
    """Count the rows of each weight above 0; None if there are too many weights, or no column of them."""
    if not isinstance(asked.weight, str) or not isinstance(asked.where, str | None):
        return None
    weights = sorted(_weights(data, asked.weight, asked.where))
    if not 0 < len(weights) <= MOST_WEIGHTS:
        return None
    name = asked.weight.replace('"', '""')
    question = {field.name: getattr(asked, field.name) for field in fields(asked)} | {"weight": None}
    kept = "" if asked.where is None else f"({asked.where}) AND "
    return {weight: count_rows(data, **{**question, "where": f'{kept}"{name}" = {weight!r}'}) for weight in weights}


def _weights(data: Data, column: str, where: str | None) -> Iterator[float]:
    """The distinct weights above 0, at most a few more than MOST_WEIGHTS; none if they are not numbers."""
    with as_engine_table(data, {"score": column}, where) as (table, left):
        if table is None:
            return
        source = QuerySource.of(table, {"score": column}, left)
        found = source.query(["score"]).head(MOST_WEIGHTS + 2).collect()[source.places["score"]]
        if found.dtype.is_numeric():
            yield from (float(weight) for weight in found.drop_nulls().to_list() if weight > 0)
