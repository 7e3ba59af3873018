"""Spark expressions as text: building each of them by calls takes longer than counting a million rows.

They support the operations of Narwhals expressions that are used here, so a formula is written once for all engines.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import reduce

import narwhals as nw

from stakes.engines.columns import LazyTable, as_frame
from stakes.tallies.error_terms import Term


class SparkText:
    """An expression, such as ``(`truth` - `prediction`)``."""

    def __init__(self, text: str) -> None:
        self.text = text


def _fill(form: str) -> Callable[..., SparkText]:
    return lambda *terms: SparkText(form.format(*map(_write, terms)))


_FORMS = {
    "abs": "abs({})", "log": "ln({})", "floor": "floor({})", "cast": "CAST({} AS DOUBLE)", "is_null": "({} IS NULL)",
    "is_nan": "isnan({})", "__invert__": "(NOT {})", "__radd__": "({1} + {0})", "__rsub__": "({1} - {0})",
    "__rmul__": "({1} * {0})",
}  # fmt: skip
_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "mod": "%", "and": "AND", "or": "OR", "gt": ">", "ge": ">=",
    "lt": "<", "le": "<=", "eq": "=", "ne": "<>",
}  # fmt: skip
for _name, _form in {**_FORMS, **{f"__{name}__": f"({{}} {sign} {{}})" for name, sign in _SIGNS.items()}}.items():
    setattr(SparkText, _name, _fill(_form))


def _write(value: object) -> str:
    if isinstance(value, SparkText):
        return value.text
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, date):
        return f"TIMESTAMP'{value}'" if isinstance(value, datetime) else f"DATE'{value}'"
    return f"({value!r}D)" if isinstance(value, float) else str(value)


# ── for any engine ──────────────────────────────────────────────────────────────────────────────────
def column_of(frame: LazyTable) -> Callable[[str], Term]:
    """A function that makes expressions of the columns of a table."""
    return (lambda name: SparkText(f"`{name}`")) if frame.implementation.is_pyspark() else nw.col


def choose(test: Term, one: Term, other: Term) -> Term:
    """One value if a test holds, otherwise another."""
    if isinstance(test, SparkText):
        return _fill("CASE WHEN {} THEN {} ELSE {} END")(test, one, other)
    return nw.when(test).then(one).otherwise(other)


def is_nan(number: Term) -> Term:
    """Whether a number is NaN.

    DuckDB answers its own test by the least and the largest number that a Parquet file names, which leave NaN out.
    """
    if isinstance(number, SparkText):
        return number.is_nan()  # type: ignore[attr-defined]
    return (number - number != 0.0) & (number.abs() != math.inf)


def add_columns(frame: LazyTable, columns: Mapping[str, Term]) -> LazyTable:
    """Add columns, or replace those of the same name."""
    if not frame.implementation.is_pyspark():
        return frame.with_columns(*(column.alias(name) for name, column in columns.items()))
    native = frame.to_native()
    kept = [f"`{name}`" for name in native.columns if name not in columns]
    return as_frame(native.selectExpr(*kept, *(f"{_write(made)} AS `{name}`" for name, made in columns.items()))).lazy()


def keep_rows(frame: LazyTable, test: Term) -> LazyTable:
    """Keep the rows for which a test holds."""
    return as_frame(frame.to_native().where(test.text)).lazy() if isinstance(test, SparkText) else frame.filter(test)


def add_up(
    frame: LazyTable,
    keys: Sequence[str],
    sums: Sequence[str | tuple[str, str]],
    lows: Sequence[str] = (),
    highs: Sequence[str] = (),
) -> LazyTable:
    """The rows, sums of columns (or of products, ``a·b``), minima (``low a``) and maxima (``high a``) by group."""
    each = [(name, "sum", [name]) if isinstance(name, str) else ("·".join(name), "sum", [*name]) for name in sums]
    each += [(f"low {name}", "min", [name]) for name in lows] + [(f"high {name}", "max", [name]) for name in highs]
    if not frame.implementation.is_pyspark():
        sums_and_ends = [getattr(reduce(operator.mul, map(nw.col, of)), how)().alias(name) for name, how, of in each]
        sums_and_ends = [nw.len().alias("rows"), *sums_and_ends]
        return frame.group_by(*keys).agg(*sums_and_ends) if keys else frame.select(*sums_and_ends)
    texts = [f"{how}({' * '.join(f'`{one}`' for one in of)}) AS `{name}`" for name, how, of in each]
    expressions = map(_expression, ["count(1) AS rows", *texts])
    return as_frame(frame.to_native().groupBy(*keys).agg(*expressions)).lazy()


def count_whole_numbers(frame: LazyTable, place: str) -> LazyTable:
    """The number of different whole numbers in a Spark column, and of rows without one (``gaps``).

    One group holds a bit for each of 64 consecutive numbers, so few groups are moved if numbers are dense.
    """
    number = f"CAST(`{place}` AS BIGINT)"
    rows = frame.to_native().selectExpr(f"shiftright({number}, 6) AS word", f"{number} AS number")
    bits = "bit_or(shiftleft(1L, CAST(number & 63 AS INT))) AS bits", "count_if(number IS NULL) AS gaps"
    words = rows.groupBy("word").agg(*map(_expression, bits))
    return as_frame(words.selectExpr("sum(bit_count(bits)) AS count", "sum(gaps) AS gaps")).lazy()


def _expression(text: str) -> object:
    from pyspark.sql import functions

    return functions.expr(text)
