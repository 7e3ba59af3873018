"""How the fields of a tally add up and are saved: declared beside each field, done by :class:`Tally`."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies import names

Value = Any
"""The value of a field, in memory or in a file."""

Content = dict[str, Value]
"""What is saved of a tally, by the names of its fields: names, numbers and arrays."""


def _as_it_is(value: Value) -> Value:
    return value


@dataclass(frozen=True)
class How:
    """How a field adds up over parts, how it is saved, and how it is read and checked again.

    A field that is None in a part is None in the whole. ``same`` names what must agree before tallies are added,
    ``tell`` returns it.
    """

    add: Callable[[list[Value]], Value] = lambda values: values[0]
    save: Callable[[Value], Value] = _as_it_is
    load: Callable[[Value], Value] = _as_it_is
    same: str = ""
    tell: Callable[[Value], object] = _as_it_is
    saved: bool = True

    def added(self, values: list[Value]) -> Value:
        """The value of the whole."""
        return None if any(value is None for value in values) else self.add(values)

    def to_file(self, value: Value) -> Value:
        """What is saved: names, numbers and arrays."""
        return None if value is None else self.save(value)

    def from_file(self, value: Value) -> Value:
        """What was saved, checked."""
        return None if value is None else self.load(value)


def how(**facts: Value) -> Mapping[str, How]:
    """Declare how a field of a tally behaves; see :class:`How`."""
    return {"how": How(**facts)}


def same(words: str, **facts: Value) -> Mapping[str, How]:
    """Declare names that must be the same in all parts."""
    return how(**{"save": list, "load": names.read_names, "same": words, **facts})


def say_weighting(weighted: bool) -> str:
    """Say whether rows have weights."""
    return "weighted" if weighted else "unweighted"


WEIGHTED = how(load=bool, same="weighting", tell=say_weighting)
"""Whether rows have weights: in all parts, or in none."""

SUMMED = how(add=lambda values: np.sum(values, axis=0), load=np.asarray)
"""An array that adds up."""

SUMMED_FLOATS = how(add=lambda values: np.sum(values, axis=0), load=lambda saved: np.asarray(saved, np.float64))
"""The same, of floating numbers."""

TOTAL = how(add=math.fsum)
"""A number that adds up."""

IN_MEMORY = how(saved=False)
"""What is not saved."""
