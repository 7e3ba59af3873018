"""Tables of spreadsheets (.xlsx), read by fastexcel; the first sheet unless ``FILE::SHEET`` names another."""

import zipfile
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
import polars.selectors as cs

from stakes import errors
from stakes.engines.columns import read_number, refuse_repeated_names
from stakes.engines.files.dialect import RECORDS, TITLES, Dialect, of_values, without_words
from stakes.engines.files.sources import Source
from stakes.errors import InputError, MissingPartError, nearest

if TYPE_CHECKING:
    import fastexcel

_MOST_BYTES = 256 << 20
"""Most bytes that a file may unpack to."""

_PLAIN = r"^-?(0|[1-9]\d*)(\.\d+)?$"
"""A number in a column that also holds text."""


def read(source: Source) -> tuple[pl.LazyFrame, Dialect]:
    """Read a sheet, and find how numbers in text cells are written; other columns have the types of their cells."""
    book = _open(source)
    sheet = _sheet(source, book)
    cells = book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes="string").to_polars()
    skip, names = _header(source, book, sheet, cells)
    every = [names.get(place, f"\0{place}") for place in range(cells.width)]
    empty = {name: "string" for name, column in zip(every, cells[skip + 1 :], strict=True) if _is_empty(column)}
    load = partial(book.load_sheet, sheet, header_row=None, skip_rows=skip + 1, column_names=every)
    frame = load(schema_sample_rows=None, dtypes=empty).to_polars().select(names.values())
    frame = frame.with_columns(without_words(frame.select(cs.numeric()).schema, source.format.na))
    texts = frame.select(pl.col(pl.String).replace(dict.fromkeys(("", *source.format.na))))
    rounded = [one.name for one in texts if one.null_count() > frame[one.name].null_count() and _all_plain(one)]
    if rounded:  # as text, numbers have fewer digits
        frame = frame.with_columns(load(dtypes=empty | dict.fromkeys(rounded, "float")).to_polars().select(rounded))
    frame = frame.with_columns(texts.drop(rounded)).with_columns(map(_as_days, frame.select(pl.col(pl.Datetime))))
    first = {one.name: one.drop_nulls().head(RECORDS).to_list() for one in frame.select(pl.col(pl.String))}
    others = () if source.table is not None else tuple(name for name in book.sheet_names if name != sheet)
    return frame.lazy(), replace(of_values(first, source.format), skip=skip, other_sheets=others)


def _is_empty(column: pl.Series) -> bool:
    return column.null_count() == len(column)


def _all_plain(column: pl.Series) -> bool:
    return bool(column.drop_nulls().str.contains(_PLAIN).all())


def _as_days(column: pl.Series) -> pl.Series:
    """Convert times to days if all are midnight."""
    return column.cast(pl.Date) if (column.dt.truncate("1d") == column).all() else column


def _open(source: Source) -> "fastexcel.ExcelReader":
    try:
        import fastexcel
    except ImportError:
        raise MissingPartError(
            "missing-excel", f"{source.name} is a spreadsheet, which needs the package fastexcel: pip install fastexcel"
        ) from None
    if not zipfile.is_zipfile(source.plain_path):
        raise errors.unreadable_file(source.name, "it is damaged, or no spreadsheet")
    with zipfile.ZipFile(source.plain_path) as parts:
        if "xl/workbook.xml" not in parts.namelist():
            raise errors.unreadable_file(source.name, "it is an archive, and no spreadsheet; unpack it")
        if sum(part.file_size for part in parts.infolist()) > _MOST_BYTES:
            raise errors.unreadable_file(source.name, f"it unpacks to more than {_MOST_BYTES:,} bytes; save it as CSV")
    return fastexcel.read_excel(source.start(source.size))


def _sheet(source: Source, book: "fastexcel.ExcelReader") -> str:
    """The sheet that was named, or the first."""
    if source.table is not None and source.table not in book.sheet_names:
        hint = nearest(source.table, book.sheet_names)
        raise InputError("no-such-sheet", f"{source.name}: there is no sheet {source.table!r}{hint}")
    return source.table or book.sheet_names[0]


def _header(
    source: Source, book: "fastexcel.ExcelReader", sheet: str, cells: pl.DataFrame
) -> tuple[int, dict[int, str]]:
    """The number of rows above the header, and the names of the columns that are not empty by their index.

    The first column may lack its name, as a column of row names does.
    """
    filled = [place for place, column in enumerate(cells) if not _is_empty(column)]
    rows = [[row[place] for place in filled] for row in cells.iter_rows()]
    above = range(source.format.skip, len(rows))
    skip = next((row for row in above if any(rows[row])), None)
    if skip is None:
        others = [name for name in book.sheet_names if name != sheet]
        other = f"{source.path}::{others[0]}" if others else ""
        hint = f"; name another, such as {other!r}" if other else ""
        raise errors.unreadable_file(source.name, f"sheet {sheet!r} is empty{hint}")
    names = {place: name or f"column {place + 1}" for place, name in zip(filled, rows[skip], strict=True)}
    unnamed = [place + 1 for place, name in list(zip(filled, rows[skip], strict=True))[1:] if not name]
    if unnamed:
        full = next((row for row in above[:TITLES] if all(n and read_number(n) is None for n in rows[row][1:])), skip)
        if full > skip:
            raise errors.title_lines(source.name, f"row {full + 1:,} of sheet {sheet!r}", full)
        raise InputError(
            "merged-header",
            f"{source.name}: column {unnamed[0]} of sheet {sheet!r} holds values and has no name (merged cells?); "
            "write a name into every cell of the header",
        )
    refuse_repeated_names(list(names.values()), source.name)
    return skip, names
