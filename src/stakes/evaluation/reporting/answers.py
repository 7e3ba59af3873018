"""Questions with plain answers, as every verdict has them."""

from collections.abc import Iterable, Sequence

from stakes.evaluation import cautions
from stakes.evaluation.base import Evaluation
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.figures import largest_segments
from stakes.metrics import Estimate
from stakes.views.report.payload import MOST, figure, metric, named, said, section


def answer(
    question: str, tone: str, /, *sentences: Part, figures: Iterable[Estimate | Part] = (), **gaps: object
) -> Part:
    """Return an answer: "good", "doubt", "bad", "note" or "open", in sentences, with the figures behind it."""
    shown = [figure(one) if isinstance(one, Estimate) else one for one in figures]
    return {"question": said(question, **gaps), "tone": tone, "sentences": list(sentences), "figures": shown}


def verdict(evaluation: Evaluation, *answers: Part) -> Part:
    """Return the section of the questions with their answers, and what a careful colleague would point out."""
    found = []
    for one in cautions.cautions(evaluation):
        figures = {name: metric(str(value)) for name, value in one.values.items() if name == "figure"}
        found.append(said(one.key, **{**one.values, **figures}))
    if evaluation.task == "binary" and evaluation.pricing is not None and evaluation.pricing.costs.columns:
        found.append(said("caution.costs_by_row"))
    return section("verdict", answers=list(answers), cautions=found[:MOST])


def known_figures(evaluation: Evaluation, *names: str) -> list[Estimate]:
    """Return those of the figures that there are."""
    found = (evaluation.figures.get(name) for name in names)
    return [one for one in found if one is not None and one.defined]


def limits(key: str, found: Estimate, per: int = 1, **values: object) -> list[Part]:
    """Return the sentence about an interval, told for so many cases, if there is one."""
    if found.low is None or found.high is None:
        return []
    return [said(key, **values, low=per * found.low, high=per * found.high, confidence=found.confidence)]


def side_of(found: Estimate, value: float) -> int:
    """Return 1 for an interval that lies above a value, −1 below it, and 0 where it covers it or is not known."""
    if found.low is None or found.high is None:
        return 0
    return int(found.low > value) - int(found.high < value)


def better(side: int, *more: Part, figures: Iterable[Estimate], worse: str = "verdict.better_worse") -> Part:
    """Return the answer to "is it better than ignoring the input?"; ``worse`` is what to say below chance."""
    tones = {1: ("good", "verdict.better_yes"), 0: ("doubt", "verdict.better_unsure"), -1: ("bad", worse)}
    tone, words = tones[side]
    return answer("verdict.better", tone, said(words), *more, figures=figures)


def believe(
    evaluation: Evaluation, found: Estimate | None, few: str, *more: Part, figures: Sequence[Estimate] = ()
) -> Part:
    """Return the answer to "should we believe it?"; ``few`` is what to say where some group has few rows."""
    if found is None:
        return answer("verdict.believe", "open", said("verdict.believe_unknown"))
    scarce = any(size < cautions.FEW_ROWS for size in evaluation._sizes().values())
    around = side_of(found, found.baseline) == 0
    words = said("verdict.believe_chance") if around else said(few if scarce else "verdict.believe_yes")
    sentences = [words, said("verdict.believe_rows", n=evaluation.rows)]
    sentences += limits("verdict.believe_interval", found, name=metric(found.name))
    tone = "doubt" if scarce or around else "good"
    return answer("verdict.believe", tone, *sentences, *more, figures=figures or [found])


def fails(evaluation: Evaluation, found: Estimate | None, told: Sequence[Part], figures: Sequence[Estimate]) -> Part:
    """Return the answer to "where does it fail?": what was ``told`` already, and the segment in which it is worst."""
    apart, more = _worst_segment(evaluation, found)
    if not told and not more:
        return answer("verdict.where", "open", said("verdict.where_unknown"))
    return answer("verdict.where", "doubt" if apart else "note", *told, *more, figures=figures)


def _worst_segment(evaluation: Evaluation, found: Estimate | None) -> tuple[bool, list[Part]]:
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
    apart = at_best(here) < sign * found.value
    words = "verdict.where_apart" if sign > 0 else "verdict.where_above"
    return apart, [said(words if apart else "verdict.where_alike", **values)]
