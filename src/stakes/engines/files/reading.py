"""Files of predictions, of any kind that has named columns, read as one table."""

import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from stakes import errors
from stakes.engines import progress
from stakes.engines.columns import codes_of, read_number
from stakes.engines.conditions.frames import Part, rows_kept, settle_kinds
from stakes.engines.conditions.kinds import groups
from stakes.engines.conditions.syntax import parse
from stakes.engines.conditions.tree import Condition
from stakes.engines.files import csv, database
from stakes.engines.files.dialect import fields_of, shares_of
from stakes.engines.files.kinds import FileTable, NotNumbersError, as_numbers, open_table, warn_of_detected_format
from stakes.engines.files.room import refuse_beyond_memory
from stakes.engines.files.sources import FileName, FileNames, RowsOnDisk, single, sources
from stakes.engines.older_polars import STREAMING
from stakes.errors import About, Given, InputError, Pass, some
from stakes.tallies.arithmetic import Array

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

_NUMBERS = ("score", "weight", "frequency")
_LOOKED_AT = 1 << 20
"""Rows per batch in passes before counting."""

_SCORED = ("truth", *_NUMBERS)

_MANY = 1 << 17
"""From this many rows of text on, numbers are parsed while reading, which halves the memory."""


def read(data: FileNames, wanted: dict[str, str], where: object = None) -> dict[str, pl.Series]:
    """Return argument → column, for the arguments that name one.

    ``data`` names a file, several of them or a pattern, which make up one table; ``where`` says which rows to keep.
    """
    return Files.open(data, wanted, where).whole()


@dataclass(frozen=True, eq=False)
class Files:
    """Files that make up one table, the columns to read from it (argument → name), and a condition on its rows."""

    tables: list[FileTable]
    wanted: dict[str, str]
    condition: Condition | None
    numbered: bool = True

    @classmethod
    def open(cls, data: FileNames, wanted: dict[str, str], where: object = None) -> "Files":
        """Find the files, and check that they have the columns."""
        condition = None if where is None else parse(where)
        if condition is not None:
            groups(condition)  # refuses a wrong condition before a file is opened
        tables = [open_table(source) for source in sources(data)]
        for table in tables:
            _same_columns(tables[0], table)
            for argument, name in wanted.items():
                if name not in table.columns:
                    sheets = table.dialect.other_sheets if table.dialect is not None else ()
                    others = [f"{table.source.name}::{sheet}" for sheet in sheets]
                    absent = errors.no_such_column(argument, name, table.columns, others)
                    raise _suspicion(table, wanted.values()) or absent
            if wanted:
                warn_of_detected_format(table)
            if condition is not None:
                condition.check(table.columns)
            table.refuse_ambiguous({*wanted.values(), *(condition.columns if condition is not None else ())})
        return cls(tables, wanted, condition, not isinstance(data, RowsOnDisk))

    def have_more_rows_than(self, most: int) -> bool:
        """Whether there are more rows than that, without parsing them."""
        left = most
        for table in self.tables:
            left -= table.rows_up_to(left)
            if left < 0:
                return True
        return False

    def relation(self) -> AbstractContextManager["duckdb.DuckDBPyRelation | None"]:
        """The rows as a table of an engine that can count them itself, or None."""
        first = self.tables[0]
        return nullcontext() if len(self.tables) > 1 or first.lazy is not None else database.relation(first.source)

    def gap(self) -> errors.InputError | None:
        """The error about missing values, counted over all rows; None if that takes more than a scan."""
        tables = [table.lazy for table in self.tables if table.lazy is not None]
        if self.condition is not None or len(tables) < len(self.tables):
            return None
        for argument, name in self.wanted.items():
            counts = [_gaps(lazy, name) for lazy in tables]
            if any(count for _, count, _ in counts):
                before = itertools.accumulate((rows for rows, _, _ in counts), initial=0)
                firsts = [start + first for start, (_, count, first) in zip(before, counts, strict=False) if count]
                problem = errors.missing_values(argument, sum(count for _, count, _ in counts), firsts[0])
                return self._located(problem)
        return None

    def _located(self, problem: errors.InputError, first: int = 0) -> errors.InputError:
        """Add the place of the row to an error; its row is counted from ``first``."""
        return problem.located(lambda row: self.place_of(first + row)) if self.numbered else problem.unnumbered()

    def place_of(self, row: int) -> str:
        """The place of a row, counted among those that satisfy the condition."""
        for table in self.tables:
            start = 0
            for frame in table.batches(self._names or table.columns[:1], _LOOKED_AT):
                kept = self._kept(table, frame, self._kinds_in_batches)
                if row < len(kept):
                    return table.place(start + int(kept[row]))
                start, row = start + len(frame), row - len(kept)
        raise ValueError(f"there is no row {row}")

    def _kept(self, table: FileTable, frame: pl.DataFrame, kinds: dict[str, str]) -> Array:
        """The numbers of the rows that satisfy the condition."""
        if self.condition is None:
            return np.arange(len(frame))
        return np.flatnonzero(rows_kept(self.condition, kinds, _part(table, frame)))

    @property
    def likely_rows(self) -> int:
        """The approximate number of rows."""
        return sum(table.likely_rows for table in self.tables)

    def whole(self) -> dict[str, pl.Series]:
        """Read all rows at once."""
        if "score" in self.wanted and all(name in _SCORED or name.startswith("by") for name in self.wanted):
            quick = self.with_types() if self.likely_rows > _MANY else self
            if quick is not self:
                with suppress(errors.InputError):  # the slower pass below names the line
                    return quick._whole()
        return self._whole()

    def _whole(self) -> dict[str, pl.Series]:
        for table in self.tables:
            refuse_beyond_memory(table.source.name, table.likely_rows * sum(map(table.bytes_of, self.wanted.items())))
        frames = [table.collect(self._names) for table in self.tables]
        pairs = list(zip(self.tables, frames, strict=True))
        kinds = self._settle(pairs)
        parts = [self._take(table, frame, kinds) for table, frame in pairs]
        rows = sum(len(column) for part in parts for column in part.values())
        if self.condition is not None and any(map(len, frames)) and not rows:
            raise errors.nothing_satisfies(self.condition.text)
        whole = {argument: _join(argument, [part[argument] for part in parts], self.tables) for argument in self.wanted}
        for argument, name in self.wanted.items():
            if all(_in_percent(table, argument, name) for table in self.tables):
                _refuse_shares(argument, whole[argument])
        return whole

    def batches(self, rows: int) -> Iterator[dict[str, pl.Series]]:
        """Read batches of ``rows``, in their order, and report the progress."""
        done, total, kinds = 0, self.likely_rows, self._kinds_in_batches
        for table in self.tables:
            before = done
            for frame in table.batches(self._names, rows):
                start, done = done - before, done + len(frame)
                progress.tell(done, max(total, done + 1))
                yield self._take(table, frame, kinds, start)
        progress.tell(done, done)

    def read_batches(self, rows: int, read: Callable[[dict[str, pl.Series], int], T]) -> Iterator[T | int]:
        """Yield the results of ``read``, called with each batch of ``rows`` and the number of its first row.

        For a batch without rows to count, yield the number of dropped rows. Errors name the place of the row.
        """
        start = 0
        for found in self.batches(rows):
            first, start = start, start + len(found["truth"])
            try:
                yield read(found, first)
            except errors.EmptyError as nothing:
                yield nothing.dropped
            except errors.InputError as problem:
                raise self._located(problem, first) from None

    def with_types(self, numbers: Sequence[str] = _NUMBERS, gaps: bool = True) -> "Files":
        """The same files, with numbers parsed by Polars and labels as categories: faster, but errors have no line.

        Without ``gaps`` a word for a missing value is such an error.
        """
        if not any(table.dialect for table in self.tables) or self.condition is not None:
            return self
        typed = {name: argument.startswith(tuple(numbers)) for argument, name in self.wanted.items()}
        tables = [table.with_types(typed, gaps) for table in self.tables]
        return self if tables == self.tables else replace(self, tables=tables)

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([*self.wanted.values(), *(self.condition.columns if self.condition else ())]))

    def nothing_there(self) -> errors.InputError:
        """The error if no row is left to count."""
        if "weight" in self.wanted:
            return errors.zero_weights()
        return errors.empty("truth") if self.condition is None else errors.nothing_satisfies(self.condition.text)

    def _settle(self, frames: Iterable[tuple[FileTable, pl.DataFrame]]) -> dict[str, str]:
        """The kinds that the columns of the condition are compared as, decided by all rows of all files."""
        if self.condition is None:
            return {}
        return settle_kinds(groups(self.condition), (_part(table, frame) for table, frame in frames))

    @cached_property
    def _kinds_in_batches(self) -> dict[str, str]:
        """The same for rows read in batches: an extra pass if only the values decide, otherwise the first batch."""
        if self.condition is None:
            return {}
        most = None if any(group.candidates for group in groups(self.condition)) else 1
        names = self.condition.columns or self._names
        looks = ((t, f) for t in self.tables for f in itertools.islice(t.batches(names, _LOOKED_AT), most))
        return self._settle(looks)

    def _take(
        self, table: FileTable, frame: pl.DataFrame, kinds: dict[str, str], start: int = 0
    ) -> dict[str, pl.Series]:
        """The wanted columns of the rows that satisfy the condition; ``start`` rows of the table came before."""
        kept = None if self.condition is None else self._kept(table, frame, kinds)
        frame = frame if kept is None else frame[kept]
        try:
            return {argument: _as_type(table, frame[name], argument) for argument, name in self.wanted.items()}
        except InputError as problem:
            raise problem.located(lambda row: table.place(start + int(row if kept is None else kept[row]))) from None


def read_whole(file: FileName, missing: bool = True) -> pl.DataFrame:
    """Return the file as a Polars frame with all its columns; those of a text file stay text.

    With ``missing`` the words for a missing value become null; otherwise all text stays as it is.
    """
    source = single(file)
    if not missing:
        source = replace(source, format=replace(source.format, na=()))
    table = open_table(source)
    table.refuse_ambiguous(table.columns)
    frame = table.collect(table.columns)
    return frame if not missing else _normal(table, frame)


def _normal(table: FileTable, frame: pl.DataFrame) -> pl.DataFrame:
    """The same rows, with numbers in separated text written as Python writes them."""
    dialect, texts = table.dialect, [column for column in frame if column.dtype == pl.String]
    return frame if dialect is None else frame.with_columns(dialect.normal(column, column.name) for column in texts)


def _part(table: FileTable, frame: pl.DataFrame) -> Part:
    """Rows of a file for a condition; separated text has no types."""
    words = () if table.dialect is None else table.dialect.missing
    return Part(_normal(table, frame), words, functools.partial(_place, table))


# ── the names of the columns ─────────────────────────────────────────────────────────────────────────────────────
def _suspicion(table: FileTable, wanted: Collection[str]) -> errors.InputError | None:
    """The error that may be behind an absent column of separated text: title lines, separator or header."""
    if table.separated is None:
        return None
    line, sign = csv.header_with(table.source, wanted) or (0, "")
    if line > table.separated.skip + 1:
        return errors.title_lines(table.source.name, f"line {line}", line - 1)
    if not sign and len(table.columns) == 1:  # perhaps an unusual separator
        signs = [one for one in dict.fromkeys(table.columns[0]) if one.isascii() and not one.isalnum() and one != '"']
        sign = next((one for one in signs if set(wanted) <= set(fields_of(table.columns[0], one))), "")
    if sign not in ("", table.separated.separator):
        return InputError(
            "other-separator",
            f"{table.source.name}: fields are not separated by {table.separated.separator!r}; pass ",
            Pass("separator", sign),
        )
    if all(read_number(name) is not None for name in table.columns):
        return InputError(
            "no-header",
            f"{table.source.name}: the first line holds only numbers ({some(table.columns)}), so the header is "
            "missing; write the names of the columns there",
        )
    return None


def _same_columns(first: FileTable, other: FileTable) -> None:
    """Refuse files with different columns; their order may differ."""
    for one, two in ((first, other), (other, first)):
        present = set(two.columns)
        lacking = [name for name in one.columns if name not in present]
        if lacking:
            kind = "column" if len(lacking) == 1 else "columns"
            raise InputError(
                "different-columns",
                f"{two.source.name} lacks the {kind} {some(lacking)} that {one.source.name} has; give files with the "
                "same columns",
            )


# ── the values ───────────────────────────────────────────────────────────────────────────────────────────────────
def _as_type(table: FileTable, column: pl.Series, argument: str) -> pl.Series:
    """Convert a column to the type of its argument; scores that are percentages become shares."""
    values = _typed(table, column, argument)
    return shares_of(values) if _in_percent(table, argument, column.name) else values


def _in_percent(table: FileTable, argument: str, name: str) -> bool:
    """Whether a column holds percentages by ``percent=``; values with a percent sign are shares already."""
    signed = table.dialect is not None and name in table.dialect.percentages
    return table.source.format.percent and argument.startswith("score") and not signed


def _refuse_shares(argument: str, values: pl.Series) -> None:
    """Refuse percentages if none is above 1."""
    if values.is_between(0, 0.01).all():
        raise InputError(
            "percent-of-shares",
            About(argument),
            " lies in [0, 1] as it stands in the file, so it is no percentage; leave out ",
            Given("percent"),
        )


def _typed(table: FileTable, column: pl.Series, argument: str) -> pl.Series:
    """Labels in text files stay text (Polars leaves NUL bytes in it); scores and weights must be numbers."""
    if table.typed and table.dialect is not None and _needs_second_pass(column, table.dialect.missing):
        raise NotNumbersError("second-look")
    if not argument.startswith(_NUMBERS) or column.dtype != pl.String:
        if table.dialect is not None and column.dtype == pl.String:
            if column.str.contains("\0", literal=True).any():
                table.refuse_faults()
            return table.dialect.normal(column, argument)
        return column
    text = column if table.dialect is None else table.dialect.normal(column, argument)
    numbers = text.str.strip_chars().cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & column.is_not_null()).arg_true()
    if len(wrong):
        first, dialect = int(wrong[0]), table.dialect
        value = column[first]
        reason = None if dialect is None else dialect.why_no_number(column, argument, first)
        words = column.gather(wrong).unique(maintain_order=True).to_list() if len(wrong) < len(column) else ()
        raise reason or errors.not_a_number(argument, len(wrong), first, value, words)
    infinite = numbers.is_infinite().fill_null(False).arg_true()
    if len(infinite):
        value = column[int(infinite[0])]
        problem = errors.infinite_values(argument, len(infinite), int(infinite[0]))
        raise errors.beyond_float64(value, problem)
    return numbers


def _needs_second_pass(column: pl.Series, missing: Sequence[str]) -> bool:
    """Whether a column parsed by Polars holds an error whose line a second pass must find."""
    if column.dtype == pl.Categorical:
        return any("\0" in name or name in missing for name in codes_of(column.drop_nulls())[2])
    return column.dtype == pl.Float64 and not math.isfinite(column.sum())  # as it is if all of them are finite


def _place(table: FileTable, column: str, value: str) -> str:
    """The place of the first occurrence of a text."""
    rows = table.collect([column])[column]
    return table.place(int((rows == value).arg_true()[0]))


def _gaps(lazy: pl.LazyFrame, name: str) -> tuple[int, int, int]:
    """The number of rows of a column, the number of missing ones (null or NaN), and the first of these."""
    column = pl.col(name)
    floats = lazy.select(name).collect_schema()[name].is_float()
    missing = column.is_null() | column.is_nan().fill_null(True) if floats else column.is_null()
    row = pl.col("row of the table").filter(missing).min()
    numbered = lazy.select(name).with_row_index("row of the table")
    counts = numbered.select(pl.len().alias("rows"), missing.sum().alias("gaps"), row.alias("first"))
    ((rows, gaps, first),) = counts.collect(**STREAMING).rows()
    return rows, gaps, first or 0


def _join(argument: str, parts: Sequence[pl.Series], tables: Sequence[FileTable]) -> pl.Series:
    """Concatenate the columns of all files; they must be of one kind."""
    if len(parts) == 1:
        return parts[0]
    parts = [part.cast(pl.String) if part.dtype in (pl.Categorical, pl.Enum) else part for part in parts]
    typed = {_kind(part) for part in parts if part.dtype not in (pl.Null, pl.String)}
    parts = [_parse_as(part, typed) if table.separated else part for table, part in zip(tables, parts, strict=True)]
    kinds: dict[str, str] = {}
    for table, part in zip(tables, parts, strict=True):
        if part.dtype != pl.Null:
            kinds.setdefault(_kind(part), table.source.name)
    if len(kinds) > 1:
        (one, first), (other, second) = list(kinds.items())[:2]
        raise InputError(
            "different-kinds",
            About(argument),
            f" holds {one} in {first} and {other} in {second}; write it alike in all files",
        )
    frames = [part.rename(argument).to_frame() for part in parts]
    return pl.concat(frames, how="vertical_relaxed").to_series()


def _parse_as(text: pl.Series, kinds: set[str]) -> pl.Series:
    """Convert text to the kind of the typed files, if every value fits; codes such as 007 are not numbers."""
    if text.dtype == pl.String and kinds == {"numbers"} and not text.str.contains(r"^\s*[+-]?0\d").any():
        return as_numbers(text)
    if text.dtype == pl.String and kinds == {"booleans"}:
        truths = text.str.to_lowercase().replace_strict({"false": False, "true": True}, default=None)
        return truths if truths.null_count() == text.null_count() else text
    return text


def _kind(column: pl.Series) -> str:
    if column.dtype.is_numeric():
        return "numbers"
    return {pl.String: "text", pl.Boolean: "booleans"}.get(type(column.dtype), str(column.dtype))


def count_typed(files: Files, quick: Files, count: Callable[[Files], T]) -> T:
    """Count files with types; on an error count again without types, which takes longer but names the line."""
    try:
        try:
            return count(quick)
        except errors.InputError:
            if quick is files:
                raise
            return count(files)
    except errors.GapError as problem:
        raise files.gap() or problem from None
