"""Tables of spreadsheets (.xlsx), read by fastexcel; the first sheet unless ``FILE::SHEET`` names another."""

import zipfile

import polars as pl

from stakes import errors
from stakes.engines.files.sources import Source
from stakes.errors import InputError, MissingPartError, nearest

_MOST_BYTES = 256 << 20
"""What a file may unpack to."""


def read(source: Source) -> pl.LazyFrame:
    """Read a sheet; its columns have the types of their cells."""
    try:
        import fastexcel
    except ImportError:
        raise MissingPartError(
            "missing-excel",
            f"{source.name} is a spreadsheet, which needs the package fastexcel: pip install 'stakes[excel]'",
        ) from None
    if not zipfile.is_zipfile(source.plain_path):
        raise errors.unreadable_file(source.name, "it is damaged, or no spreadsheet")
    with zipfile.ZipFile(source.plain_path) as parts:
        if "xl/workbook.xml" not in parts.namelist():
            raise errors.unreadable_file(source.name, "it is an archive, and no spreadsheet")
        if sum(part.file_size for part in parts.infolist()) > _MOST_BYTES:
            raise errors.unreadable_file(source.name, f"it unpacks to more than {_MOST_BYTES:,} bytes; save it as CSV")
        content = source.start(source.size)
    book = fastexcel.read_excel(content)
    if source.table is not None and source.table not in book.sheet_names:
        hint = nearest(source.table, book.sheet_names)
        raise InputError("no-such-sheet", f"{source.name}: there is no sheet {source.table!r}{hint}")
    sheet = book.load_sheet(source.table or 0, header_row=source.format.skip, schema_sample_rows=None)
    frame = sheet.to_polars()
    unnamed = [place for place, column in enumerate(frame, 1) if column.name.startswith("__UNNAMED__")]
    named = [column for place, column in enumerate(frame, 1) if place not in unnamed]
    lost = [place for place in unnamed if frame[:, place - 1].null_count() < len(frame)]
    if lost:
        raise InputError(
            "merged-header",
            f"{source.name}: column {lost[0]} of sheet {sheet.name!r} holds values and has no name (merged cells?); "
            "write a name into every cell of the header",
        )
    return pl.DataFrame(named).lazy()
