"""How text files are written, as far as a user says so; it is passed on with the file's name."""

import codecs
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from stakes.errors import Given, InputError, several
from stakes.frozen import dataclass, fields
from stakes.tallies.checks import check_text

T = TypeVar("T")

MISSING = ("NA", "N/A", "n/a", "NULL", "null", "NaN", "nan")
"""Words for a missing value in text files, besides an empty field, unless ``na`` contains ""."""

_SPELLED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
"""Names of separators."""


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written; None is detected.

    ``skip`` lines stand above the header, ``na`` are the words for a missing value, ``percent`` says that scores are
    percentages.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    skip: int = 0
    na: tuple[str, ...] = MISSING
    percent: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "TextFormat | None":
        """The format that a user stated; None if there is nothing."""
        named = {one.name: given[one.name] for one in fields(cls) if given.get(one.name) not in (None, 0, False)}
        if "separator" in named:
            named["separator"] = _SPELLED.get(named["separator"], named["separator"])
        if "na" in named:
            words = (named["na"],) if isinstance(named["na"], str) else tuple(named["na"])
            named["na"] = words if "" in words else (*MISSING, *words)
        return cls(**named) if named else None

    @property
    def changes(self) -> list[str]:
        """The names of the fields that differ from the default."""
        return [field.name for field in fields(self) if getattr(self, field.name) != field.default]

    def __post_init__(self) -> None:
        for name in ("separator", "decimal", "encoding"):
            if getattr(self, name) is not None:
                check_text(name, getattr(self, name))
        if self.separator is not None and (len(self.separator.encode()) != 1 or self.separator in '"\r\n\0'):
            raise InputError(
                "bad-separator", Given("separator", self.separator), " is not one sign; give ',', ';', '|' or a tab"
            )
        if self.decimal is not None and (self.decimal not in (".", ",") or self.decimal == self.separator):
            why = "separates the fields, too" if self.decimal == self.separator else "is neither '.' nor ','"
            raise InputError("bad-decimal", Given("decimal", self.decimal), f" {why}; give the other one")
        if self.encoding is not None:
            _check_encoding(self.encoding)


FORMAT_OPTIONS = tuple(field.name for field in fields(TextFormat))
"""The options that say how text files are written."""


def _check_encoding(name: str) -> None:
    try:
        text = codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):
        text = False
    if not text:
        raise InputError(
            "no-such-encoding",
            Given("encoding", name),
            " does not exist; give 'utf-8', 'utf-16', 'windows-1252' or another of Python's",
        )


def in_format(data: Any, format: TextFormat | None) -> Any:
    """Add the format to the names of files; refuse it for anything that is not a file."""
    if format is None:
        return data
    names = data if isinstance(data, list | tuple) else [data]
    if not all(isinstance(name, str | os.PathLike) for name in names):
        raise InputError(
            "format-of-no-file",
            several(format.changes),
            " says how a text file is written, and the rows are not in one; leave that out, or name the file",
        )
    files = [FormattedFile(os.fspath(name), format) for name in names]
    return files if names is data else files[0]


_found: ContextVar[dict[str, None] | None] = ContextVar("found", default=None)
_opened: ContextVar[dict[Hashable, Any] | None] = ContextVar("opened", default=None)


@contextmanager
def hearing() -> Iterator[dict[str, None]]:
    """Collect what is detected about files within the block, and open each file only once."""
    found: dict[str, None] = {}
    tokens = _found.set(found), _opened.set({})
    try:
        yield found
    finally:
        _found.reset(tokens[0])
        _opened.reset(tokens[1])


def opened_once(file: Hashable, opened: Callable[[], T]) -> T:
    """Return the result for a file from the same block, or compute it."""
    cache = _opened.get()
    if cache is None:
        return opened()
    if file not in cache:
        cache[file] = opened()
    result: T = cache[file]
    return result


def is_new(words: str) -> bool:
    """Note what was detected about a file; return whether it is new."""
    found = _found.get()
    if found is None:
        return True
    known, found[words] = words in found, None
    return not known


@dataclass(frozen=True)
class FormattedFile(os.PathLike[str]):
    """The name of a file, and how it is written."""

    name: str
    format: TextFormat

    def __fspath__(self) -> str:
        return self.name
