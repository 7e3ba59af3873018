"""Results as data: the fields of a result are described once, by its class.

A class derived from :class:`Record` names the fields and properties that make up its data; ``to_dict()`` and
``to_json()`` come from those names, and the JSON schemas in ``stakes/schema`` from the types that they are annotated
with (``tools/pages`` writes them). So data and schema cannot differ from the class, nor from each other.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, TypeAlias

from stakes.frozen import dataclass
from stakes.results import Door
from stakes.text import as_json


@dataclass(frozen=True)
class Says:
    """What a schema says about a value beyond its type: a description, limits, and whether a number is always known."""

    about: str = ""
    minimum: float | None = None
    maximum: float | None = None
    known: bool = False
    least_items: int | None = None
    axes: int = 1


Plain: TypeAlias = dict[str, Any]
"""Data by name, as JSON has them."""

Count = Annotated[int, Says(minimum=0)]
Positive = Annotated[int, Says(minimum=1)]
Finite = Annotated[float, Says(known=True)]
Share = Annotated[float, Says(known=True, minimum=0, maximum=1)]
RowCount = Annotated[float, Says("The number of rows, or their weight.", known=True, minimum=0)]


@dataclass(frozen=True)
class Entry:
    """One entry of a record's data: its name, and the path of attributes that leads to it."""

    name: str
    path: str
    optional: bool = False
    spread: bool = False

    @classmethod
    def parsed(cls, text: str) -> "Entry":
        """Read ``name``, ``name=path.to.it`` or ``name=method()``; ``name?`` is left out where it is None or empty.

        ``*name`` stands for the entries of another record, if there is one.
        """
        name, _, path = text.partition("=")
        bare = name.strip("*?")
        return cls(bare, path or bare, name.endswith("?"), name.startswith("*"))

    def of(self, record: object) -> Plain:
        """What it adds to the data of a record."""
        value = attrgetter(self.path.removesuffix("()"))(record)
        value = value() if self.path.endswith("()") else value
        if self.spread:
            return {} if value is None else value.data()
        return {} if self.optional and value in (None, "") else {self.name: value}


class Record:
    """A result that turns into plain data.

    A subclass gives the name of its data (``stakes=``), the version of their form (``form=``), and their entries in
    order (``shown=``): names of fields or properties, see :meth:`Entry.parsed`; ``*`` stands for all fields of the
    dataclass, which is also the default.
    """

    record_name: ClassVar[str] = ""
    record_form: ClassVar[int | None] = None
    record_shown: ClassVar[str] = "*"

    def __init_subclass__(cls, *, stakes: str = "", form: int | None = 1, shown: str = "", **more: object) -> None:
        super().__init_subclass__(**more)
        if stakes:
            cls.record_name, cls.record_form = stakes, form
        if shown:
            cls.record_shown = shown

    def data(self) -> Plain:
        """Return the entries by name, with their values as they are."""
        kind: type = type(self)
        return {name: value for entry in entries_of(kind) for name, value in entry.of(self).items()}

    def to_dict(self, lang: str | None = None) -> Plain:
        """Return everything as plain data, ready for JSON: undefined is None, infinite numbers are texts.

        Sentences are in the language ``lang``, by default that of the question.
        """
        chosen = lang or getattr(self, "lang", None)
        with nullcontext() if chosen is None else Door.speaking(chosen):
            return {name: as_data(value) for name, value in (head_of(type(self)) | self.data()).items()}

    def to_json(self, indent: int | None = 2, lang: str | None = None) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return as_json(self.to_dict(lang), indent)


@cache
def entries_of(kind: type) -> tuple[Entry, ...]:
    """The entries of a record, or of any dataclass: as declared, or else all fields."""
    own = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    words = getattr(kind, "record_shown", "*").split()
    return tuple(Entry.parsed(name) for word in words for name in (own if word == "*" else [word]))


def head_of(kind: type) -> Plain:
    """What the data of a record begin with: their name, and the version of their form."""
    name, form = getattr(kind, "record_name", ""), getattr(kind, "record_form", None)
    return {**({"stakes": name} if name else {}), **({} if form is None else {"format": form})}


def as_data(value: Any) -> object:
    """Return what JSON can hold: records by their entries, undefined numbers as None, infinite ones as texts."""
    if isinstance(value, float):
        return plain(value)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {name: as_data(part) for name, part in value.items()}
    if isinstance(value, list | tuple | Iterator):
        return [as_data(part) for part in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        kind: type = type(value)
        return {entry.name: as_data(getattr(value, entry.name)) for entry in entries_of(kind)}
    return as_data(value.tolist())  # an array, or a number of NumPy's


def plain(value: object) -> object:
    """Return a number as JSON can hold it: undefined is None, infinite is a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
