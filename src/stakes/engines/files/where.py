"""where=: the rows that a condition in SQL keeps."""

import itertools
import json
from collections.abc import Sequence
from typing import Any

from stakes import errors

_OF_A_QUERY = "_POLARS_TMP_SQL"
"""How Polars calls the result of a query within a condition."""


_OF_ROWS = {"Agg", "Over", "Window", "Rolling", "SubPlan", "Correlation", "Len"}
"""How Polars calls the parts of an expression that put rows together."""


def _of_several_rows(part: Any) -> bool:
    """Whether an expression, as Polars writes it down, depends on other rows than the one it is asked about."""
    if isinstance(part, dict):
        return any(key in _OF_ROWS or _of_several_rows(inner) for key, inner in part.items() if key != "Literal")
    if isinstance(part, list):
        return any(map(_of_several_rows, part))
    return part in _OF_ROWS


class Condition:
    """A condition such as ``site = 'A' AND age > 60``, and the columns that it needs."""

    def __init__(self, text: Any) -> None:
        import polars as pl

        self.text = text
        try:
            self.expression = pl.sql_expr(text)
        except (pl.exceptions.PolarsError, TypeError) as problem:
            raise errors.bad_where(text, errors.first_line(problem)) from None
        self.columns = list(dict.fromkeys(self.expression.meta.root_names()))
        if any(name.startswith(_OF_A_QUERY) for name in self.columns):
            raise errors.bad_where(text, "it has a query within")
        if _of_several_rows(json.loads(self.expression.meta.serialize(format="json"))):
            raise errors.bad_where(text, "it looks at more than one row")  # rows are read in batches, file by file

    def keep(self, frame: Any, texts: bool) -> Any:
        """Return the rows for which the condition is true.

        ``texts`` says that all columns are text; those that the condition takes for numbers are then read as numbers.
        """
        numeric = self._taken_for_numbers(frame.clear()) if texts else ()
        return frame.filter(self._holds(frame.with_columns([_numbers(frame[name]) for name in numeric])))

    def _holds(self, frame: Any) -> Any:
        """Whether the condition is true of each row; null where that is unknown."""
        import polars as pl

        try:
            holds = frame.with_columns(self.expression.alias("holds"))["holds"]
        except pl.exceptions.PolarsError as problem:
            raise errors.bad_where(self.text, errors.first_line(problem)) from None
        if holds.dtype != pl.Boolean:
            raise errors.bad_where(self.text, "it is neither true nor false")
        return holds

    def _taken_for_numbers(self, nobody: Any) -> Sequence[str]:
        """The fewest columns that have to be numbers for the condition to make sense."""
        import polars as pl

        for size in range(len(self.columns) + 1):
            for numeric in itertools.combinations(self.columns, size):
                try:
                    self._holds(nobody.cast(dict.fromkeys(numeric, pl.Float64)))
                except errors.InputError:
                    continue
                return numeric
        return ()


def _numbers(column: Any) -> Any:
    """Whole numbers if all are, otherwise fractions."""
    import polars as pl

    text = column.str.strip_chars()
    for dtype in (pl.Int64, pl.Float64):
        numbers = text.cast(dtype, strict=False)
        if numbers.null_count() == column.null_count():
            return numbers
    wrong = column.filter(numbers.is_null() & column.is_not_null())[0]
    raise errors.condition_of_text(column.name, wrong)
