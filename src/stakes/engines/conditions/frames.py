"""Conditions on rows in memory, whose columns are converted to Polars."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import narwhals as nw
import numpy as np
import polars as pl

from stakes import errors
from stakes.engines.columns import Arguments, Values, as_series, is_missing, to_column
from stakes.engines.conditions.kinds import DATE, SOME_DATE, SOME_DATES, Group, groups, kind_of, settle
from stakes.engines.conditions.translation import holding
from stakes.engines.conditions.tree import LARGEST, Condition, Truth
from stakes.engines.missing import keep, lacking
from stakes.errors import InputError, short
from stakes.tallies.arithmetic import Array

_LONG = r"^[+-]?([0-9]{16,})(?:\.[0-9]*)?$"
"""Numbers of this many digits may exceed 2⁵³."""
_FORMATS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d")


def choose_rows(columns: Arguments, condition: Condition, rows: int) -> Array:
    """Return a mask of the rows that satisfy a condition; ``columns`` are those that it names, of any library."""
    if isinstance(condition.tree, Truth):
        return np.full(rows, condition.tree.value)
    part = Part(pl.DataFrame({name: as_polars(columns[name], name) for name in condition.columns}))
    return rows_kept(condition, settle_kinds(groups(condition), [part]), part)


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows: a Polars frame, and a function that locates the first occurrence of a value.

    ``missing`` are the words for a missing value if the table has no types and all is text; otherwise it is empty.
    """

    frame: pl.DataFrame
    missing: Collection[str] = ()
    place: Callable[[str, str], str] | None = None

    def kind(self, column: str) -> str:
        """The kind of a column in the frame, or "" if all values are missing."""
        series = nw.from_native(self.frame[column], series_only=True)
        return "spelled" if self.missing and series.dtype == nw.String else kind_of(series.dtype, series.implementation)

    def convert(self, column: str, kind: str) -> pl.Series:
        """Convert a column to the kind that it is compared as."""
        series, actual = self.frame[column], self.kind(column)
        if not kind or not actual or kind == actual or (kind == "text" and actual == "spelled"):
            return series
        if actual == "spelled" or (actual == "text" and kind == "date"):
            text = _strip(series.cast(pl.String))
            values = _as(text, kind)
            wrong = text.filter(values.is_null() & text.is_not_null())
            if not len(wrong):
                return values
            problem = errors.condition_of_other_kind(column, kind, "text", wrong[0])
            raise problem if self.place is None else problem.within(self.place(column, wrong[0]))
        if kind == "boolean" and actual == "number":
            other = series.filter((series != 0) & (series != 1))
            if len(other):
                raise errors.condition_of_other_kind(column, kind, actual, str(other[0]))
            return series.cast(pl.Boolean)
        raise errors.condition_of_other_kind(column, kind, actual)


def settle_kinds(groups: Sequence[Group], parts: Iterable[Part]) -> dict[str, str]:
    """Decide the kind that each column is compared as, from all parts of the table."""
    seen: dict[str, dict[str, None]] = {column: {} for group in groups for column in group.columns}
    read: Counter[tuple[str, str]] = Counter()
    for part in parts:
        for group in groups:
            for word in group.texts:
                if word is not None and word in part.missing:
                    raise InputError(
                        "missing-word-in-condition",
                        f"where: in separated text {word!r} is a missing value and no text of the column "
                        f"{short(repr(group.columns[0]))}; write IS NULL or IS NOT NULL",
                    )
            for column in group.columns:
                actual = part.kind(column)
                if actual in ("text", "spelled"):
                    text = _strip(part.frame[column].cast(str))
                    read.update({(column, kind): _as(text, kind).count() for kind in group.candidates})
                    read[column, "text"] += text.count()
                    actual = actual if actual == "text" or text.count() else ""
                seen[column] |= {actual: None} if actual else {}
    return settle(groups, seen, read)


def rows_kept(condition: Condition, kinds: Mapping[str, str], part: Part) -> Array:
    """Return a mask of the rows for which the condition is true."""
    names = {column: f"c{i}" for i, column in enumerate(condition.columns)}
    columns = [part.convert(column, kinds.get(column, "")).alias(name) for column, name in names.items()]
    frame = nw.from_native(pl.DataFrame([pl.Series("row", np.arange(len(part.frame))), *columns]))
    mask = np.zeros(len(part.frame), bool)
    mask[holding(frame, condition, names, kinds)["row"].to_numpy()] = True
    return mask


def _strip(text: pl.Series) -> pl.Series:
    text = text.str.strip_chars()
    return text.set(text == "", None)


def _as(text: pl.Series, kind: str) -> pl.Series:
    """Read text as a kind; values that cannot be read are missing."""
    if kind == "number":
        return _numbers(text)
    if kind == SOME_DATE:
        return text.filter(text.str.contains(SOME_DATES))
    if kind == "date":
        iso = text.str.contains(DATE)
        plain = pl.when(iso).then(text.str.replace("T", " ", literal=True))
        found = pl.select(pl.coalesce(plain.str.to_datetime(f, time_unit="us", strict=False) for f in _FORMATS))
        return found.to_series()
    low = text.str.to_lowercase()
    words = ("0", "1") if low.is_in(["0", "1"]).fill_null(True).all() else ("false", "true")
    return low.replace_strict({words[0]: False, words[1]: True}, default=None, return_dtype=pl.Boolean)


def _numbers(text: pl.Series) -> pl.Series:
    """Whole numbers if all are; otherwise fractions, unless that would lose digits."""
    numbers = text.cast(pl.Int64, strict=False)
    if numbers.null_count() == text.null_count():
        return numbers
    numbers = text.cast(pl.Float64, strict=False)
    long = text.filter(text.str.contains(_LONG))
    long = long.filter((long.str.extract(_LONG).cast(pl.Int128, strict=False) > LARGEST).fill_null(True))
    if not len(long) or numbers.null_count() > text.null_count():
        return numbers
    whole = text.cast(pl.Int128, strict=False)
    if whole.null_count() > text.null_count():
        raise errors.rounded_column(text.name, long[0])
    return whole


# ── columns of any library ──────────────────────────────────────────────────────────────────────────────────────────
def as_polars(values: Values, name: str) -> pl.Series:
    """Return a column of a data frame, an array or a list as a Polars series."""
    series = as_series(values)
    native = values if series is None else series.to_native()
    if isinstance(native, pl.Series):
        return native
    if type(native).__module__.startswith("pyarrow"):
        return pl.Series(native)
    if hasattr(getattr(native, "dtype", None), "pyarrow_dtype"):  # pandas, with Arrow's memory
        return pl.Series(native.array.__arrow_array__())
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas, whose categories may be of any kind
        codes = pl.Series(native.cat.codes.to_numpy()).cast(pl.Int64)
        return as_polars(native.cat.categories.to_numpy(), name).gather(codes.set(codes < 0, None))
    if series is not None and series.dtype in (nw.Date, nw.Datetime):
        if getattr(series.dtype, "time_zone", None) is not None:
            raise errors.condition_of_other_kind(name, None, "times with a time zone")
        unit = getattr(series.dtype, "time_unit", "us")
        return pl.Series(series.cast(nw.Datetime("ns" if unit == "ns" else "us")).to_numpy())
    if series is None and getattr(getattr(values, "dtype", None), "kind", "") == "M":
        return pl.Series(values)
    missing = lacking(values)
    present = keep(values, ~missing)
    if series is None and len(present) and all(isinstance(value, date) for value in present):
        timed = any(isinstance(value, datetime) for value in present)  # then a date is its midnight
        days = (datetime(*day.timetuple()[:3]) if timed and not isinstance(day, datetime) else day for day in present)
        return pl.Series([None if is_missing(value) else next(days) for value in values])
    column = to_column(present, f"where: the column {name!r}")
    if not len(present):
        return pl.Series([None] * len(missing))
    text = column.kind == "text"
    places = np.zeros(len(missing), np.int64)
    places[~missing] = column.values if text else np.arange(len(present))
    found = pl.Series(column.names, dtype=pl.String) if text else pl.Series(column.values)
    return found.gather(pl.Series(places).set(pl.Series(missing), None))
