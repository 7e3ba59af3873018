"""The syntax tree of a condition: values of a row, and tests of these. Nothing else exists."""

from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal

from stakes.errors import About, InputError, nearest, short

LARGEST = 2**53
"""Every whole number up to this is exact in float64."""


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────
class Value:
    """A value of a row; ``kind`` is its kind (a column's is known by its table), ``height`` how deep it is nested."""

    kind = ""
    height = 0


@dataclass(frozen=True)
class Name(Value):
    """A column; in double quotes or after a sign, text in single quotes may have been meant."""

    column: str
    may_be_text: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Number(Value):
    """A literal number."""

    value: int | Decimal
    kind = "number"


@dataclass(frozen=True)
class Text(Value):
    """Text in single quotes."""

    value: str
    kind = "text"


@dataclass(frozen=True)
class Arithmetic(Value):
    """An operation on two numbers."""

    sign: str
    left: Value
    right: Value
    height: int
    kind = "number"


@dataclass(frozen=True)
class Call(Value):
    """A function of one value."""

    function: str
    operand: Value
    height: int
    kind: str


# ── conditions ───────────────────────────────────────────────────────────────────────────────────────────────────
class Test:
    """A test of a row: true, false, or unknown because a value is missing."""


@dataclass(frozen=True)
class Truth(Value, Test):
    """TRUE or FALSE, which is a value too."""

    value: bool
    kind = "boolean"


@dataclass(frozen=True)
class Compare(Test):
    """Two values compared: = < <= > >=."""

    sign: str
    left: Value
    right: Value


@dataclass(frozen=True)
class In(Test):
    """A value that is one of several."""

    value: Value
    items: tuple[Value, ...]


@dataclass(frozen=True)
class Like(Test):
    """Text that matches a pattern: % stands for any characters, _ for one."""

    value: Value
    pattern: str
    any_case: bool


@dataclass(frozen=True)
class IsNull(Test):
    """A value that is missing."""

    value: Value


@dataclass(frozen=True)
class Not(Test):
    """The opposite."""

    part: Test


@dataclass(frozen=True)
class Several(Test):
    """AND (``every``) or OR of several tests."""

    every: bool
    parts: tuple[Test, ...]


@dataclass(frozen=True)
class Condition:
    """A parsed condition, and the columns that it names in order of appearance."""

    text: str
    tree: Test
    names: tuple[Name, ...]

    @property
    def columns(self) -> list[str]:
        """The names of the columns, each once."""
        return list(dict.fromkeys(name.column for name in self.names))

    def check(self, available: Collection[object]) -> None:
        """Refuse columns that do not exist."""
        for name in self.names:
            if name.column not in available:
                hint = nearest(name.column, map(str, available))
                if name.may_be_text and not hint.startswith(("; did you", "; the name")):
                    hint = f"; if the text {name.column!r} is meant, write it in single quotes"
                called = short(repr(name.column))
                raise InputError("no-column-of-condition", About("where"), f": there is no column {called}{hint}")
