"""Files of predictions, of any kind that has named columns, read as one table."""

import functools
import itertools
import math
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from stakes import errors
from stakes.engines import progress
from stakes.engines.columns import codes_of, kind_changes, kind_in_words, read_number
from stakes.engines.conditions.frames import Part, rows_kept, settle_kinds
from stakes.engines.conditions.kinds import groups
from stakes.engines.conditions.syntax import parse
from stakes.engines.conditions.tree import Condition
from stakes.engines.files import csv, database
from stakes.engines.files.dialect import fields_of, shares_of
from stakes.engines.files.kinds import FileTable, NotNumbersError, as_numbers, open_table, warn_of_detected_format
from stakes.engines.files.room import refuse_beyond_memory
from stakes.engines.files.sources import FileName, FileNames, RowsOnDisk, single, sources
from stakes.errors import About, Given, InputError, Pass, some
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import refuse_rows

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

_NUMBERS = ("score", "weight", "frequency")
_MOST_WORDS = 4
"""Words beside numbers that are noted; so many are not all taken for missing values."""

_LOOKED_AT = 1 << 20
"""Rows per batch in passes before counting."""

_SCORED = ("truth", *_NUMBERS)

Columns = dict[str, pl.Series]
"""Argument → column."""

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

    def whole(self) -> Columns:
        """Read all rows at once."""
        if "score" in self.wanted and all(name in _SCORED or name.startswith("by") for name in self.wanted):
            quick = self.with_types() if self.likely_rows > _MANY else self
            if quick is not self:
                with suppress(errors.InputError):  # the slower pass below names the line
                    return quick._whole()
        return self._whole()

    def _whole(self) -> Columns:
        for table in self.tables:
            refuse_beyond_memory(table.source.name, table.likely_rows * sum(map(table.bytes_of, self.wanted.items())))
        frames = [table.collect(self._names) for table in self.tables]
        pairs = list(zip(self.tables, frames, strict=True))
        kinds = self._settle(pairs)
        pieces = [self._piece(table, frame, kinds) for table, frame in pairs]
        if self.condition is not None and any(map(len, frames)) and not any(len(piece.frame) for piece in pieces):
            raise errors.nothing_satisfies(self.condition.text)
        parts = list(self._read((piece for piece in pieces), _as_they_are))
        return {argument: _join(argument, [part[argument] for part in parts]) for argument in self.wanted}

    def batches(self, rows: int) -> Iterator[Columns]:
        """Read batches of ``rows``, in their order, and report the progress."""
        return self._read(self._pieces(rows), _as_they_are)

    def read_batches(self, rows: int, read: Callable[[Columns, int], T]) -> Iterator[T | int]:
        """Yield the results of ``read``, called with each batch of ``rows`` and the number of its first row.

        For a batch without rows to count, yield the number of dropped rows. Errors tell of all rows, and name the place
        of the first.
        """
        some, nothing = False, []

        def read_some(columns: Columns, first: int) -> T | int:
            try:
                return read(columns, first)
            except errors.EmptyError as problem:
                nothing.append(problem)
                return problem.dropped

        for found in self._read(self._pieces(rows), read_some):
            some = some or not isinstance(found, int)
            yield found
        if not some and (dropped := [problem for problem in nothing if problem.dropped]):
            weightless = [problem for problem in dropped if problem.code != "nothing-left"]
            raise weightless[0] if weightless else errors.nothing_left(sum(problem.dropped for problem in dropped))

    def _pieces(self, rows: int) -> Generator["_Piece"]:
        done, total, kinds = 0, self.likely_rows, self._kinds_in_batches
        for table in self.tables:
            before = done
            for frame in table.batches(self._names, rows):
                start, done = done - before, done + len(frame)
                progress.tell(done, max(total, done + 1))
                yield self._piece(table, frame, kinds, start)
        progress.tell(done, done)

    def _piece(self, table: FileTable, frame: pl.DataFrame, kinds: dict[str, str], start: int = 0) -> "_Piece":
        """The rows that satisfy the condition; ``start`` rows of the table came before."""
        if self.condition is None:
            return _Piece(table, frame, start)
        kept = self._kept(table, frame, kinds)
        return _Piece(table, frame[kept], start, kept)

    def _read(self, pieces: Generator["_Piece"], read: Callable[[Columns, int], T]) -> Iterator[T]:
        """Yield what is read of each piece, whose columns must be of the same kind in all files."""
        first, kinds, shares = 0, dict[str, tuple[str, str]](), self._in_percent
        with closing(pieces):
            for piece in pieces:
                try:
                    columns = self._columns(piece)
                    _refuse_other_kinds(columns, piece.table.source.name, kinds)
                    shares = [name for name in shares if columns[name].is_between(0, 0.01).all()]
                    found = read(columns, first)
                except errors.InputError as problem:
                    raise self._of_all_rows(problem, piece, pieces, read) from None
                yield found
                first += len(piece.frame)
        if shares and first:
            raise _shares(shares[0])

    @property
    def _in_percent(self) -> list[str]:
        """The scores that are percentages in all files."""
        return [
            argument
            for argument, name in self.wanted.items()
            if all(_in_percent(table, argument, name) for table in self.tables)
        ]

    def _of_all_rows(
        self, problem: errors.InputError, piece: "_Piece", others: Iterator["_Piece"], read: Callable[[Columns, int], T]
    ) -> errors.InputError:
        """The error about all rows, and the place of the first: what is wrong in other pieces, too, is counted."""
        found = [(problem, piece)]
        for other in others if problem.wrong is not None and not piece.table.typed else ():  # typed text is read again
            if (more := self._problem(other, read)) is not None and more.wrong is not None:
                found.append((more, other))
        fault = _fault(problem)
        if any(_fault(more) != fault for more, _ in found):
            schema = piece.frame.schema
            firsts = [one.frame.slice(more.row or 0, 1) for more, one in found if one.frame.schema == schema]
            together = self._problem(replace(piece, frame=pl.concat(firsts)), read)
            fault = _fault(together or problem)  # what all rows would be refused for first
        alike = [(more.wrong, one) for more, one in found if _fault(more) == fault and more.wrong is not None]
        if alike:
            problem, piece = errors.WrongRows.together([wrong for wrong, _ in alike]), alike[0][1]
        return problem.located(piece.place) if self.numbered else problem.unnumbered()

    def _problem(self, piece: "_Piece", read: Callable[[Columns, int], T]) -> errors.InputError | None:
        """What is wrong with the rows of a piece."""
        try:
            read(self._columns(piece), 0)
        except errors.InputError as problem:
            return problem
        return None

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
        return errors.nothing_there(None if self.condition is None else self.condition.text)

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

    def _columns(self, piece: "_Piece") -> Columns:
        """The wanted columns of some rows, by argument."""
        taken = {name: _as_type(piece.table, piece.frame[column], name) for name, column in self.wanted.items()}
        if not piece.table.separated:
            return taken
        return {name: _parse_as(column, self._kinds_elsewhere[name]) for name, column in taken.items()}

    @cached_property
    def _kinds_elsewhere(self) -> dict[str, set[str]]:
        """The kinds of the columns in files that have types."""
        typed = [next(table.batches(self._names, 1), pl.DataFrame()) for table in self.tables if not table.separated]
        kinds = [{name: _kind(frame[name]) for name in frame.columns} for frame in typed]
        return {name: {one[column] for one in kinds if one.get(column)} for name, column in self.wanted.items()}


def _fault(problem: errors.InputError) -> tuple[str, str | None]:
    """What is wrong, and with which argument."""
    return problem.code, problem.argument


def _as_they_are(columns: Columns, first: int) -> Columns:
    return columns


@dataclass(frozen=True, eq=False)
class _Piece:
    """Rows of a file, as they stand there: ``start`` others came before, of which and of these some may be left out."""

    table: FileTable
    frame: pl.DataFrame
    start: int = 0
    kept: Array | None = None

    def place(self, row: int) -> str:
        """The place of a row."""
        return self.table.place(self.start + int(row if self.kept is None else self.kept[row]))


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


def _shares(argument: str) -> InputError:
    """Percentages of which none is above 1."""
    return InputError(
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
        if reason is not None:
            raise reason
        some_right = len(wrong) < len(column)
        words = column.gather(wrong).unique(maintain_order=True).head(_MOST_WORDS) if some_right else ()
        raise errors.WrongRows(
            len(wrong), lambda count, *words: errors.not_a_number(argument, count, first, value, words), tuple(words)
        ).error()
    infinite = numbers.is_infinite().fill_null(False).to_numpy()
    refuse_rows(infinite, lambda *rows: errors.beyond_float64(column[rows[1]], errors.infinite_values(argument, *rows)))
    return numbers


def _needs_second_pass(column: pl.Series, missing: Sequence[str]) -> bool:
    """Whether a column parsed by Polars holds an error whose line a second pass must find."""
    kind = column.dtype
    if isinstance(kind, pl.Categorical | pl.Enum):
        names = kind.categories if isinstance(kind, pl.Enum) else codes_of(column.drop_nulls())[2]
        return any("\0" in name or name in missing for name in names)
    return column.dtype == pl.Float64 and not math.isfinite(column.sum())  # as it is if all of them are finite


def _place(table: FileTable, column: str, value: str) -> str:
    """The place of the first occurrence of a text, with blanks around it or without."""
    rows = table.collect([column])[column].cast(pl.String)
    return table.place(int((rows.str.strip_chars() == value.strip()).arg_true()[0]))


def _join(argument: str, parts: Sequence[pl.Series]) -> pl.Series:
    """Concatenate the columns of all files, which are of one kind."""
    if len(parts) == 1:
        return parts[0]
    parts = [part.cast(pl.String) if part.dtype in (pl.Categorical, pl.Enum) else part for part in parts]
    frames = [part.rename(argument).to_frame() for part in parts]
    return pl.concat(frames, how="vertical_relaxed").to_series()


def _refuse_other_kinds(columns: Columns, name: str, kinds: dict[str, tuple[str, str]]) -> None:
    """Refuse columns of another kind than in the files before, which were noted in ``kinds``."""
    for argument, column in columns.items():
        if not (kind := _kind(column)):
            continue
        before, first = kinds.setdefault(argument, (kind, name))
        if before == kind:
            continue
        if first == name:
            raise kind_changes(argument, before, kind)
        one, other = map(kind_in_words, (before, kind))
        words = f" holds {one} in {first} and {other} in {name}; write it alike in all files"
        raise InputError("different-kinds", About(argument), words)


def _parse_as(text: pl.Series, kinds: set[str]) -> pl.Series:
    """Convert text to the kind of the typed files, if every value fits; codes such as 007 are not numbers."""
    if text.dtype == pl.String and kinds == {"number"} and not text.str.contains(r"^\s*[+-]?0\d").any():
        return as_numbers(text)
    if text.dtype == pl.String and kinds == {"boolean"}:
        truths = text.str.to_lowercase().replace_strict({"false": False, "true": True}, default=None)
        return truths if truths.null_count() == text.null_count() else text
    return text


def _kind(column: pl.Series) -> str:
    """What a column holds; "" if no row has a value."""
    if column.dtype.is_numeric():
        return "number"
    kinds = {pl.Boolean: "boolean", pl.Null: ""} | dict.fromkeys((pl.String, pl.Categorical, pl.Enum), "text")
    return kinds.get(type(column.dtype), str(column.dtype))


def count_typed(files: Files, quick: Files, count: Callable[[Files], T]) -> T:
    """Count files with types; on an error count again without types, which takes longer but names the line."""
    try:
        return count(quick)
    except errors.InputError:
        if quick is files:
            raise
        return count(files)
