"""Names: what a class is called (the one label rule, wherever a label comes from), and several of them in words."""

from collections.abc import Iterable, Sequence

import numpy as np


def canonical(value: object) -> str:
    """Return the class that a value stands for: 1 and 1.0 are the class ``1``, True is ``true``."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def read_names(saved: Iterable[object]) -> tuple[str, ...]:
    """Return names that were saved: different texts, none of them empty."""
    found = tuple(saved)
    names = tuple(name for name in found if isinstance(name, str) and name)
    if len(set(names)) != len(found):
        raise ValueError("names that are no different texts")
    return names


def and_list(names: Sequence[str]) -> str:
    """List names in words."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
