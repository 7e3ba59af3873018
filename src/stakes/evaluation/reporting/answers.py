"""Questions with plain answers, as every verdict has them."""

from typing import Any

from stakes.evaluation.cautions import FEW_ROWS
from stakes.evaluation.reporting.segments import largest_segments
from stakes.metrics import Estimate
from stakes.views.report.payload import figure, metric, named, said

Answer = dict[str, Any]


def answer(question: str, tone: str, *sentences: dict[str, Any], figures: Any = (), **gaps: Any) -> Answer:
    """Return an answer: "good", "doubt", "bad", "note" or "open", in sentences, with the figures behind it."""
    shown = [figure(one) for one in figures]
    return {"question": said(question, **gaps), "tone": tone, "sentences": list(sentences), "figures": shown}


def side_of_chance(found: Estimate) -> str:
    """Whether an interval lies "above" chance, "below" it, or "around" it."""
    if found.low is None or found.high is None:
        return "around"
    return "above" if found.low > found.baseline else "below" if found.high < found.baseline else "around"


def better_in_words(side: str, worse: str = "verdict.better_worse") -> tuple[str, dict[str, Any]]:
    """Return tone and words of "is it better than ignoring the input?"; ``worse`` is what to say below chance."""
    return {
        "above": ("good", said("verdict.better_yes")),
        "around": ("doubt", said("verdict.better_unsure")),
        "below": ("bad", said(worse)),
    }[side]


def believed(evaluation: Any, found: Estimate, few: str, *more: dict[str, Any], figures: Any = ()) -> Answer:
    """Return the answer to "should we believe it?"; ``few`` is what to say where some group has few rows."""
    scarce = any(size < FEW_ROWS for size in evaluation._sizes().values())
    around = side_of_chance(found) == "around"
    words = said("verdict.believe_chance") if around else said(few if scarce else "verdict.believe_yes")
    sentences = [words, said("verdict.believe_rows", n=evaluation.rows)]
    if found.low is not None:
        limits = {"low": found.low, "high": found.high, "confidence": found.confidence}
        sentences.append(said("verdict.believe_interval", name=metric(found.name), **limits))
    tone = "doubt" if scarce or around else "good"
    return answer("verdict.believe", tone, *sentences, *more, figures=figures or [found])


def worst_segment(evaluation: Any, found: Estimate | None) -> tuple[bool, list[dict[str, Any]]]:
    """The segment in which a figure is worst, and whether its interval lies on the worse side of all rows."""
    if found is None or not evaluation.segments:
        return False, []
    parts = {name: part.interval(found.name) for name, part in largest_segments(evaluation)}
    sign = -1 if evaluation._find(found.name).better == "lower" else 1

    def at_best(one: Estimate) -> float:
        """The better end of the interval: a tiny segment is not the worst by chance."""
        end = one.high if sign > 0 else one.low
        return sign * (one.value if end is None else end)

    defined = {name: one for name, one in parts.items() if one.defined and one.low is not None}
    if not defined:
        return False, []
    worst = min(defined, key=lambda name: at_best(defined[name]))
    here = defined[worst]
    values = {"segment": named(worst), "name": metric(found.name), "value": here.value, "whole": found.value}
    if sign * here.value >= sign * found.value:  # easier within segments than across them
        return False, [said("verdict.where_better" if sign > 0 else "verdict.where_lower", **values)]
    near = here.high if sign > 0 else here.low
    apart = near is not None and sign * near < sign * found.value
    words = "verdict.where_apart" if sign > 0 else "verdict.where_above"
    return apart, [said(words if apart else "verdict.where_alike", **values)]
