"""How separated text is written: what separates its fields, its decimal sign, which columns are percentages.

What nobody said is found by a rule over the first lines, and asked for where two answers would fit.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import polars as pl

from stakes.engines.files.text_format import TextFormat
from stakes.errors import About, InputError, Pass, first_row, short, some

SEPARATORS = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
"""What may separate fields, in words."""

_RECORDS = 1_000
"""Records at the beginning that tell how a file is written."""

_NUMBERS = {sign: rf"^\s*[+-]?(\d+(\{sign}\d*)?|\{sign}\d+)([eE][+-]?\d+)?\s*$" for sign in ",."}
_THOUSANDS = {sign: rf"^\s*[+-]?[1-9]\d{{0,2}}(\{sign}\d{{3}})+\s*$" for sign in ",."}
_GROUPED = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?\s*$"
_PERCENT = r"\s*%\s*$"


@dataclass(frozen=True)
class Dialect:
    """How one file is written; ``percentages`` are the columns whose values end in a percent sign.

    ``found`` says in words what nobody had said, and how to say it.
    """

    separator: str
    decimal: str = "."
    skip: int = 0
    missing: tuple[str, ...] = ()
    percentages: frozenset[str] = frozenset()
    sure: bool = True
    found: tuple[str, ...] = ()
    advice: tuple[Pass, ...] = ()

    def normal(self, column: pl.Series, argument: str) -> pl.Series:
        """Text in which numbers are written as Python writes them; what is no number stays as it is."""
        if column.name in self.percentages:
            return self._without_percent(column, argument)
        if self.decimal == ",":
            return self._with_points(column, argument)
        return column if self.sure else self._asked(column, argument)

    def _asked(self, column: pl.Series, argument: str) -> pl.Series:
        """Refuse numbers whose points may part thousands, where nothing else tells what points are."""
        held = column.drop_nulls()
        points = held.filter(held.str.contains(".", literal=True))
        if len(points) and points.str.contains(_THOUSANDS["."]).all() and held.str.contains(_NUMBERS["."]).all():
            raise InputError(
                "which-decimal",
                About(argument),
                f" has numbers such as {short(repr(points[0]))}, whose points may part thousands; pass ",
                Pass("decimal", "."),
                " if they are decimal signs, ",
                Pass("decimal", ","),
                " if not",
            )
        return column

    def why_no_number(self, column: pl.Series, argument: str, row: int) -> InputError | None:
        """What is wrong with a value that is a number in another dialect; None for what is none in any."""
        value, held = column[row], column.drop_nulls()
        other = "." if self.decimal == "," else ","
        if re.search(_PERCENT, value):
            bare = held.filter(~held.str.contains(_PERCENT))
            return _uneven(argument, "with a percent sign and without", value, bare, row) if len(bare) else None
        if not re.search(_NUMBERS[other], value):
            return None
        usual = held.filter(_decimals(held, self.decimal))
        if len(usual):
            return _uneven(argument, "with two decimal signs", value, usual, row)
        return InputError(
            "other-decimal",
            About(argument),
            f" has numbers such as {value!r} (",
            first_row(row),
            "); if that is a decimal sign pass ",
            Pass("decimal", other),
        )

    def _with_points(self, column: pl.Series, argument: str) -> pl.Series:
        grouped = column.str.contains(_GROUPED).fill_null(False)
        column = column.str.replace_all(".", "", literal=True).zip_with(grouped, column)
        commas, points = (_decimals(column, sign).fill_null(False) for sign in ",.")
        if commas.any() and points.any():
            first = int(points.arg_true()[0])
            raise _uneven(argument, "with two decimal signs", column[first], column.filter(commas), first)
        return column.str.replace(",", ".", literal=True).zip_with(commas, column)

    def _without_percent(self, column: pl.Series, argument: str) -> pl.Series:
        signed = column.str.contains(_PERCENT)
        if not signed.all():
            first = int((~signed).arg_true()[0])
            raise _uneven(argument, "with a percent sign and without", column[first], column.filter(signed), first)
        plain = self._with_points(column.str.replace(_PERCENT, ""), argument)
        shares = plain.str.strip_chars().cast(pl.Float64, strict=False) / 100
        return shares.cast(pl.String).zip_with(shares.is_not_null() | column.is_null(), column)


def _uneven(argument: str, how: str, one: str, others: pl.Series, row: int) -> InputError:
    """Two kinds of numbers in one column."""
    seen = f"{short(repr(others[0]))} and {short(repr(one))}"
    more = f" has numbers {how}, such as {seen} ("
    return InputError("uneven-numbers", About(argument), more, first_row(row), "); write them alike")


def _decimals(column: pl.Series, sign: str) -> pl.Series:
    """Which values are numbers with this decimal sign."""
    return column.str.contains(_NUMBERS[sign]) & column.str.contains(sign, literal=True)


def find_dialect(name: str, lines: Sequence[str], given: TextFormat, usual: str | None) -> Dialect:
    """Find out how a file is written from its first lines, which begin at the header.

    ``usual`` is the separator that its name promises.
    """
    separator = given.separator or _separator(name, lines, usual)
    columns = _columns(lines, separator, given.na)
    decimal = given.decimal or _decimal(columns.values())
    percentages = frozenset(column for column, values in columns.items() if _in_percent(values, decimal))
    found, advice = [], []
    if given.separator is None and separator != (usual or ","):
        found.append(f"fields separated by {SEPARATORS[separator]}")
        advice.append(Pass("separator", "tab" if separator == "\t" else separator))
    if given.decimal is None and decimal != ".":
        found.append("decimal commas")
        advice.append(Pass("decimal", decimal))
    if percentages and not given.percent:
        found.append(f"percentages in {some(sorted(percentages))}")
        advice.append(Pass("percent", True))
    sure = (
        separator == "," or given.decimal is not None or any(_written_with(values, ".") for values in columns.values())
    )
    missing = ("", *given.na)
    return Dialect(separator, decimal, given.skip, missing, percentages, sure, tuple(found), tuple(advice))


# ── the separator ────────────────────────────────────────────────────────────────────────────────────────────────
def _separator(name: str, lines: Sequence[str], usual: str | None) -> str:
    """The one sign of the header that parts all of the first records into as many fields."""
    signs = [sign for sign in SEPARATORS if lines and len(fields_of(lines[0], sign)) > 1]
    if len(signs) < 2:
        return signs[0] if signs else usual or ","
    fitting = [sign for sign in signs if len({len(record) for record in _records(lines, sign)}) == 1]
    fitting.sort(key=lambda sign: -len(fields_of(lines[0], sign)))
    if len(fitting) > 1 and len(lines) > 1:
        raise InputError(
            "which-separator",
            f"{name}: its fields may be separated by {' or '.join(SEPARATORS[sign] for sign in fitting)}; pass ",
            Pass("separator", fitting[0]),
        )
    return fitting[0] if len(fitting) == 1 else usual if usual in signs else signs[0]


def fields_of(line: str, sign: str) -> list[str]:
    """The fields of one line, if this separates them."""
    try:
        return next(csv.reader([line], delimiter=sign), [])
    except csv.Error:  # a field of more than 131,072 characters: it separates nothing
        return []


def _records(lines: Sequence[str], sign: str) -> list[list[str]]:
    """The first records; lines of nothing are none."""
    return [record for record in islice(csv.reader(lines, delimiter=sign), _RECORDS) if record]


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _columns(lines: Sequence[str], separator: str, missing: Iterable[str]) -> dict[str, list[str]]:
    """The values of each column in the first records, without those that are missing."""
    names, *records = _records(lines, separator) or [[]]
    values: dict[str, list[str]] = {name: [] for name in names}
    for record in records:
        for name, value in zip(names, record, strict=False):
            if value.strip() not in {*missing, ""}:
                values[name].append(value)
    return values


def _decimal(columns: Iterable[list[str]]) -> str:
    """A comma where a column holds numbers with commas that cannot part thousands, and none holds ones with points."""
    signs = {sign for values in columns for sign in ",." if _written_with(values, sign)}
    return "," if signs == {","} else "."


def _written_with(values: Iterable[str], sign: str) -> bool:
    """Whether these are numbers, some of which have this decimal sign for sure."""
    plain = [re.sub(_PERCENT, "", value) for value in values]
    decimals = [value for value in plain if sign in value]
    sure = not all(re.search(_THOUSANDS[sign], value) for value in decimals)
    return bool(decimals) and sure and all(re.search(_NUMBERS[sign], value) for value in plain)


def _in_percent(values: Sequence[str], decimal: str) -> bool:
    plain = [re.sub(_PERCENT, "", value) for value in values]
    signed = all(value.rstrip().endswith("%") for value in values)
    return bool(values) and signed and all(re.search(_NUMBERS[decimal], value) for value in plain)
