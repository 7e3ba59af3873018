"""The texts that users read when input is wrong: what was wrong, what was seen, what to do.

Each function returns the error, or a sentence to warn with; the caller raises it. A text is one line: the argument or
column, what was seen (how many, the first row), and what to do about it.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from stakes.errors.mentions import *
from stakes.errors.mentions import Given, Pass, Text, in_python
from stakes.errors.words import *
from stakes.errors.words import FirstRow, Place, first_row
from stakes.frozen import dataclass, replace

_LONGEST, _BEGINNING = 650, 400
"""Letters of a text: names from data may be of any length, and what to do stands at the end."""


class OneLine(Exception):  # noqa: N818 - warnings are made of it, too
    """A message on one visible line, whatever names from data it quotes.

    ``code`` names the kind of problem, and stays when words change (docs/errors.md lists all of them).
    """

    def __init__(self, code: str, *parts: str | Pass) -> None:
        super().__init__(code, *parts)
        self.code, self.text = code, Text(*parts)

    @property
    def argument(self) -> str | None:
        """The argument that this is about, if there is one."""
        return next((part.name for part in self.text.parts if isinstance(part, Given)), None)

    @property
    def advice(self) -> list[Pass]:
        """The arguments that would help."""
        return [part for part in self.text.parts if isinstance(part, Pass) and not isinstance(part, Given)]

    def written(self, face: Callable[[Pass], str]) -> str:
        """Return the text with its arguments as ``face`` writes them; very long texts lose their middle."""
        text = self.text.written(face)
        return text if len(text) <= _LONGEST else f"{text[:_BEGINNING]} … {text[_BEGINNING - _LONGEST + 3 :]}"

    def within(self, place: str, more: str | Text = "") -> Self:
        """Return the same problem with the place where it was met, and perhaps more at its end."""
        return type(self)(self.code, f"{place}: ", self.text, more)

    def located(self, place: Callable[[int], str]) -> Self:
        """Return the same problem, with the place in a file instead of the number of a row."""
        return self._pointing(lambda row: f"the first is in {place(row)}")

    def renumbered(self, number: Callable[[int], int]) -> Self:
        """Return the same problem, with the number that its row had before others were left out."""
        return self._pointing(lambda row: FirstRow(number(row)))

    def unnumbered(self) -> Self:
        """Return the same problem of a table whose rows come in no order, and have no numbers."""
        return self._pointing(lambda row: first_row(None))

    def _pointing(self, to: Callable[[int], str]) -> Self:
        parts = self.text.parts
        if not any(isinstance(part, FirstRow) for part in parts):
            return self
        return type(self)(self.code, *(to(part.row) if isinstance(part, FirstRow) else part for part in parts))

    def __str__(self) -> str:
        return self.written(in_python)


class StakesError(OneLine):
    """Everything that stakes raises on purpose."""


class InputError(StakesError, ValueError):
    """The input or the call is wrong; the text says what was seen and what to do.

    ``wrong`` are the rows that it is about, where single rows are wrong.
    """

    wrong: "WrongRows | None" = None

    @property
    def row(self) -> int | None:
        """The number of the first row that it is about, from 0 on."""
        return next((part.row for part in self.text.parts if isinstance(part, FirstRow)), None)

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...], dict[str, object]]:
        return type(self), self.args, {**vars(self), "wrong": None}  # functions do not travel between processes

    def _pointing(self, to: Callable[[int], str]) -> Self:
        found = super()._pointing(to)
        if (wrong := self.wrong) is not None and found is not self:
            found.wrong = replace(wrong, tell=lambda *of: wrong.tell(*of)._pointing(to))
        return found


@dataclass(frozen=True, eq=False)
class WrongRows:
    """Rows that are wrong in the same way: how many, some words that they hold, and how to tell of more of them."""

    count: int
    tell: Callable[..., InputError]
    words: tuple[str, ...] = ()

    def error(self) -> InputError:
        """The error about these rows."""
        problem = self.tell(self.count, *self.words)
        problem.wrong = self
        return problem

    @classmethod
    def together(cls, parts: "list[WrongRows]") -> InputError:
        """The error about the rows of several parts, as the first of them tells it."""
        words = dict.fromkeys(word for part in parts for word in part.words)
        return replace(parts[0], count=sum(part.count for part in parts), words=tuple(words)).error()


class GapError(InputError):
    """Values are missing."""

    def located(self, place: Callable[[int], str]) -> Self:
        """Add how to keep a class whose name means a missing value in text files."""
        places: dict[int, str] = {part.row: place(part.row) for part in self.text.parts if isinstance(part, FirstRow)}
        found = super().located(places.__getitem__)
        word = next((one.word for one in places.values() if isinstance(one, Place)), "")
        if not word or self.argument not in ("truth", "prediction"):
            return found
        return type(self)(self.code, found.text, f"; if {word} is a class, pass ", Pass("na", ""))


class EmptyError(InputError):
    """There are no rows; ``dropped`` is how many were left out."""

    dropped = 0


class UnableError(StakesError):
    """The input may be right, but the work could not be done; the text says what was lacking."""


class LackOfMemoryError(UnableError, MemoryError):
    """There is less memory than the work takes."""


class MissingPartError(UnableError, ImportError):
    """An optional package is not installed."""


class InputWarning(OneLine, UserWarning):
    """The input is allowed but probably not meant; the text says what was seen."""


class UndefinedWarning(OneLine, UserWarning):
    """A metric has no value on these data; the text says why."""


Problem = TypeVar("Problem", bound=OneLine)


class Pointer(Protocol):
    """Adds the place of a row to a problem."""

    def __call__(self, problem: Problem, /) -> Problem:
        """Return the same problem with the place."""


_pointers: ContextVar[tuple[Pointer, ...]] = ContextVar("pointers", default=())
"""Those of the blocks that are entered, the innermost last."""


@contextmanager
def pointing(to: Pointer) -> Iterator[None]:
    """Add the place of a row to errors and warnings of the block: ``to`` does it."""
    token = _pointers.set((*_pointers.get(), to))
    try:
        yield
    except InputError as problem:
        raise to(problem) from None
    finally:
        _pointers.reset(token)


def warn(code: str, *parts: str | Pass, category: type[InputWarning | UndefinedWarning] = InputWarning) -> None:
    """Warn at the line of the caller's own code, however deep in stakes the problem was noticed."""
    import sys
    import warnings
    from pathlib import Path

    here, depth = str(Path(__file__).parents[1]), 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame, depth = frame.f_back, depth + 1
    problem = category(code, *parts)
    for point in reversed(_pointers.get()):
        problem = point(problem)
    warnings.warn(problem, stacklevel=depth)


if TYPE_CHECKING:
    from stakes.errors.borrowed import *
    from stakes.errors.calibration import *
    from stakes.errors.columns import *
    from stakes.errors.comparisons import *
    from stakes.errors.conditions import *
    from stakes.errors.costs import *
    from stakes.errors.files import *
    from stakes.errors.labels import *
    from stakes.errors.metrics import *
    from stakes.errors.resources import *
    from stakes.errors.scores import *
    from stakes.errors.systems import *
    from stakes.errors.tallies import *
    from stakes.errors.validation import *


def __getattr__(name: str) -> object:
    """Find a text in the file of its topic, which is only read once something is wrong."""
    import pkgutil
    from pathlib import Path

    if not name.startswith("_"):
        for topic in pkgutil.iter_modules([str(Path(__file__).parent)]):
            found = vars(importlib.import_module(f"stakes.errors.{topic.name}")).get(name)
            if getattr(found, "__module__", "").startswith("stakes.errors"):  # a text, not what its file imports
                globals()[name] = found
                return found
    raise AttributeError(f"module 'stakes.errors' has no attribute {name!r}")
