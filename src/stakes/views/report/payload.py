"""The words in which a payload is written: sentences by their keys, numbers as JSON can hold them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from stakes.metrics import Estimate
from stakes.question.options import Value
from stakes.records import Plain, plain
from stakes.text import visible

MOST = 50
"""Lists are cut to this many entries."""

_LONGEST = 80


def page(title: Plain, facts: Sequence[Plain], sections: Sequence[Plain]) -> Plain:
    """Return a payload: a title, facts in a line below it, and sections in their order."""
    return {"title": title, "facts": list(facts), "sections": list(sections)}


def section(kind: str, **data: object) -> Plain:
    """Return a section of a kind that ``script/sections`` draws.

    A second section of the same kind on one page needs an ``id`` and a ``title`` (a sentence) of its own.
    """
    return {"kind": kind, **data}


def said(key: str, **values: Value) -> Plain:
    """Return a sentence of the catalogue with what fills its gaps.

    A name of a metric is written ``metric("auc")``; a list of names is told with commas and "and".
    """
    return {"text": key, "values": {name: _as_json(value) for name, value in values.items()}}


def metric(name: str) -> dict[str, str]:
    """Return a metric to be named in the language of the page."""
    return {"metric": name}


def reason(words: str) -> dict[str, str]:
    """Return a declared reason, to be told in the language of the page."""
    return {"reason": words}


def named(name: object) -> str:
    """Return a name from the data, cut to a length that a page can show."""
    text = visible(str(name))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def figure(estimate: Estimate) -> Plain:
    """Return a figure with its interval, what ignoring the input would score, and why it is undefined."""
    kept = {name: plain(getattr(estimate, name)) for name in ("value", "low", "high", "baseline")}
    return {"name": estimate.name, **kept, **({"reason": estimate.reason} if estimate.reason else {})}


def listed(values: ArrayLike) -> list[Value]:
    """Return plain numbers of an array; what is not finite is None."""
    return [None if isinstance(one, float) and not np.isfinite(one) else one for one in np.asarray(values).tolist()]


def span(values: ArrayLike) -> tuple[float, float]:
    """Return the lowest and the highest value, with room around what is the same but for rounding."""
    low, high = float(np.min(values)), float(np.max(values))
    size = max(abs(low), abs(high))
    room = max(0.5, 1e-6 * size)
    return (low, high) if high - low > 1e-9 * size else (low - room, high + room)


def _as_json(value: Value) -> object:
    if isinstance(value, str):
        return named(value)
    if isinstance(value, list):
        return [named(one) for one in value]
    if value is None or isinstance(value, dict | int):
        return value
    return plain(float(value))
