"""How separated text is written: what separates its fields, its decimal sign, which columns are percentages.

What the call does not say is found by a rule over the first lines; the user is asked if two answers would fit.
"""

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import polars as pl

from stakes.engines.columns import read_number
from stakes.engines.files.text_format import TextFormat
from stakes.errors import About, InputError, Pass, first_row, short, some

_SIGNS = {",": "commas", ".": "points"}
SEPARATORS = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
"""Possible separators, in words."""

RECORDS = 1_000
"""Records at the beginning from which the dialect is found."""

TITLES = 50
"""Lines in which a header is searched for."""

_OTHER = {".": ",", ",": "."}
_BLANKS = " '\u2019\u00a0\u202f"
"""Marks of thousands, besides "." or ",", whichever is not the decimal sign."""

_START = r"^\s*[+-]?[1-9]\d{0,2}"
_NUMBERS = {sign: rf"^\s*[+-]?(\d+(\{sign}\d*)?|\{sign}\d+)([eE][+-]?\d+)?\s*$" for sign in ",."}
_THOUSANDS = {sign: rf"{_START}(\{sign}\d{{3}})+\s*$" for sign in ",."}
_GROUPED = {sign: rf"{_START}([{_OTHER[sign]}{_BLANKS}]\d{{3}})+(\{sign}\d*)?\s*$" for sign in ",."}
_EVIDENT = {
    sign: rf"{_START}(([{_OTHER[sign]}{_BLANKS}]\d{{3}})+\{sign}\d*|(\{_OTHER[sign]}\d{{3}}){{2,}})\s*$"
    for sign in ",."
}
"""Numbers with a decimal sign; with possible marks of thousands; with such marks; with marks that decide the sign."""

_LONGEST_UNMARKED = 4
"""Numbers of up to this many characters have no marks of thousands: most columns of classes need no further check."""

_PERCENT = r"\s*%\s*$"


@dataclass(frozen=True)
class Dialect:
    """How one file is written; ``percentages`` are the columns whose values end in a percent sign.

    Cells of a spreadsheet have no ``separator``. ``evident`` says that the decimal sign was given, or is certain.
    ``found`` says in words what was guessed, ``advice`` how to pass it; ``other_sheets`` are not read.
    """

    separator: str
    decimal: str = "."
    skip: int = 0
    missing: tuple[str, ...] = ()
    percentages: frozenset[str] = frozenset()
    evident: bool = True
    found: tuple[str, ...] = ()
    advice: tuple[Pass, ...] = ()
    other_sheets: tuple[str, ...] = ()

    def normal(self, column: pl.Series, argument: str) -> pl.Series:
        """Write numbers in text as Python does; other text stays as it is."""
        if column.name in self.percentages:
            return self._without_percent(column, argument)
        if self.decimal == "." and (column.str.len_bytes() <= _LONGEST_UNMARKED).all():
            return column
        if not self.evident:
            self._refuse_unclear(column, argument)
        return self._with_points(self._without_thousands(column), argument)

    def _refuse_unclear(self, column: pl.Series, argument: str) -> None:
        """Refuse numbers whose points or commas may be marks of thousands, if nothing else decides."""
        for sign in "," if self.separator == "," else ",.":
            marked = column.filter(column.str.contains(sign, literal=True))
            if not len(marked) or not marked.str.contains(_THOUSANDS[sign]).all():
                continue
            if column.drop_nulls().str.contains(_NUMBERS[sign]).all():
                raise InputError(
                    "which-decimal",
                    About(argument),
                    f" has numbers such as {short(repr(marked[0]))}, whose {_SIGNS[sign]} may separate thousands; "
                    "pass ",
                    Pass("decimal", sign),
                    " if they are decimal signs, ",
                    Pass("decimal", _OTHER[sign]),
                    " if not",
                )

    def _without_thousands(self, column: pl.Series) -> pl.Series:
        """Remove marks of thousands; if the decimal sign is not evident, only if all values are numbers."""
        marks = [_OTHER[self.decimal], *_BLANKS]
        if not column.str.contains_any(marks).any():
            return column
        grouped = column.str.contains(_GROUPED[self.decimal]).fill_null(False)
        if not self.evident and not (grouped | column.str.contains(_NUMBERS[self.decimal])).all():
            return column
        bare = column.str.replace_all(f"[{_OTHER[self.decimal]}{_BLANKS}]", "")
        return bare.zip_with(grouped, column)

    def why_no_number(self, column: pl.Series, argument: str, row: int) -> InputError | None:
        """The error of a value that is a number in another dialect; None if it is not a number in any."""
        value, present = column[row], column.drop_nulls()
        other = _OTHER[self.decimal]
        if re.search(_PERCENT, value):
            bare = present.filter(~present.str.contains(_PERCENT))
            return _uneven(argument, "with a percent sign and without", value, bare, row) if len(bare) else None
        if not re.search(_NUMBERS[other], value):
            return None
        usual = present.filter(_decimals(present, self.decimal))
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
        if self.decimal == ".":
            return column
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
        plain = self._with_points(self._without_thousands(column.str.replace(_PERCENT, "")), argument)
        shares = shares_of(plain.str.strip_chars())
        return shares.cast(pl.String).zip_with(shares.is_not_null() | column.is_null(), column)


def shares_of(percentages: pl.Series) -> pl.Series:
    """Return the numbers nearest to the decimal hundredths: 11.7 / 100 lies one bit below 0.117."""
    if percentages.dtype not in (pl.String, pl.Float32, pl.Float64):
        return percentages / 100
    shares = (percentages.cast(pl.String) + "e-2").cast(pl.Float64, strict=False)
    return shares.fill_null(percentages.cast(pl.Float64, strict=False) / 100)  # those with an exponent, or not a number


def _uneven(argument: str, how: str, one: str, others: pl.Series, row: int) -> InputError:
    """The error of a column with numbers written in two ways."""
    seen = f"{short(repr(others[0]))} and {short(repr(one))}"
    more = f" has numbers {how}, such as {seen} ("
    return InputError("uneven-numbers", About(argument), more, first_row(row), "); write them alike")


def _decimals(column: pl.Series, sign: str) -> pl.Series:
    """Which values are numbers with this decimal sign."""
    return column.str.contains(_NUMBERS[sign]) & column.str.contains(sign, literal=True)


def find_dialect(name: str, lines: Sequence[str], stated: TextFormat, usual: str | None) -> Dialect:
    """Find out how a file is written from its first lines, header first.

    ``usual`` is the separator that its file extension stands for.
    """
    separator = stated.separator or _separator(name, lines, usual)
    dialect = of_values(_columns(lines, separator, stated.na), stated, separator)
    if stated.separator is not None or separator == (usual or ","):
        return dialect
    found = (f"fields separated by {SEPARATORS[separator]}", *dialect.found)
    advice = (Pass("separator", "tab" if separator == "\t" else separator), *dialect.advice)
    return replace(dialect, found=found, advice=advice)


def of_values(columns: Mapping[str, Sequence[str]], stated: TextFormat, separator: str = "") -> Dialect:
    """Find out how numbers are written from the first values of each column that holds text."""
    signs = {sign for values in columns.values() for sign in ",." if _written_with(values, sign)}
    decimal = stated.decimal or ("," if signs == {","} else ".")
    percentages = frozenset(column for column, values in columns.items() if _in_percent(values, decimal))
    evident = stated.decimal is not None or decimal in signs
    grouped = [name for name, values in columns.items() if evident and _has_thousands(values, decimal)]
    features = {"decimal commas": decimal == ",", f"marks of thousands in {some(grouped)}": bool(grouped)}
    detected = [words for words, so in features.items() if so and stated.decimal is None]
    advice = [Pass("decimal", decimal)] if detected else []
    if percentages and not stated.percent:
        detected.append(f"percentages in {some(sorted(percentages))}")
        advice.append(Pass("percent", True))
    missing = ("", *_spellings(stated.na))
    return Dialect(separator, decimal, stated.skip, missing, percentages, evident, tuple(detected), tuple(advice))


# ── what is missing ──────────────────────────────────────────────────────────────────────────────────────────────
def _spellings(words: Iterable[str]) -> list[str]:
    """The words for a missing value; a whole number also with zeros as decimals."""
    numbers = [word for word in words if re.fullmatch(r"[+-]?\d+", word)]
    more = [f"{word}{sign}{zeros}" for word in numbers for sign in ".," for zeros in ("0", "00", "000")]
    return list(dict.fromkeys([*words, *more]))


def without_words(types: Mapping[str, pl.DataType], words: Sequence[str]) -> list[pl.Expr]:
    """Expressions of columns in which these words, or numbers, become missing values."""
    numbers = [number for number in map(read_number, words) if number is not None and math.isfinite(number)]
    texts = [pl.col(name).is_in(words) for name, dtype in types.items() if dtype == pl.String]
    others = [pl.col(name).cast(pl.Float64).is_in(numbers) for name, dtype in types.items() if dtype.is_numeric()]
    meant = {one.meta.output_name(): one for one in texts + (others if numbers else [])}
    return [pl.when(~so.fill_null(False)).then(pl.col(name)).alias(name) for name, so in meant.items()]


# ── the separator ────────────────────────────────────────────────────────────────────────────────────────────────
def _separator(name: str, lines: Sequence[str], usual: str | None) -> str:
    """The sign in the header that splits all of the first records into as many fields."""
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
    """The fields of one line with this separator."""
    try:
        return next(csv.reader([line], delimiter=sign), [])
    except csv.Error:  # a field of more than 131,072 characters: it separates nothing
        return []


def _records(lines: Sequence[str], sign: str) -> list[list[str]]:
    """The first records, without empty lines."""
    return [record for record in islice(csv.reader(lines, delimiter=sign), RECORDS) if record]


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _columns(lines: Sequence[str], separator: str, missing: Iterable[str]) -> dict[str, list[str]]:
    """The different values of each column in the first records, without missing ones."""
    names, *records = _records(lines, separator) or [[]]
    nothing = {*missing, ""}
    columns = zip_longest(names, zip_longest(*records, fillvalue=""), fillvalue=())
    return {
        str(name): [value for value in dict.fromkeys(column) if value.strip() not in nothing]
        for name, column in islice(columns, len(names))
    }


def _written_with(values: Sequence[str], sign: str) -> bool:
    """Whether these are all numbers, and some can only be read with this decimal sign."""
    plain = [_without_sign(value) for value in values]
    return any(_needs(value, sign) for value in plain) and all(_is_number(value, sign) for value in plain)


def _needs(value: str, sign: str) -> bool:
    """Whether a number can only be read with this decimal sign."""
    if sign in value and re.search(_NUMBERS[sign], value) and not re.search(_THOUSANDS[sign], value):
        return True
    return len(value) > _LONGEST_UNMARKED and re.search(_EVIDENT[sign], value) is not None


def _is_number(value: str, sign: str) -> bool:
    return re.search(_NUMBERS[sign], value) is not None or re.search(_GROUPED[sign], value) is not None


def _has_thousands(values: Sequence[str], sign: str) -> bool:
    """Whether these are all numbers, and some have marks of thousands."""
    grouped = any(len(value) > _LONGEST_UNMARKED and re.search(_GROUPED[sign], value) for value in values)
    return grouped and all(_is_number(value, sign) for value in values)


def _in_percent(values: Sequence[str], decimal: str) -> bool:
    signed = bool(values) and all(value.rstrip().endswith("%") for value in values)
    return signed and all(_is_number(_without_sign(value), decimal) for value in values)


def _without_sign(value: str) -> str:
    return re.sub(_PERCENT, "", value) if "%" in value else value
