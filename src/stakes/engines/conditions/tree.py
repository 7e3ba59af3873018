"""The parts of a condition that was read: values of a row, and what can be true of them. Nothing else exists."""

from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal

from stakes.errors import About, InputError, nearest, short

LARGEST = 2**53
"""Up to here every whole number is a float64."""


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────
class Value:
    """What a row has one of; ``kind`` is what it is (of a column its table tells), ``height`` how deep it is nested."""

    kind = ""
    height = 0


@dataclass(frozen=True)
class Name(Value):
    """A column; where it stands in double quotes or after a sign, text in single quotes may have been meant."""

    column: str
    may_be_text: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Number(Value):
    """A number as it is written."""

    value: int | Decimal
    kind = "number"


@dataclass(frozen=True)
class Text(Value):
    """Text in single quotes."""

    value: str
    kind = "text"


@dataclass(frozen=True)
class Arithmetic(Value):
    """Two numbers put together."""

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
    """What is true or false of a row, or unknown because something is missing."""


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
    """Text that has a form: % stands for any characters, _ for one."""

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
    """``every`` one of these at once, or one of them at least."""

    every: bool
    parts: tuple[Test, ...]


@dataclass(frozen=True)
class Condition:
    """A condition that was read, and the columns that it names, in their order."""

    text: str
    tree: Test
    names: tuple[Name, ...]

    @property
    def columns(self) -> list[str]:
        """The names of the columns, each once."""
        return list(dict.fromkeys(name.column for name in self.names))

    def check(self, available: Collection[object]) -> None:
        """Refuse columns that are not there."""
        for name in self.names:
            if name.column not in available:
                hint = nearest(name.column, map(str, available))
                if name.may_be_text and not hint.startswith(("; did you", "; the name")):
                    hint = f"; if the text {name.column!r} is meant, write it in single quotes"
                called = short(repr(name.column))
                raise InputError("no-column-of-condition", About("where"), f": there is no column {called}{hint}")
