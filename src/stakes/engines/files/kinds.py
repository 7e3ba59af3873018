"""The kinds of files: known by their first bytes, text files by their extension."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from stakes import errors
from stakes.engines import older_polars
from stakes.engines.anonymise import SUFFIX
from stakes.engines.columns import refuse_lost_polars
from stakes.engines.files import csv, database, excel, json_lines
from stakes.engines.files.dialect import Dialect, without_words
from stakes.engines.files.sources import JSON, Source, literally
from stakes.engines.files.text_format import FORMAT_OPTIONS, is_new, opened_once
from stakes.errors import InputError, Place, several, some

*_JSON_LINES, _JSON = JSON
_ARROW = (".arrow", ".ipc", ".feather")
_SHEET = ".xlsx"
_ARROW_FILE, _FIRST_FEATHER, _OLD_SHEET = b"ARROW1", b"FEA1", b"\xd0\xcf\x11\xe0"

_VALUE, _QUANTITY = 8, 100
"""Bytes per value while counting: of a label or score, and of a predicted number, whose errors are sorted."""

_PROBLEMS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, EOFError)
"""Errors of reading; a damaged file can make its reader panic."""

_LINES = (*csv.USUAL, *_JSON_LINES)
"""Kinds whose rows are lines of text; the others know how many rows they have."""

_MARKS = {b"PAR1": ".parquet", _ARROW_FILE: ".arrow", b"PK\x03\x04": _SHEET}
"""Kinds that are known by their first bytes, whatever their name."""


class NotNumbersError(errors.InputError):
    """Text did not fit the types of :meth:`FileTable.with_types`; another pass finds out why."""


@dataclass(frozen=True, eq=False)
class FileTable:
    """The rows of one source, not read yet.

    ``dialect`` is set for separated text, in which all values are text unless ``typed``, and for spreadsheets.
    """

    source: Source
    columns: list[str]
    lazy: pl.LazyFrame | None = None
    dialect: Dialect | None = None
    typed: bool = False

    @property
    def separated(self) -> Dialect | None:
        """The dialect of separated text; None for spreadsheets, whose cells need no separator."""
        return self.dialect if self.dialect is not None and self.dialect.separator else None

    def place(self, row: int) -> str:
        """The place of a row: the file, and the line of text, the row of the sheet, or the number of the row."""
        if self.separated is not None:
            line, fields = csv.row_at(self.source, self.separated, row)
            words = [word for word in fields if word in ("", *self.separated.missing)]
            return Place(f"{self.source.name}, line {line:,}", "" if "" in words else next(iter(words), ""))
        if self.dialect is not None:
            return f"{self.source.name}, row {row + self.dialect.skip + 2:,} of the sheet"
        return f"{self.source.name}, row {row + 1:,}, counting from 1"

    def collect(self, names: Sequence[str]) -> pl.DataFrame:
        """Read some columns into a Polars frame."""
        with reading(self.source, self.separated, self.typed):
            if self.lazy is None:
                return database.collect(self.source, names)
            frame = self.lazy.select(self._read(names)).collect()
            if not self._is_read_whole(names) or self._ends_early(frame):
                self.refuse_faults(self._ends_early(frame))
            return self._labelled(frame.select(names))

    def batches(self, names: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns in batches of ``rows``, in their order."""
        with reading(self.source, self.separated, self.typed):
            if self.lazy is None:
                yield from database.batches(self.source, names, rows)
                return
            if not self._is_read_whole(names):
                _ = self._long_lines_are_refused
            checked = False
            for frame in older_polars.batches(self.lazy.select(self._read(names)), rows):
                if not checked and self._ends_early(frame):
                    self.refuse_faults(each_line=True)
                    checked = True
                yield self._labelled(frame.select(names)).rechunk()  # once, instead of in each use

    def _labelled(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The same rows; where columns have types, text is that of labels, which are categories."""
        return frame.with_columns(map(_as_categories, frame.iter_columns())) if self.typed else frame

    def refuse_ambiguous(self, names: Collection[str]) -> None:
        """Refuse JSON that names one of these columns twice in a row, or mixes kinds of values in it."""
        look = _AMBIGUOUS.get(_kind(self.source)) if self.lazy is not None else None
        if self.lazy is not None and look is not None:
            with reading(self.source):
                schema = self.lazy.collect_schema()
                look(self.source, {name: schema[name] for name in names})

    def refuse_faults(self, each_line: bool = True) -> None:
        """Raise the error of the first wrong line of separated text, if there is one."""
        if self.separated is not None:
            csv.refuse_faults(self.source, self.separated, each_line)

    @cached_property
    def _long_lines_are_refused(self) -> bool:
        """Raise the error of a line with too many fields, which is looked for once."""
        self.refuse_faults(each_line=False)
        return True

    def _is_read_whole(self, names: Sequence[str]) -> bool:
        """Whether all columns are read, so that Polars refuses lines with too many fields."""
        return not self.separated or len(self._read(names)) == len(self.columns)

    def _read(self, names: Sequence[str]) -> list[str]:
        """The columns to read; with separated text also the last, which is missing in lines that end early."""
        return list(dict.fromkeys([*names, self.columns[-1]] if self.separated else names))

    def _ends_early(self, frame: pl.DataFrame) -> bool:
        return bool(self.separated and frame[self.columns[-1]].null_count())

    def with_types(self, numbers: Mapping[str, bool], gaps: bool) -> "FileTable":
        """The same table; in separated text some columns are read as numbers, others as categories."""
        dialect = self.separated
        if dialect is None or dialect.percentages or dialect.decimal == dialect.separator:
            return self
        if not gaps and not any(re.match(r"[+-]?\d", word) for word in dialect.missing):
            dialect = replace(dialect, missing=("",))  # the others are not numbers, and take time to search for
        return replace(self, lazy=csv.scan(self.source, dialect, numbers), typed=True)

    def rows_up_to(self, most: int) -> int:
        """Count the rows (in text the lines) without parsing them; stop beyond ``most``."""
        if self._rows_known is not None:
            return self._rows_known
        return self.source.lines_up_to(most) - (0 if self.dialect is None else self.dialect.skip + 1)

    @property
    def likely_rows(self) -> int:
        """The number of rows; for lines of text an estimate from the first of them."""
        return self._rows_known if self._rows_known is not None else self.source.likely_lines

    def bytes_of(self, wanted: tuple[str, str]) -> int:
        """The least memory that a value takes until it is counted; ``wanted`` is an argument and its column."""
        argument, name = wanted
        if self.lazy is None or argument not in ("truth", "prediction"):
            return _VALUE
        return _QUANTITY if self.lazy.collect_schema()[name].is_float() else _VALUE

    @cached_property
    def _rows_known(self) -> int | None:
        if self.lazy is None:
            return database.rows(self.source)
        if _kind(self.source) in _LINES:
            return None
        with reading(self.source):
            return int(self.lazy.select(pl.len()).collect().item())


def as_numbers(column: pl.Series) -> pl.Series:
    """Convert text to numbers if every value is a number or missing; return any other column as it is."""
    numbers = column.str.strip_chars().cast(pl.Float64, strict=False) if column.dtype == pl.String else column
    return numbers if numbers.null_count() == column.null_count() else column


def warn_of_detected_format(table: FileTable) -> None:
    """Warn about how text is read, if the call did not say it."""
    dialect, name = table.dialect, table.source.name
    if dialect is None:
        return
    words = f"{name} is read with {' and '.join(dialect.found)}"
    if dialect.found and is_new(words):
        advice = [part for one in dialect.advice for part in (" and ", one)][1:]
        errors.warn("found-format", f"{words}; pass ", *advice, " to be sure")
    words = f"{name}: the first sheet is read, and not {some(dialect.other_sheets)}"
    if dialect.other_sheets and is_new(words):
        other = f"{name}::{dialect.other_sheets[0]}"
        errors.warn("several-sheets", f"{words}; name the one that is meant, such as {other!r}")


def open_table(source: Source) -> FileTable:
    """Find out the kind of a source and the names of its columns, once for each question."""
    if source.state is None:
        return _open_table(source)
    return opened_once((source.path, source.table, source.state, source.format), lambda: _open_table(source))


def _open_table(source: Source) -> FileTable:
    refuse_lost_polars()
    with reading(source):
        if not source.start(1):
            raise errors.unreadable_file(source.name, "it is empty")
        if database.kind_of(source):
            _refuse_useless(source, "")
            return FileTable(source, database.columns(source))
        kind = _kind(source)
        if source.name.lower().endswith(SUFFIX):
            raise errors.tally_for_rows(source.name)
        if source.table is not None and kind != _SHEET:
            raise InputError(
                "no-database",
                f"{source.path!s}: this is neither a SQLite nor a DuckDB database, so it has no tables; leave :: out",
            )
        _refuse_useless(source, kind)
        if kind in csv.USUAL:
            return _open_text(source.as_utf8(".csv"), csv.USUAL[kind])
        if kind in JSON:
            source = source.as_utf8(kind)
        if kind in _LINES:
            source.refuse_endless(False)
        if kind == _SHEET:
            lazy, dialect = excel.read(source)
            return FileTable(source, lazy.collect_schema().names(), lazy, dialect)
        lazy = _flat(_scan(source, kind))
        if "na" in source.format.changes:
            lazy = lazy.with_columns(without_words(lazy.collect_schema(), source.format.na))
        return FileTable(source, lazy.collect_schema().names(), lazy)


def _refuse_useless(source: Source, kind: str) -> None:
    """Refuse options of text files for a file that is not text."""
    useful = FORMAT_OPTIONS if kind in csv.USUAL else _USEFUL_OPTIONS.get(kind, ("percent",))
    useless = [name for name in source.format.changes if name not in useful]
    if useless:
        raise InputError(
            "format-of-another-kind",
            several(useless),
            f": {source.name} is no separated text, and not written so; leave that out",
        )


def _open_text(source: Source, usual: str | None) -> FileTable:
    source.refuse_endless(True)
    dialect = csv.dialect_of(source, usual)
    with reading(source, dialect):
        lazy = csv.scan(source, dialect)
        return FileTable(source, lazy.collect_schema().names(), lazy, dialect)


def _kind(source: Source) -> str:
    """The kind of a file, as its usual extension; "" if neither its bytes nor its name are known."""
    start = source.start(max(map(len, (*_MARKS, _OLD_SHEET))))
    if start.startswith(_OLD_SHEET):
        raise errors.unreadable_file(
            source.name, "it is a spreadsheet of an old kind, or locked by a password; save it as .xlsx without one"
        )
    marked = next((kind for mark, kind in _MARKS.items() if start.startswith(mark)), "")
    name = source.path.name.lower() if source.content is None else ".csv"
    name = name.removesuffix(".gz") if name.endswith(tuple(f"{end}.gz" for end in JSON)) else name
    kind = marked or next((kind for kind in KINDS if name.endswith(kind)), "")
    if kind in JSON or kind in csv.USUAL:
        text = source.text_start()
        if re.match(r"\[\s*[\[{]" if kind in _JSON_LINES else r'\[\s*\{\s*"|\{\s*"[^"]*"\s*:', text):
            return _JSON
        if kind in JSON and not text.startswith(("[", "{")):
            raise errors.unreadable_file(source.name, "it is no JSON; if it is separated text, call it .csv")
    return kind


def _scan(source: Source, kind: str) -> pl.LazyFrame:
    if kind not in _SCANS:
        raise InputError(
            "unreadable-kind",
            f"{source.name}: the name does not end in {', '.join(KINDS[:-1])} or {KINDS[-1]}; convert the file to one "
            "of these",
        )
    return _SCANS[kind](source)


def _flat(lazy: pl.LazyFrame) -> pl.LazyFrame:
    """The same rows, with a column ``a.b`` for each field ``b`` of a column ``a`` that holds records."""
    schema = lazy.collect_schema()
    if not any(isinstance(dtype, pl.Struct) for dtype in schema.values()):
        return lazy
    columns: dict[str, pl.Expr] = {}
    for name, dtype in schema.items():
        columns.update(_fields(name, pl.col(name), dtype))
    return lazy.select(expression.alias(name) for name, expression in columns.items())


def _fields(
    name: str, values: pl.Expr, dtype: "pl.datatypes.DataTypeClass | pl.DataType"
) -> Iterator[tuple[str, pl.Expr]]:
    if not isinstance(dtype, pl.Struct):
        yield name, values
        return
    for field in dtype.fields:
        yield from _fields(f"{name}.{field.name}", values.struct.field(field.name), field.dtype)


def _scan_parquet(source: Source) -> pl.LazyFrame:
    return pl.scan_parquet(source.plain_path, glob=False)


def _scan_arrow(source: Source) -> pl.LazyFrame:
    """Scan Arrow's file format; a stream is read at once."""
    start = source.start(len(_ARROW_FILE))
    if start.startswith(_FIRST_FEATHER):
        raise errors.unreadable_file(source.name, "it is of Feather's first version; write it again as Arrow IPC")
    if start == _ARROW_FILE:
        return pl.scan_ipc(literally(source.plain_path))
    return pl.read_ipc_stream(source.plain_path).lazy()


_SCANS: dict[str, Callable[[Source], pl.LazyFrame]] = {
    ".parquet": _scan_parquet,
    **dict.fromkeys(_JSON_LINES, json_lines.scan),
    **dict.fromkeys(_ARROW, _scan_arrow),
    _JSON: json_lines.read_array,
}
"""Functions that open a file as a lazy Polars frame, by kind; text and sheets have functions of their own."""

_AMBIGUOUS: dict[str, Callable[[Source, Mapping[str, pl.DataType]], None]] = {
    **dict.fromkeys(_JSON_LINES, json_lines.refuse_ambiguous),
    _JSON: json_lines.refuse_ambiguous_array,
}
"""Checks for values that the reader has silently converted or dropped."""

KINDS = (*csv.USUAL, *_SCANS, _SHEET)

_USEFUL_OPTIONS = {
    _SHEET: ("decimal", "skip", "na", "percent"),
    **dict.fromkeys(JSON, ("encoding", "na", "percent")),
    **dict.fromkeys((".parquet", *_ARROW), ("na", "percent")),
}
"""Format options of files other than separated text, by kind; databases only have the last."""


@contextmanager
def reading(source: Source, dialect: Dialect | None = None, typed: bool = False) -> Iterator[None]:
    """Refuse a file that changes meanwhile, and explain errors of its reader; ``typed`` text is read again."""
    with source.watched():
        try:
            yield
        except _PROBLEMS as problem:
            again = typed and not errors.lacks_memory(problem)
            raise NotNumbersError("second-look") if again else _in_words(source, problem, dialect) from None


def _in_words(source: Source, problem: BaseException, dialect: Dialect | None) -> errors.StakesError:
    """Find the line that is wrong by a second pass; otherwise pass on the reader's message."""
    if errors.lacks_memory(problem):
        return errors.lack_of_memory(errors.first_line(problem))
    if errors.lacks_files(problem):
        return errors.lack_of_files()
    fault = None
    with suppress(OSError, EOFError):  # a file that cannot be read at all has no wrong line
        if dialect is not None:
            fault = csv.fault(source, dialect) or csv.stray_quote(source, dialect)
        elif _kind(source) in _JSON_LINES:
            fault = json_lines.fault(source)
    panics = not isinstance(problem, Exception)  # whose message is about the reader's own code
    why = "it is damaged" if panics else getattr(problem, "strerror", None) or errors.first_line(problem)
    return fault or errors.unreadable_file(source.name, why)


def _as_categories(column: pl.Series) -> pl.Series:
    """Text as categories; of two names, rows are compared with one, which is faster than to look each of them up."""
    if column.dtype != pl.String:
        return column
    if len(column) and not column.null_count():
        others = column != column[0]
        names = [column[0], column[int(others.arg_max() or 0)]]
        if names[0] != names[1] and (column == names[1]).sum() == others.sum():
            return pl.Series(column.name, names, pl.Enum(names)).gather(others.cast(pl.UInt32))
    return column.cast(pl.Categorical)
