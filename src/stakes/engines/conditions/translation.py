"""A condition as an expression of Narwhals, which every engine evaluates alike.

Engines differ in how NOT and <> treat missing values, so these are not left to them: each part becomes the rows for
which it is surely true, or those for which it is surely false. Arithmetic is in float64 in every engine, division by
zero gives a missing value, and whole numbers are only compared with whole numbers, which loses no digit.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal
from operator import and_, or_
from typing import TypeAlias

import narwhals as nw
from narwhals.typing import FrameT

from stakes import errors
from stakes.engines.conditions import tree
from stakes.engines.conditions.kinds import as_date
from stakes.engines.conditions.syntax import SIGNS
from stakes.engines.lazy.spark_text import is_nan
from stakes.errors import InputError, short

_LARGEST_INT64, _LARGEST_UINT64 = 2**63 - 1, 2**64 - 1
_END = "\x01"
"""Appended to text before matching: engines differ in what $ means before a final line break."""
Written: TypeAlias = int | float | str | datetime | None
"""A literal of the condition."""

_FLIPPED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def holding(frame: FrameT, condition: tree.Condition, places: Mapping[str, str], kinds: Mapping[str, str]) -> FrameT:
    """Return the rows of a Narwhals frame, eager or lazy, for which the condition is true.

    ``places`` are the names of the condition's columns in the frame, which has no column that begins with "where ";
    ``kinds`` are the kinds that they are compared as, without columns that are only tested for NULL.
    """
    if isinstance(condition.tree, tree.Truth):
        return frame if condition.tree.value else frame.head(0)
    frame = _as_type(frame, {place: kinds[column] for column, place in places.items() if column in kinds})
    schema = frame.collect_schema()
    _refuse_nanoseconds(frame, {c: place for c, place in places.items() if kinds.get(c) == "date"})
    clean = {column: f"where {i}" for i, column in enumerate(places)}
    columns = {c: Prepared(clean[c], schema[place], kinds.get(c, "")) for c, place in places.items()}
    prepared = frame.with_columns(*(columns[c].expression(place) for c, place in places.items()))
    translation = _Translation(condition, columns)
    expression = translation.sure(condition.tree, True)
    _refuse_rounding(prepared, translation.rounded)
    return prepared.filter(expression).select(*schema.names())


@dataclass(frozen=True)
class Prepared:
    """A column as conditions use it: missing values are null; ``whole`` numbers are kept apart from fractions."""

    name: str
    dtype: nw.dtypes.DType
    kind: str

    @property
    def whole(self) -> bool:
        """Whether the numbers are whole by their type."""
        return bool(self.kind == "number" and self.dtype.is_integer())

    @property
    def span(self) -> tuple[int, int]:
        """The smallest and the largest whole number that the column can hold when compared."""
        if self.dtype == nw.UInt64:
            return 0, _LARGEST_UINT64
        most = _LARGEST_INT64 if self.dtype not in (nw.Int128, nw.UInt128) else 2**127 - 1
        return -most - 1, most

    def expression(self, place: str) -> nw.Expr:
        """The expression that makes the column from that of the table."""
        column, dtype = nw.col(place), self.dtype
        if dtype == nw.Categorical or isinstance(dtype, nw.Enum):
            column, dtype = column.cast(nw.String), nw.String()
        if dtype == nw.String:
            column = nw.when(column.str.strip_chars() != "").then(column)
        elif dtype.is_float():
            column = column.cast(nw.Float64)
            column = nw.when(~is_nan(column)).then(column)
        elif dtype == nw.Decimal:
            column = column.cast(nw.Float64)
        elif dtype.is_integer() and self.span[1] == _LARGEST_INT64 and dtype != nw.Int64:
            column = column.cast(nw.Int64)
        elif self.kind == "date":
            column = column.cast(nw.Datetime("us"))
        if self.kind == "boolean" and dtype.is_numeric():  # all of them are 0 and 1
            column = column != 0
        return column.alias(self.name)


def _as_type(frame: FrameT, kinds: Mapping[str, str]) -> FrameT:
    """Give columns without any value, which have no type, the type of their kind."""
    schema = frame.collect_schema()
    types = {"number": nw.Int64(), "text": nw.String(), "boolean": nw.Boolean(), "date": nw.Datetime("us")}
    empty = [nw.col(place).cast(types[kind]) for place, kind in kinds.items() if schema[place] == nw.Unknown]
    return frame.with_columns(*empty) if empty else frame


def _refuse_rounding(frame: FrameT, columns: Mapping[str, Prepared]) -> None:
    """Refuse whole numbers that would lose digits as fractions."""
    if not columns:
        return
    ends = [end for c in columns.values() for end in (nw.col(c.name).min(), nw.col(c.name).max().alias(f"{c.name} +"))]
    extremes = frame.lazy().select(*ends).collect()
    for column, prepared in columns.items():
        for end in (prepared.name, f"{prepared.name} +"):
            value = extremes[end].item()
            least = tree.LARGEST + isinstance(value, int)  # a fraction may have been rounded to it
            if isinstance(value, int | float) and abs(value) >= least:
                raise errors.rounded_column(column, int(value))


def _refuse_nanoseconds(frame: FrameT, places: Mapping[str, str]) -> None:
    """Refuse times finer than microseconds, the unit in which times are compared."""
    for column, place in places.items():
        if getattr(frame.collect_schema()[place], "time_unit", "us") == "ns":
            finest = (nw.col(place).dt.nanosecond() % 1000).max().alias("finest")
            if frame.lazy().select(finest).collect()["finest"].item():
                raise InputError(
                    "nanoseconds",
                    f"where: the column {short(repr(column))} holds times finer than microseconds, in which times are "
                    "compared; round them first",
                )


class _Translation:
    """Translates the parts of a condition; ``rounded`` are columns of whole numbers used as fractions."""

    def __init__(self, condition: tree.Condition, columns: Mapping[str, Prepared]) -> None:
        self.text, self.columns = condition.text, columns
        self.rounded: dict[str, Prepared] = {}

    def sure(self, test: tree.Test, wanted: bool) -> nw.Expr:
        """The rows for which a part is surely true, or surely false."""
        match test:
            case tree.Not():
                return self.sure(test.part, not wanted)
            case tree.Several():
                combine = and_ if test.every == wanted else or_
                return combine_in_pairs(combine, [self.sure(part, wanted) for part in test.parts])
            case tree.IsNull():
                missing = self._value(test.value).is_null()
                return missing if wanted else ~missing
            case tree.Compare():
                return self._compare(test, wanted)
            case tree.In():
                return self._one_of(test, wanted)
            case tree.Like():
                return self._like(test, wanted)
        raise AssertionError(test)

    def _leaf(self, values: list[nw.Expr], holds: nw.Expr | bool, wanted: bool) -> nw.Expr:
        """A test of the rows in which no value is missing; a Python boolean is the same for all of them."""
        there = combine_in_pairs(and_, [~value.is_null() for value in values])
        if isinstance(holds, bool):
            return there if holds == wanted else there & ~there
        return there & (holds if wanted else ~holds)

    def _compare(self, test: tree.Compare, wanted: bool) -> nw.Expr:
        sign, left, right = test.sign, test.left, test.right
        if isinstance(left, tree.Number | tree.Text | tree.Truth):
            sign, left, right = _FLIPPED[sign], right, left
        kind = self._kind(left)
        if kind == "boolean" and sign != "=":
            raise errors.bad_where(self.text, f"{sign} compares what is true or false", "write = or <>")
        value = self._value(left)
        if isinstance(right, tree.Number):
            return self._leaf([value], self._beside_number(sign, value, left, right.value), wanted)
        if isinstance(right, tree.Truth):
            return self._leaf([value], value if right.value else ~value, wanted)
        if isinstance(right, tree.Text):
            return self._leaf([value], _apply(sign, value, self._text(kind, right.value)), wanted)
        whole = self._whole(left) and self._whole(right)
        read = self._value if whole or kind != "number" else self._fraction
        one, other = read(left), read(right)
        return self._leaf([one, other], _apply(sign, one, other), wanted)

    def _one_of(self, test: tree.In, wanted: bool) -> nw.Expr:
        value, kind = self._value(test.value), self._kind(test.value)
        if kind == "boolean":
            truths = {item.value for item in test.items if isinstance(item, tree.Truth)}
            return self._leaf([value], True if len(truths) > 1 else value if truths == {True} else ~value, wanted)
        if kind == "number":
            near = [self._nearest(test.value, item.value) for item in test.items if isinstance(item, tree.Number)]
            items: list[Written] = [below for below, exact in near if exact]
        else:
            items = [self._text(kind, item.value) for item in test.items if isinstance(item, tree.Text)]
        small = [item for item in items if item is _write(item)]
        tests = [value.is_in(small)] if small else []
        tests += [value == _write(item) for item in items if item not in small]
        return self._leaf([value], combine_in_pairs(or_, tests) if tests else False, wanted)

    def _like(self, test: tree.Like, wanted: bool) -> nw.Expr:
        value = self._value(test.value)
        ended = nw.concat_str([value, nw.lit(_END)])
        return self._leaf([value], ended.str.contains(_expression(test.pattern, test.any_case)), wanted)

    # ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _beside_number(self, sign: str, value: nw.Expr, operand: tree.Value, number: int | Decimal) -> nw.Expr | bool:
        """Compare with a literal number; one that the column cannot hold lies between two that it can."""
        below, exact = self._nearest(operand, number)
        if exact:
            return _apply(sign, value, _write(below))
        if sign == "=" or below is None:
            return sign in (">", ">=")
        return value <= _write(below) if sign in ("<", "<=") else value > _write(below)

    def _nearest(self, operand: tree.Value, number: int | Decimal) -> tuple[int | float | None, bool]:
        """The largest possible value of the operand up to a number, if there is one, and whether it is equal."""
        if not self._whole(operand):
            near = float(number)
            if isinstance(number, Decimal) or near == number:
                return near, True
            return (near if near < number else math.nextafter(near, -math.inf)), False
        least, most = self.columns[operand.column].span if isinstance(operand, tree.Name) else (0, _LARGEST_INT64)
        below = int(number.to_integral_value(ROUND_FLOOR)) if isinstance(number, Decimal) else number
        if below < least:
            return None, False
        return min(below, most), below == number and below <= most

    def _whole(self, value: tree.Value) -> bool:
        if isinstance(value, tree.Name):
            return self.columns[value.column].whole
        return isinstance(value, tree.Call) and value.function == "length"

    def _fraction(self, value: tree.Value) -> nw.Expr:
        """A number as float64."""
        if isinstance(value, tree.Number):
            return nw.lit(float(value.value))
        if isinstance(value, tree.Name) and self._whole(value):
            self.rounded[value.column] = self.columns[value.column]
        return self._value(value).cast(nw.Float64) if self._whole(value) else self._value(value)

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────────────
    def _kind(self, value: tree.Value) -> str:
        return self.columns[value.column].kind if isinstance(value, tree.Name) else value.kind

    def _text(self, kind: str, text: str) -> str | datetime | None:
        return as_date(text) if kind == "date" else text

    def _value(self, value: tree.Value) -> nw.Expr:
        match value:
            case tree.Name():
                column = self.columns[value.column]
                if column.dtype == nw.Decimal:
                    self.rounded[value.column] = column
                return nw.col(column.name)
            case tree.Arithmetic():
                return _compute(value.sign, self._fraction(value.left), self._fraction(value.right))
            case tree.Call(function="abs"):
                return self._fraction(value.operand).abs()
            case tree.Call():
                return _TEXT_FUNCTIONS[value.function](self._value(value.operand))
        raise AssertionError(value)


_TEXT_FUNCTIONS: dict[str, Callable[[nw.Expr], nw.Expr]] = {
    "length": lambda text: text.str.len_chars(),
    "lower": lambda text: text.str.to_lowercase(),
    "trim": lambda text: text.str.strip_chars(),
    "upper": lambda text: text.str.to_uppercase(),
}


def _compute(sign: str, left: nw.Expr, right: nw.Expr) -> nw.Expr:
    """Arithmetic in float64; NaN becomes missing."""
    if sign in "/%":
        right = nw.when(right != 0.0).then(right)
    result = left - right * _whole_part(left / right) if sign == "%" else _apply(sign, left, right)
    return nw.when(~is_nan(result)).then(result)


def _apply(sign: str, left: nw.Expr, right: Written | nw.Expr) -> nw.Expr:
    result: nw.Expr = SIGNS[sign](left, right)
    return result


def _whole_part(number: nw.Expr) -> nw.Expr:
    """The whole part; engines go through 64-bit integers, so large numbers, which are whole, stay as they are."""
    small = number.abs() < float(tree.LARGEST)
    safe = nw.when(small).then(number).otherwise(nw.lit(0.0))
    cut = nw.when(safe < 0.0).then(safe.ceil().cast(nw.Float64)).otherwise(safe.floor().cast(nw.Float64))
    return nw.when(small).then(cut).otherwise(number)


def _write(value: Written) -> Written | nw.Expr:
    """A literal; some engines need the type of whole numbers beyond Int64."""
    if not isinstance(value, int) or value <= _LARGEST_INT64:
        return value
    return nw.lit(value, nw.UInt64 if value <= _LARGEST_UINT64 else nw.Int128)


def combine_in_pairs(combine: Callable[[nw.Expr, nw.Expr], nw.Expr], each: Iterable[nw.Expr]) -> nw.Expr:
    """Combine expressions in pairs, so that a thousand of them are nested ten deep and not a thousand."""
    first, *others = each
    if not others:
        return first
    every, middle = [first, *others], (len(others) + 1) // 2
    return combine(combine_in_pairs(combine, every[:middle]), combine_in_pairs(combine, every[middle:]))


def _expression(pattern: str, any_case: bool) -> str:
    """LIKE as a regular expression that all engines read alike."""
    parts = (".*" if c == "%" else "." if c == "_" else _character(c, any_case) for c in re.sub("%+", "%", pattern))
    return f"(?s)^{''.join(parts)}{_END}$"


def _character(character: str, any_case: bool) -> str:
    forms = {form for form in (character.lower(), character.upper()) if len(form) == 1} if any_case else set()
    if len(forms | {character}) > 1:
        return f"[{''.join(sorted(forms | {character}))}]"
    return f"\\{character}" if character in r"\.+*?()|[]{}^$" else character
