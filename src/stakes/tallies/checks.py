"""Checks of plain arguments that many functions share."""

import numbers
from typing import Any

from stakes import errors
from stakes.tallies.arithmetic import is_real


def check_share(argument: str, value: Any) -> float:
    """Return a share as a float; refuse what is no number from 0 to 1."""
    if not is_real(value) or not 0 <= value <= 1:
        raise errors.not_a_share(argument, value)
    return float(value)


MOST_REPEATS = 10_000_000
"""How often anything is done, and into how many parts rows are dealt: more would never end, or not fit into memory."""


def check_whole(argument: str, value: Any, least: int, most: float = MOST_REPEATS) -> None:
    """Refuse what is no whole number in this range."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= int(value) <= most:
        raise errors.not_whole(argument, value, least, most)
