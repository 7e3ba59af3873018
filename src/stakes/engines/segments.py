"""by=: the segments that rows fall into, by one column or by the combinations of several."""

import re
from collections.abc import Mapping

import numpy as np

from stakes.engines.columns import Arguments, Column, Data, Values, ranks
from stakes.engines.labels import Labels, encode
from stakes.errors import Given, InputError, Pass, some
from stakes.tallies.arithmetic import Array

_MOST_CODES = 1 << 22
"""Up to this many possible combinations are numbered in a table; of more only those that occur."""

_PART = r'("(?:[^"\\]|\\.)*"|[^",=]*)=("(?:[^"\\]|\\.)*"|[^",=]*)(?:, |$)'


def spread_by(by: Values, data: Data) -> dict[str, Values]:
    """Return the columns that make segments by their names in error messages: ``by``, or ``by NAME`` for several.

    Several are a list of names of columns, a list of arrays, or a dictionary name → column.
    """
    if by is None:
        return {}
    if isinstance(by, Mapping):
        named = {str(name): column for name, column in by.items()}
    elif not isinstance(by, list | tuple) or not by:
        return {"by": by}
    elif data is not None and all(isinstance(name, str) for name in by):
        named = {name: name for name in by}
    elif any(hasattr(values, "__len__") and not isinstance(values, str) for values in by):
        named = {str(getattr(values, "name", None) or i): values for i, values in enumerate(by, 1)}
    else:
        return {"by": by}
    if not named or (not isinstance(by, Mapping) and len(named) < len(by)):
        seen = f"names a column twice ({some([str(name) for name in by])})" if len(by) else "names no column"
        raise InputError("by-twice", Given("by"), f" {seen}; name each column that makes segments once")
    return {"by": next(iter(named.values()))} if len(named) == 1 else {f"by {n}": c for n, c in named.items()}


MOST_SEGMENTS, _FEW_ROWS = 100_000, 10
"""More segments than this of fewer rows than that name rows, and would take minutes and gigabytes."""


def refuse_names_of_rows(segments: int, rows: int) -> None:
    """Refuse very many segments of so few rows each that none could be compared."""
    if segments > MOST_SEGMENTS and rows < _FEW_ROWS * segments:
        raise InputError(
            "segments-of-single-rows",
            Given("by"),
            f" makes {segments:,} segments of {rows:,} rows, too few in each to compare; name a column with fewer "
            "values, or, for rows that belong together, pass ",
            Pass("cluster"),
        )


def segment_labels(columns: Mapping[str, Column]) -> Labels | None:
    """Encode the segments of these columns (those called ``by``), or None without any."""
    if "by" in columns:
        return _of_one(columns["by"])
    named = {name.removeprefix("by "): encode(column) for name, column in columns.items() if name.startswith("by ")}
    return _combine(named) if named else None


def _of_one(column: Column) -> Labels:
    """Encode the segments of a column; a class without rows is still a class, but a segment without rows is none."""
    labels = encode(column)
    if column.kind != "boolean" or 0 < np.count_nonzero(labels.codes) < len(labels.codes):
        return labels
    return Labels(np.zeros_like(labels.codes), tuple(labels.names[code] for code in labels.codes[:1]))


def _combine(columns: Mapping[str, Labels]) -> Labels:
    """Encode the combinations that occur, ordered by the first column, then by the second, and so on."""
    codes: Array = np.zeros(1, np.int64)
    places: list[Array] = [np.zeros(1, np.int64)]
    for labels in columns.values():
        count = len(labels.names)
        codes = codes * count + labels.codes
        seen, codes = _number(codes, len(places[0]) * count)
        places = [*(place[seen // count] for place in places), seen % count]
    written = [[f"{_quote(column)}={_quote(name)}" for name in labels.names] for column, labels in columns.items()]
    parts = [[texts[i] for i in place.tolist()] for texts, place in zip(written, places[1:], strict=True)]
    return Labels(codes, tuple(", ".join(part) for part in zip(*parts, strict=True)))


def _number(codes: Array, size: int) -> tuple[Array, Array]:
    """Return the distinct codes, and each row's index among them."""
    if size > _MOST_CODES:
        return np.unique(codes, return_inverse=True)
    seen = np.flatnonzero(np.bincount(codes, minlength=size))
    return seen, ranks(seen, size)[codes]


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────
def _quote(text: str) -> str:
    """Quote a text that would make the name of a segment ambiguous."""
    if text.strip() == text and not re.search('[",=]', text):
        return text
    from json import dumps

    return dumps(text, ensure_ascii=False)


def parts_of(name: str) -> list[tuple[str, str]] | None:
    """The columns and values in the name of a segment (``site=A, sex=f``); None if it is not of several columns."""
    parts, end = [], 0
    while end < len(name):
        part = re.compile(_PART).match(name, end)  # compiled on first use
        if part is None:
            return None
        parts.append((_unquote(part[1]), _unquote(part[2])))
        end = part.end()
    return parts


def _unquote(text: str) -> str:
    if not text.startswith('"'):
        return text
    from json import loads

    return str(loads(text))


def values_of(name: str) -> tuple[str, ...] | None:
    """The values in the name of a segment, without the columns."""
    parts = parts_of(name)
    return None if parts is None else tuple(value for _, value in parts)


def with_segments_together(columns: Arguments) -> dict[str, Values]:
    """Return columns as arguments of a call, those of segments as one dictionary (undoes :func:`spread_by`)."""
    several = {name.removeprefix("by "): column for name, column in columns.items() if name.startswith("by ")}
    others = {name: column for name, column in columns.items() if not name.startswith("by ")}
    return {**others, "by": several} if several else others
