"""Rows as CSV that a spreadsheet opens without running anything."""

import csv
import io
import math
from collections.abc import Iterable, Mapping
from typing import Any

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins so is a formula to a spreadsheet."""


def of_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV with a header; what is not known is empty, numbers keep all their digits."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_cell, names))
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return out.getvalue().removesuffix("\n")


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | int | float):
        return value
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULAS) else text
