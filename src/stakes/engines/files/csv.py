"""Separated text. Polars reads it; when something is wrong, a slow second pass with Python's reader finds the line."""

import csv
import math
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import islice

import numpy as np
import polars as pl

from stakes import errors
from stakes.engines.columns import read_number, refuse_repeated_names
from stakes.engines.files.dialect import SEPARATORS, TITLES, Dialect, fields_of, find_dialect
from stakes.engines.files.sources import Opened, Source
from stakes.errors import InputError, Pass
from stakes.tallies.arithmetic import Array

_BLOCK = 1 << 20
"""Bytes per block."""

MOST_COLUMNS = 100_000
"""With more columns Polars takes minutes."""

_ENDINGS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None}
USUAL = {end + zipped: sign for zipped in ("", ".gz") for end, sign in _ENDINGS.items()}
"""Separator by file extension; None if the extension leaves it open."""

_LINE_END, _QUOTE = b'\n"'

_FIRST = 1 << 16
"""Bytes at the beginning from which the dialect is found."""


def dialect_of(source: Source, usual: str | None) -> Dialect:
    """Find out how a file is written, as far as the call does not say."""
    return find_dialect(source.name, _first_lines(source)[source.format.skip :], source.format, usual)


def _first_lines(source: Source) -> list[str]:
    with source.open() as file:
        start = file.read(_FIRST)
    cut = len(start) if len(start) < _FIRST else start.rfind(b"\n") + 1
    return start[:cut].decode("utf-8-sig", "replace").splitlines()


def refuse_titles(source: Source, dialect: Dialect) -> None:
    """Refuse title lines: lines with fewer fields, above a header from which on all lines have as many."""
    lines = _first_lines(source)[dialect.skip :]
    parted = len(fields_of(lines[0], dialect.separator)) > 1 if lines else False
    for sign in dialect.separator if parted else SEPARATORS:
        fields = [fields_of(line, sign) for line in lines]
        width = len(fields[-1]) if fields else 0
        above = next((place for place, names in enumerate(fields) if len(names) >= width), 0)
        names = fields[above] if width > 1 and 0 < above < min(len(lines) - 1, TITLES) else []
        alike = len(set(names)) == width and {len(record) for record in fields[above:]} == {width}
        if names and alike and all(name and read_number(name) is None for name in names):
            line = dialect.skip + above
            raise errors.title_lines(source.name, f"line {line + 1:,}", line)


def header_with(source: Source, names: Collection[str]) -> tuple[int, str] | None:
    """The number of the first line that holds all these names, among the first few, and its separator."""
    with source.open() as file:
        for number, line in enumerate(islice(file, TITLES), 1):
            text = line.decode("utf-8-sig", "replace").rstrip("\r\n")
            for sign in SEPARATORS:
                if set(names) <= set(fields_of(text, sign)):
                    return number, sign
    return None


def scan(source: Source, dialect: Dialect, numbers: Mapping[str, bool] | None = None) -> pl.LazyFrame:
    """Scan a file; names in the header are unquoted and unique.

    All values stay text, unless ``numbers`` says which columns are numbers and which are labels. Then an empty text
    in quotes is not yet missing, since Polars takes longer to look for it.
    """
    names = header(source, dialect)
    scan = partial(
        pl.scan_csv,
        infer_schema=False,
        glob=False,
        separator=dialect.separator,
        null_values=[word for word in dialect.missing if word or numbers is None],
        skip_lines=dialect.skip,
    )
    lazy = scan(source.for_polars)
    scanned = lazy.collect_schema().names()
    if len(scanned) != len(names):
        raise fault(source, dialect) or errors.unreadable_file(source.name, "the header is not understood")
    if numbers is not None:
        types = {scanned[names.index(name)]: pl.Float64 if n else pl.String for name, n in numbers.items()}
        lazy = scan(source.for_polars, schema_overrides=types, decimal_comma=dialect.decimal == ",")
    lazy = lazy.rename(dict(zip(scanned, names, strict=True)))
    blank = _blank_lines_at_the_end(source)
    if not blank:
        return lazy
    rows = int(lazy.select(pl.first().is_null().len()).collect().item())
    rows -= blank  # Polars takes them for rows of missing values
    if rows < 0:  # a quote has swallowed them
        why = errors.unreadable_file(source.name, "a quote is opened and never closed")
        raise stray_quote(source, dialect) or fault(source, dialect) or why
    return lazy.head(rows)


def header(source: Source, dialect: Dialect) -> list[str]:
    """Return the column names in the header."""
    line, names = next(_records(source, dialect), (1 + dialect.skip, []))
    if not names:
        raise errors.unreadable_file(source.name, f"line {line:,} is empty; write the names of the columns there")
    if len(names) > MOST_COLUMNS:
        raise errors.too_many_columns(source.name, "the header names", MOST_COLUMNS)
    names = [name or f"column {place}" for place, name in enumerate(names, 1)]
    refuse_repeated_names(names, source.name)
    return names


def _blank_lines_at_the_end(source: Source) -> int:
    """The number of empty lines after the last one that is not empty."""
    if source.zipped:
        return max(source.unpacked.blank - 1, 0)
    with source.open() as file:
        size, reach, tail = file.seek(0, 2), _BLOCK, b""
        while not tail.strip(b"\r\n") and len(tail) < size:
            file.seek(max(0, size - reach))
            tail, reach = file.read(), 2 * reach
    return max(tail[len(tail.rstrip(b"\r\n")) :].count(b"\n") - 1, 0)


def refuse_faults(source: Source, dialect: Dialect, each_line: bool) -> None:
    """Raise the error of the first line with another number of fields than the header has, if there is one.

    Polars fills up what is too short, and cuts off what is too long unless all columns are read: whatever stands behind
    a separator too many is taken for the value of another column. Separators are counted in all lines together, which
    is enough where no line may be too short, or in ``each_line``.
    """
    if _is_uneven(source, dialect, each_line) and (problem := fault(source, dialect)):
        raise problem


def _is_uneven(source: Source, dialect: Dialect, each_line: bool) -> bool:
    """Whether lines may differ, by bytes: a quote within a value looks like it, too."""
    sign, others = dialect.separator.encode(), len(header(source, dialect)) - 1
    separators, lines, uneven, seen = 0, 0, math.inf, np.zeros(0, np.uint8)
    with source.open() as file:
        for _ in range(dialect.skip):
            file.readline()
        for seen in _outside_quotes(file):
            if len(sign) > 1 or not seen.all():  # a NUL
                return True
            marks, ends = seen == sign[0], seen == _LINE_END
            if each_line and uneven == math.inf:
                numbers = lines + np.arange(1, np.count_nonzero(ends) + 1)
                off = separators + np.cumsum(marks)[ends] != others * numbers
                uneven = numbers[off.argmax()] if off.any() else math.inf
            separators, lines = separators + int(np.count_nonzero(marks)), lines + int(np.count_nonzero(ends))
    lines += not len(seen) or int(seen[-1]) != _LINE_END
    lines -= _blank_lines_at_the_end(source)
    return bool(uneven <= lines) or separators != others * lines


def _outside_quotes(file: Opened) -> Iterator[Array]:
    """The bytes of a file that are not within quotes, block by block."""
    inside = False
    while block := file.read(_BLOCK):
        seen = np.frombuffer(block, np.uint8)
        if inside or b'"' in block:
            quoted = np.bitwise_xor.accumulate(seen == _QUOTE) ^ inside
            seen, inside = seen[~quoted], bool(quoted[-1])
        yield seen


def fault(source: Source, dialect: Dialect) -> errors.InputError | None:
    """The first line that is wrong in itself, if there is one."""
    try:
        records = _records(source, dialect)
        width = len(next(records)[1])
        blank: list[int] = []
        last = 0  # below it empty lines are the end of the file
        for line, fields in records:
            if not fields and width > 1:  # an empty line can be the missing value of one column
                blank.append(line)
            elif fields and len(fields) != width and not blank:
                refuse_titles(source, dialect)
                return errors.ragged_line(source.name, line, len(fields), width)
            else:
                last = line
        if blank := [line for line in blank if line < last]:
            return errors.empty_lines(source.name, blank)
    except errors.InputError as problem:
        return problem
    return None


def stray_quote(source: Source, dialect: Dialect) -> errors.InputError | None:
    """The first line with a quote within a value; a lone one is what Polars stumbles over when all else is right."""
    for line, fields in _records(source, dialect):
        if any('"' in field for field in fields):
            return InputError(
                "stray-quote",
                f"{source.name}: line {line:,} has a quote within a value; write the quote twice, and the whole value "
                "in quotes",
            )
    return None


def row_at(source: Source, dialect: Dialect, row: int) -> tuple[int, list[str]]:
    """The line on which a row begins, and its fields; empty lines at the end are not rows."""
    width = len(header(source, dialect))
    rows = ((line, fields) for line, fields in islice(_records(source, dialect), 1, None) if fields or width == 1)
    return next(islice(rows, row, None))


def _records(source: Source, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """The line on which each record begins, and its fields."""
    with source.open() as file:
        lines = islice(_lines(source.name, file), dialect.skip, None)
        records = csv.reader(lines, delimiter=dialect.separator, strict=True)
        while True:
            line = dialect.skip + records.line_num + 1
            try:
                fields = next(records, None)
            except csv.Error as problem:
                raise errors.unreadable_file(source.name, f"line {line:,}: {_in_words(problem)}") from None
            if fields is None:
                return
            yield line, fields


def _in_words(problem: csv.Error) -> str:
    """The message of Python's reader in plain words."""
    words = {
        "unexpected end of data": "a quote is opened there and never closed",
        "field larger": f"a value has more than {csv.field_size_limit():,} characters",
    }
    return next((plain for begin, plain in words.items() if str(problem).startswith(begin)), str(problem))


def _lines(name: str, file: Opened) -> Iterator[str]:
    letters = 0
    for number, line in enumerate(file, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            if not letters:
                raise errors.not_utf8(name, number) from None
            both = f"{name}: line {letters:,} is UTF-8 and line {number:,} is not"
            raise InputError("two-encodings", f"{both}, so no encoding fits the whole file; save it in one") from None
        if not letters and not text.isascii():
            letters = number
        if "\0" in text:
            raise InputError(
                "nul-bytes",
                f"{name}: line {number:,} has a NUL byte, so the file is damaged or no UTF-8; pass ",
                Pass("encoding", "utf-16-le"),
                " or another, or save it as UTF-8",
            )
        yield text
