"""Checks of plain arguments that many functions share."""

import numbers
import os
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError
from stakes.tallies.arithmetic import Array, Values, is_real

if TYPE_CHECKING:
    from pathlib import Path

_DEEPEST = 100
"""More axes than any array has."""

MOST_BINS = 1_000_000
"""More bins than anybody looks at."""


def check_share(argument: str, value: object) -> float:
    """Return a share as a float; refuse what is no number from 0 to 1."""
    if not is_real(value) or not 0 <= value <= 1:
        raise InputError(
            "not-a-share", Given(argument, value), " is no share; give a number from 0 to 1, such as 0.05 for 5 %"
        )
    return float(value)


def check_harm(value: object) -> float:
    """Return what asking a model costs as a float; refuse what is no number from 0 on."""
    if not is_real(value) or not 0 <= value < np.inf:
        raise InputError("bad-harm", Given("harm", value), " is no cost of asking; give a number from 0 on")
    return float(value)


def check_baseline(value: object) -> float:
    """Return the constant that predicted numbers are compared with as a float; refuse what is no finite number."""
    if not is_real(value) or not np.isfinite(float(value)):
        raise InputError("bad-baseline", Given("baseline", value), " is not a finite number; give one number")
    return float(value)


def is_one_of(value: object, known: Container[str]) -> TypeGuard[str]:
    """Whether a value is a text among these; arrays are not, whatever ``==`` gives for them."""
    return isinstance(value, str) and value in known


def check_flag(argument: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError("not-a-flag", Given(argument, value), " does not work; give True or False")


def check_text(argument: str, value: object) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise InputError("no-text", Given(argument, value), " is no text; give it in quotes")


def is_sequence(value: object) -> TypeGuard[Sequence[Values]]:
    """Whether a value holds things in an order; an array without axes holds none."""
    return value.ndim > 0 if isinstance(value, np.ndarray) else isinstance(value, Sequence)


def as_list(value: Values) -> list[Values] | None:
    """Return what an iterable holds; None for what is none, such as an array without axes."""
    try:
        return list(value)
    except TypeError:
        return None


def depth(given: Values) -> int:
    """How deeply lists are nested, if not endlessly; arrays know it."""
    levels = 0
    while isinstance(given, list | tuple) and levels < _DEEPEST:
        levels, given = levels + 1, given[0] if given else None
    return levels + int(getattr(given, "ndim", 0))


def refuse_masked(argument: str, values: Values, needed: bool = False) -> None:
    """Refuse rows that NumPy hides behind a mask, which other arrays made of them would show."""
    if type(values) is np.ndarray:
        return
    if isinstance(values, np.ma.MaskedArray) and values.ndim:
        hidden = np.flatnonzero(np.ma.getmaskarray(values).reshape(len(values), -1).any(axis=1))
    else:
        hidden = np.flatnonzero([np.ma.is_masked(row) for row in values] if isinstance(values, list | tuple) else [])
    if len(hidden):
        raise errors.missing_values(argument, len(hidden), int(hidden[0]), needed)


def as_rows(axis: int = 0, **columns: Values) -> list[Array]:
    """Return columns of numbers as arrays of one length (along an axis); their values are not looked at."""
    found: dict[str, Array] = {}
    for name, values in columns.items():
        refuse_masked(name, values)
        try:
            array = np.asarray(values)
        except ValueError:
            raise errors.not_a_column(name, "a list of rows of different lengths") from None
        if array.ndim == 0 or (axis == 0 and array.ndim > 1):
            raise errors.not_a_column(name, f"an array of shape {array.shape}" if array.ndim else "a single value")
        if array.dtype.kind not in "biuf":
            raise errors.not_numbers(name, f"{array.dtype} values")
        found[name] = array
    (first, wanted), *others = ((name, array.shape[axis]) for name, array in found.items())
    for name, length in others:
        if length != wanted:
            raise errors.wrong_length(name, length, wanted, first)
    return list(found.values())


def check_class(argument: str, name: object) -> None:
    """Refuse a class that is no text."""
    if not isinstance(name, str):
        raise InputError("not-a-class", Given(argument, name), " is no class; give its name as a text")


def as_path(argument: str, value: object) -> "Path":
    """Return the name of a file as a path; refuse what is no name."""
    if not isinstance(value, str | os.PathLike) or not str(value).strip() or "\0" in str(value):
        raise InputError("not-a-path", Given(argument, value), " is no name of a file; give a text or a path")
    from pathlib import Path  # takes longer to load than all of this

    return Path(value)


def check_threshold(threshold: object) -> None:
    """Refuse what is no threshold."""
    if not is_real(threshold) or threshold != threshold:
        raise errors.bad_threshold(threshold)


MOST_REPEATS = 10_000_000
"""Most repeats of anything, and most folds: more would never end, or not fit into memory."""


def check_whole(argument: str, value: object, least: int, most: float = MOST_REPEATS) -> None:
    """Refuse what is no whole number in this range."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= int(value) <= most:
        end = f"to {most:,}" if isinstance(value, int) and value > most else "on"
        raise InputError("not-whole", Given(argument, value), f" does not work; give a whole number from {least} {end}")


def check_auc_error(error: object) -> None:
    """Refuse what is no error that an auc can have."""
    if error is None or (isinstance(error, int | float) and not isinstance(error, bool) and 0 < error < 1):
        return
    raise InputError("bad-auc-error", Given("auc_error", error), " is how far the auc may be off: between 0 and 1")
