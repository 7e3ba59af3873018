"""How separated text is written: its encoding, separator and decimal sign, what stands above the header.

What nobody said is found by a rule over the first lines, and asked for where two answers would fit.
"""

import codecs
import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from stakes.errors import InputError, Pass, several

MISSING = ("", "NA", "N/A", "NULL", "null", "NaN", "nan")
"""How text files write a missing value, unless the words for it are given."""

SEPARATORS = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
"""What may separate fields, in words."""

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_RECORDS = 1_000
"""Records at the beginning that tell how a file is written."""

_WHOLE = r"[+-]?\d+"
_NUMBERS = {
    sign: re.compile(rf"[+-]?(\d+({re.escape(sign)}\d*)?|{re.escape(sign)}\d+)([eE]{_WHOLE})?\s*%?") for sign in ",."
}
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


@dataclass(frozen=True)
class TextFormat:
    """How text files are written, as far as it was said; None is found out.

    ``missing`` are the words for a missing value beside the empty text. ``percent`` says that scores are percentages.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    skip: int = 0
    missing: tuple[str, ...] = MISSING
    percent: bool = False


@dataclass(frozen=True)
class Dialect:
    """How one file is written; ``percentages`` are the columns whose values end in a percent sign."""

    separator: str
    decimal: str = "."
    skip: int = 0
    missing: tuple[str, ...] = MISSING
    percentages: frozenset[str] = field(default_factory=frozenset)
    percent: bool = False
    found: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether numbers are written as Python writes them."""
        return self.decimal == "." and not self.percentages and not self.percent


def find_dialect(name: str, lines: Sequence[str], given: TextFormat, usual: str | None) -> Dialect:
    """Find out how a file is written from its first lines, which begin at the header.

    ``usual`` is the separator that its name promises.
    """
    separator = given.separator or _separator(name, lines, usual)
    columns = _columns(lines, separator, given.missing)
    decimal = given.decimal or _decimal(columns.values())
    percentages = frozenset(column for column, values in columns.items() if _in_percent(values, decimal))
    found = []
    if given.separator is None and separator != (usual or ","):
        found.append(f"fields separated by {SEPARATORS[separator]}")
    if given.decimal is None and decimal != ".":
        found.append("decimal commas")
    if percentages:
        found.append(f"percentages in {', '.join(map(repr, sorted(percentages)))}")
    return Dialect(separator, decimal, given.skip, given.missing, percentages, given.percent, tuple(found))


def encoding_of(start: bytes) -> str:
    """The encoding that the first bytes announce; UTF-8 where they do not."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), "utf-8")


# ── the separator ────────────────────────────────────────────────────────────────────────────────────────────────
def _separator(name: str, lines: Sequence[str], usual: str | None) -> str:
    """The one sign of the header that parts all of the first records into as many fields."""
    signs = [sign for sign in SEPARATORS if lines and len(_fields(lines[0], sign)) > 1]
    if len(signs) < 2:
        return signs[0] if signs else usual or ","
    fitting = [sign for sign in signs if _parts_evenly(lines, sign)]
    if len(fitting) > 1:
        raise InputError(
            "which-separator",
            f"{name}: its fields may be separated by ",
            *several([SEPARATORS[sign] for sign in fitting], "or"),
            "; pass ",
            Pass("separator", fitting[0]),
        )
    return fitting[0] if fitting else usual if usual in signs else signs[0]


def _fields(line: str, sign: str) -> list[str]:
    return next(csv.reader([line], delimiter=sign), [])


def _parts_evenly(lines: Sequence[str], sign: str) -> bool:
    widths = {len(record) for record in _records(lines, sign)}
    return len(widths) == 1


def _records(lines: Sequence[str], sign: str) -> list[list[str]]:
    """The first records; the last may be cut off, and lines of nothing are none."""
    return [record for record in islice(csv.reader(lines, delimiter=sign), _RECORDS) if record]


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _columns(lines: Sequence[str], separator: str, missing: Iterable[str]) -> dict[str, list[str]]:
    """The values of each column in the first records, without those that are missing."""
    names, *records = _records(lines, separator) or [[]]
    held = {*missing, ""}
    values: dict[str, list[str]] = {name: [] for name in names}
    for record in records:
        for name, value in zip(names, map(str.strip, record), strict=False):
            if value not in held:
                values[name].append(value)
    return values


def _decimal(columns: Iterable[list[str]]) -> str:
    """A comma where a column holds numbers with commas that cannot part thousands, and none holds ones with points."""
    signs = {sign for values in columns for sign in ",." if _written_with(values, sign)}
    return "," if signs == {","} else "."


def _written_with(values: Sequence[str], sign: str) -> bool:
    """Whether these are numbers, some of which have this decimal sign for sure."""
    pattern = _NUMBERS[sign]
    decimals = [value for value in values if sign in value]
    return (
        bool(decimals)
        and all(pattern.fullmatch(value) for value in values)
        and not (sign == "," and all(map(_THOUSANDS.fullmatch, decimals)))
    )


def _in_percent(values: Sequence[str], decimal: str) -> bool:
    return bool(values) and all(value.endswith("%") and _NUMBERS[decimal].fullmatch(value) for value in values)
