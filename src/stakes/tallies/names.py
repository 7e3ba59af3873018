"""Names: what a class is called (the one label rule, wherever a label comes from), and several of them in words."""

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np

FIGURE = r"(?P<name>\w+(?:[ -]\w+)*\s*(?:\([^()]*\))?)\s*(?:\[(?P<of>.+)\])?"
"""How a figure is written: ``auc``, ``f_beta(beta=2)``, of a class ``f1[setosa]``, or as in the text, ``log loss``."""


def canonical(value: object) -> str:
    """Return the class that a value stands for: 1 and 1.0 are the class ``1``, True is ``true``."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def figure_of_class(text: str) -> tuple[str, str] | None:
    """Return the figure and the class of ``f1[setosa]``; None where no class is named."""
    found = re.fullmatch(rf"\s*{FIGURE}\s*", text)
    return None if found is None or found["of"] is None else (found["name"].strip(), found["of"])


def read_limit(text: str) -> float | None:
    """Return the limit of a figure, ``0.9`` or ``90%``; None where it is no finite number."""
    number = text.strip().removesuffix("%")
    try:
        value = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def written_of_class(figure: object, of: object) -> str:
    """Write a figure of a class: ``f1[setosa]``."""
    return f"{figure}[{canonical(of)}]"


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
