"""Answers that several verdicts give: is it better than a guess, should we believe it, where does it fail?"""

from collections.abc import Iterable, Iterator, Sequence

from stakes.evaluation.base import Evaluation
from stakes.evaluation.cautions import cautions
from stakes.language.sentences import Finding, Sentence, Tone, answer, metric, sentence
from stakes.metrics import Estimate
from stakes.metrics.usual import SHARES

MOST = 50
"""Lists are cut to this many entries."""

WIDE = 0.2
"""A share whose interval is wider than this is hardly known."""

_ORDER = {"wrong": 0, "bad": 1, "doubt": 2}


def in_order(answers: Iterable[Finding], notes: Iterable[Finding] = ()) -> tuple[Finding, ...]:
    """Return what makes figures meaningless, then answers, what is wrong with the model first, then other cautions."""
    found = list(notes)
    wrongs = [one for one in found if one.tone == "wrong"]
    others = [one for one in found if one.tone != "wrong"][:MOST]
    return (*wrongs, *sorted(answers, key=lambda one: _ORDER.get(one.tone, 3)), *others)


def of_evaluation(evaluation: Evaluation, *answers: Finding) -> tuple[Finding, ...]:
    """Return the answers of an evaluation with what a careful colleague would point out."""
    return in_order(answers, cautions(evaluation))


def known_figures(evaluation: Evaluation, *names: str) -> list[Estimate]:
    """Return those of the figures that there are."""
    found = (evaluation.figures.get(name) for name in names)
    return [one for one in found if one is not None and one.defined]


def limits(key: str, found: Estimate, per: float = 1, **values: object) -> list[Sentence]:
    """Return the sentence about an interval, told for so many cases, if there is one."""
    if found.low is None or found.high is None:
        return []
    return [sentence(key, **values, low=per * found.low, high=per * found.high, confidence=found.confidence)]


def side_of(found: Estimate, value: float) -> int:
    """Return 1 for an interval that lies above a value, −1 below it, and 0 where it covers it or is not known."""
    if found.low is None or found.high is None:
        return 0
    return int(found.low > value) - int(found.high < value)


def better(side: int, *more: Sentence, figures: Sequence[Estimate], worse: str = "verdict.better_worse") -> Finding:
    """Return the answer to "is it better than ignoring the input?"; ``worse`` is what to say below chance."""
    tones: dict[int, tuple[Tone, str]] = {
        1: ("good", "verdict.better_yes"),
        0: ("doubt", "verdict.better_unsure"),
        -1: ("bad", worse),
    }
    tone, key = tones[side]
    return answer("verdict.better", tone, sentence(key), *more, figures=figures)


def believe(
    evaluation: Evaluation, found: Estimate | None, *more: Sentence, figures: Sequence[Estimate] = ()
) -> Finding:
    """Return the answer to "should we believe it?": whether the intervals of what matters are narrow enough."""
    if found is None:
        return answer("verdict.believe", "open", sentence("verdict.believe_unknown"))
    rough = list(_rough(evaluation, found))
    around = side_of(found, found.baseline) == 0
    lead = [sentence("verdict.believe_chance")] if around else rough or [sentence("verdict.believe_yes")]
    rows = sentence("verdict.believe_rows", n=evaluation.rows)
    ends = limits("verdict.believe_interval", found, name=metric(found.name))
    tone: Tone = "doubt" if around or rough else "good"
    return answer("verdict.believe", tone, *lead, rows, *ends, *more, figures=figures or [found])


def _rough(evaluation: Evaluation, found: Estimate) -> Iterator[Sentence]:
    """What is known too roughly: a share within more than 0.2, a gain on the baseline within more than itself."""
    for share in known_figures(evaluation, *SHARES.get(evaluation.task, ())):
        if share.low is not None and share.high is not None and share.high - share.low > WIDE:
            yield sentence("verdict.believe_wide", name=metric(share.name), low=share.low, high=share.high)
            return
    if found.low is not None and found.high is not None and found.high - found.low > abs(found.value - found.baseline):
        yield sentence("verdict.believe_rough", name=metric(found.name), low=found.low, high=found.high)
    elif found.note:
        yield sentence("verdict.believe_noted")


def fails(
    evaluation: Evaluation, found: Estimate | None, lead: Sequence[Sentence], figures: Sequence[Estimate]
) -> Finding:
    """Return the answer to "where does it fail?": what was the ``lead`` says, and the segment in which it is worst."""
    apart, more = _worst_segment(evaluation, found)
    if not lead and not more:
        return answer("verdict.where", "open", sentence("verdict.where_unknown"))
    return answer("verdict.where", "doubt" if apart else "note", *lead, *more, figures=figures)


def largest_segments(evaluation: Evaluation) -> list[tuple[str, Evaluation]]:
    """Return the names and evaluations of as many segments as a page can show, those with the most rows first."""
    return sorted(evaluation.segments.items(), key=lambda item: -float(item[1].rows))[:MOST]


def _worst_segment(evaluation: Evaluation, found: Estimate | None) -> tuple[bool, list[Sentence]]:
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
    values = {"segment": worst, "name": metric(found.name), "value": here.value, "whole": found.value}
    if sign * here.value >= sign * found.value:  # easier within segments than across them
        return False, [sentence("verdict.where_better" if sign > 0 else "verdict.where_lower", **values)]
    apart = at_best(here) < sign * found.value
    key = "verdict.where_apart" if sign > 0 else "verdict.where_above"
    return apart, [sentence(key if apart else "verdict.where_alike", **values)]
