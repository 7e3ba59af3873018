"""Arguments that a text mentions, kept as data: Python and the command line each write them in their own way."""

from collections.abc import Callable, Sequence

from stakes.errors.words import first_row, rows_text, short
from stakes.text import visible

__all__ = ["About", "Given", "Pass", "Text", "in_python", "in_rows", "several"]


class Pass:
    """An argument to pass, or to leave out: ``positive='yes'`` in Python, ``--positive yes`` on the command line.

    ``each`` is what is given for each class (``score={class: column, …}``); ``parts`` make up a value that has a name
    of its own there: ``Pass("costs", miss=5, false_alarm=1)``. Without a value (``...``) the name alone is mentioned.
    """

    def __init__(self, name: str, value: object = ..., /, *, each: str = "", **parts: object) -> None:
        self.name, self.value, self.each, self.parts = name, value, each, parts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({in_python(self)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def to_dict(self) -> dict[str, str]:
        """Return the argument as data."""
        return {"argument": in_python(self)}


class Given(Pass):
    """An argument as it was given, which the text is about."""


class About(Given):
    """An argument that the text is about, named as a word: the truth, the score."""


def in_python(mention: Pass) -> str:
    """Write an argument as a call has it."""
    if isinstance(mention, About):
        return mention.name
    if mention.parts:
        inner = ", ".join(f"{name}={value!r}" for name, value in mention.parts.items())
        return f"{mention.name}={mention.name.capitalize()}({inner})"
    if mention.each:
        return f"{mention.name}={{class: {mention.each}, …}}"
    return f"{mention.name}=" + ("" if mention.value is ... else short(repr(mention.value)))


class Text(str):
    """A sentence with the arguments that it mentions; as a plain string it is written for Python."""

    parts: tuple[str | Pass, ...]

    def __new__(cls, *parts: str | Pass) -> "Text":
        """Join the parts; a part that is a text adds its own parts."""
        flat = tuple(one for part in parts for one in (part.parts if isinstance(part, Text) else (part,)))
        made = super().__new__(cls, _write(flat, in_python))
        made.parts = flat
        return made

    def __reduce__(self) -> tuple[type["Text"], tuple[str | Pass, ...]]:
        return type(self), self.parts

    def written(self, face: Callable[[Pass], str]) -> str:
        """Return the sentence with its arguments as ``face`` writes them."""
        return _write(self.parts, face)


def several(names: Sequence[str]) -> Text:
    """Return some arguments that were given, with commas between them."""
    return Text(*[part for name in names for part in (", ", Given(name))][1:])


def in_rows(count: int, first: int | None) -> Text:
    """Return in how many rows something is wrong, and where to look first."""
    return Text(f"in {rows_text(count)} (", first_row(first), ")")


def _write(parts: Sequence[str | Pass], face: Callable[[Pass], str]) -> str:
    return "".join(visible(part if isinstance(part, str) else face(part)) for part in parts)
