"""Rows as CSV that a spreadsheet opens without running anything."""

import math
from collections.abc import Iterable, Mapping

from stakes.text import visible

_FORMULAS = tuple("=+-@＝＋－＠")
"""A text that begins so is a formula to a spreadsheet."""


def of_rows(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as CSV with a header; what is not known is empty, numbers keep all their digits."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = (map(_cell, map(row.get, names)) for row in rows)
    return "\n".join(map(",".join, [map(_cell, names), *lines]))


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    text = visible(str(value))
    text = f"'{text}" if text.startswith(_FORMULAS) else text
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text
