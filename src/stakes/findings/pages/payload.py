"""The parts of a payload: sections by their kind, numbers as JSON can hold them, findings as cards and cautions."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from stakes.language.sentences import Finding, Sentence
from stakes.metrics import Estimate
from stakes.question.options import Value
from stakes.records import plain

Part: TypeAlias = dict[str, object]
"""A part of a page as data: a section, a figure."""


def section(kind: str, **data: object) -> Part:
    """Return a section of a kind that ``script/sections`` draws.

    A second section of the same kind on one page needs an ``id`` and a ``title`` (a sentence) of its own.
    """
    return {"kind": kind, **data}


def verdict_section(findings: Iterable[Finding]) -> Part:
    """Return the section of the questions with their answers, and what a careful colleague would point out."""
    found = list(findings)
    answers = [
        {
            "question": Sentence(one.key, one.asked),
            "tone": one.tone,
            "sentences": one.sentences,
            "figures": one.figures,
        }
        for one in found
        if one.answers
    ]
    cautions = [{"tone": one.tone, "sentences": one.sentences} for one in found if not one.answers]
    return section("verdict", answers=answers, cautions=cautions)


def figure(estimate: Estimate) -> Part:
    """Return a figure with its interval, what ignoring the input would score, and why it is undefined."""
    kept = {name: plain(getattr(estimate, name)) for name in ("value", "low", "high", "baseline")}
    return {"name": estimate.name, **kept, **({"reason": estimate.reason} if estimate.reason else {})}


def listed(values: ArrayLike) -> list[Value]:
    """Return plain numbers of an array; what is not finite is None."""
    return [None if isinstance(one, float) and not np.isfinite(one) else one for one in np.asarray(values).tolist()]


def span(values: ArrayLike) -> tuple[float, float]:
    """Return the lowest and the highest value, widened where they are equal within rounding."""
    low, high = float(np.min(values)), float(np.max(values))
    size = max(abs(low), abs(high))
    room = max(0.5, 1e-6 * size)
    return (low, high) if high - low > 1e-9 * size else (low - room, high + room)
