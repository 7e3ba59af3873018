"""What was wrong, what was seen, what to do: the one place that words what users read when input is wrong.

Each function returns the error, or a sentence to warn with; the caller raises it. A text is one line: the argument or
column, what was seen (how many, the first row), and what to do about it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from stakes.text import visible

_LONGEST, _BEGINNING = 650, 400
"""Letters of a text: names from data may be of any length, and what to do stands at the end."""


class _OneLine(Exception):  # noqa: N818 - warnings are made of it, too
    """What is said stays on one line and can be seen, whatever names from data it quotes."""

    def __init__(self, text: object = "", *more: object) -> None:
        super().__init__(visible(str(text)), *more)


class StakesError(_OneLine):
    """Everything that stakes raises on purpose."""

    def __str__(self) -> str:
        text = super().__str__()
        return text if len(text) <= _LONGEST else f"{text[:_BEGINNING]} … {text[_BEGINNING - _LONGEST + 3 :]}"


class InputError(StakesError, ValueError):
    """The input or the call is wrong; the text says what was seen and what to do."""


class GapError(InputError):
    """Values are missing."""


class EmptyError(InputError):
    """There are no rows; ``dropped`` is how many were left out."""

    dropped = 0


class UnableError(StakesError):
    """The input may be right, but the work could not be done; the text says what was lacking."""


class LackOfMemoryError(UnableError, MemoryError):
    """There is less memory than the work takes."""


class MissingPartError(UnableError, ImportError):
    """An optional package is not installed."""


class InputWarning(_OneLine, UserWarning):
    """The input is allowed but probably not meant; the text says what was seen."""


class UndefinedWarning(_OneLine, UserWarning):
    """A metric has no value on these data; the text says why."""


def warn(text: str, category: type[Warning] = InputWarning) -> None:
    """Warn at the line of the caller's own code, however deep in stakes the thing was noticed."""
    import sys
    import warnings
    from pathlib import Path

    here, depth = str(Path(__file__).parents[1]), 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)


# A text is only wanted once something is wrong, so its file is not read before.
_TOPICS = (
    "arguments",
    "calibration",
    "cautions",
    "columns",
    "command_line",
    "comparisons",
    "conditions",
    "costs",
    "files",
    "gates",
    "labels",
    "metrics",
    "permutation",
    "pictures",
    "resources",
    "rules",
    "scores",
    "systems",
    "tallies",
    "validation",
    "words",
)

if TYPE_CHECKING:
    from stakes.errors.arguments import *
    from stakes.errors.calibration import *
    from stakes.errors.cautions import *
    from stakes.errors.columns import *
    from stakes.errors.command_line import *
    from stakes.errors.comparisons import *
    from stakes.errors.conditions import *
    from stakes.errors.costs import *
    from stakes.errors.files import *
    from stakes.errors.gates import *
    from stakes.errors.labels import *
    from stakes.errors.metrics import *
    from stakes.errors.permutation import *
    from stakes.errors.pictures import *
    from stakes.errors.resources import *
    from stakes.errors.rules import *
    from stakes.errors.scores import *
    from stakes.errors.systems import *
    from stakes.errors.tallies import *
    from stakes.errors.validation import *
    from stakes.errors.words import *


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        for topic in _TOPICS:
            found = vars(importlib.import_module(f"stakes.errors.{topic}")).get(name)
            if getattr(found, "__module__", "").startswith("stakes.errors"):  # a text, not what its file imports
                globals()[name] = found
                return found
    raise AttributeError(f"module 'stakes.errors' has no attribute {name!r}")
