"""Thresholds with the digits that matter: as few as decide these rows alike."""

import math
from collections.abc import Iterable

from stakes.tallies import ScoreTable

_LEAST, _MOST = 4, 6
"""How many digits a threshold is shown with."""


def round_threshold(table: ScoreTable | None, threshold: float) -> float:
    """Return a threshold as it is shown: with four digits, or as many as tell it from the neighbouring scores."""
    if table is not None and math.isfinite(threshold):
        for digits in range(_LEAST, _MOST):
            for one in _candidates(threshold, digits):
                if _decide_alike(table, threshold, one):
                    return one
    return with_digits(threshold)


def with_digits(threshold: float, digits: int = _MOST) -> float:
    """Return a threshold with so many digits."""
    return float(f"{threshold:.{digits}g}")


def _candidates(threshold: float, digits: int) -> Iterable[float]:
    """The nearest number with so many digits, and the next one below: a score itself must not be left out."""
    nearest = with_digits(threshold, digits)
    yield nearest
    if nearest > threshold:
        yield with_digits(nearest - 10.0 ** (math.floor(math.log10(abs(threshold))) + 1 - digits), digits)


def _decide_alike(table: ScoreTable, one: float, other: float) -> bool:
    if one == other:
        return True
    if not (table.answers(one) and table.answers(other)):
        return False
    here, there = table.at(one), table.at(other)
    return bool(here.tp == there.tp and here.fp == there.fp)
