"""Rows as CSV that a spreadsheet opens without running anything."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins so is a formula to a spreadsheet."""


def of_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV with a header; what is not known is empty, numbers keep all their digits."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines: list[list[Any]] = [names, *([row.get(name) for name in names] for row in rows)]
    return "\n".join(",".join(map(_cell, line)) for line in lines)


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    text = str(value)
    text = f"'{text}" if text.startswith(_FORMULAS) else text
    # Python's writer leaves a lone carriage return unquoted, which breaks the row for whoever reads it
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\r\n') else text
