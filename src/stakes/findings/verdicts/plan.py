"""The verdict on a plan: how many rows, what that rests on, and what can stand in a protocol."""

from collections.abc import Iterator

from stakes.language.sentences import Finding, Sentence, answer, caution, metric, sentence
from stakes.planning.rates import OBSERVED_EXPECTED
from stakes.planning.result import Part, Plan

_NO_FIGURES = ("sd", "logit_mean", "logit_sd", "disagreement")
"""Rates that are no figures."""


def verdict_of(plan: Plan) -> tuple[Finding, ...]:
    """Return how many rows are needed, what is uncertain about that, and a paragraph for a protocol."""
    found = [answer("plan.question", "note", _how_many(plan), *_more(plan))]
    found += [one for part in plan.parts for one in _open(plan, part)]
    return (*found, answer("plan.protocol", "note", *_paragraph(plan)))


def named(figure: str) -> Sentence | dict[str, str]:
    """A figure, to be named in the language of the reader."""
    return sentence("plan.observed_expected") if figure == OBSERVED_EXPECTED else metric(figure)


def _how_many(plan: Plan) -> Sentence:
    if plan.labels is not None:
        return sentence("plan.labels", n=plan.labels, rows=plan.rows)
    if plan.clusters is not None:
        return sentence("plan.clusters", n=plan.clusters, rows=plan.rows)
    if plan.positives is not None:
        return sentence("plan.with_positives", n=plan.rows, positives=plan.positives)
    return sentence("plan.rows", n=plan.rows)


def _more(plan: Plan) -> Iterator[Sentence]:
    for part in plan.parts:
        yield _reaches(plan, part)
        if part.checked is not None:
            key = "plan.checked_width" if part.aim == "width" else "plan.checked_share"
            yield sentence(key, checked=part.checked)
    yield from _segment(plan)


def _segment(plan: Plan) -> Iterator[Sentence]:
    """That numbers are those of a segment, of which the whole study is a multiple."""
    if plan.smallest_share is not None:
        yield sentence("plan.segment", share=plan.smallest_share)


def _reaches(plan: Plan, part: Part) -> Sentence:
    """What the rows of one figure are for."""
    figure = sentence("plan.difference_of", name=named(part.figure)) if part.of_difference else named(part.figure)
    values = {"name": figure, "target": part.target, "n": part.rows, "confidence": plan.confidence}
    if part.aim == "width" and plan.labels is not None:
        return sentence("plan.labelled_width", **values)
    if part.aim == "width":
        return (
            sentence("plan.width", **values)
            if plan.assured is None
            else sentence("plan.assured_width", share=plan.assured, **values)
        )
    if part.aim == "require":
        return sentence("plan.require", condition=part.condition, power=plan.power, value=part.value, **values)
    return sentence(f"plan.{part.aim}", power=plan.power, **{**values, "name": named(part.figure)})


def _open(plan: Plan, part: Part) -> Iterator[Finding]:
    """What a small pilot leaves open."""
    if part.low_rows is None or plan.pilot_rows is None:
        return
    values = {"n": plan.pilot_rows, "low": part.low_rows, "name": named(part.figure)}
    if part.high_rows is None:
        yield caution("plan.open", **values)
    else:
        yield caution("plan.range", high=part.high_rows, **values)


def _paragraph(plan: Plan) -> Iterator[Sentence]:
    yield from (_reaches(plan, part) for part in plan.parts)
    yield from _segment(plan)
    if plan.pilot_rows is not None:
        yield sentence("plan.from_pilot", n=plan.pilot_rows)
    elif plan.assumed:
        yield sentence("plan.from_rates", rates=[_rate(name, value) for name, value in plan.assumed.items()])
    yield _how_many(plan)


def _rate(name: str, value: float) -> Sentence:
    """What was expected, by the name of the figure or of the rate."""
    called = sentence(f"plan.{name}") if name in _NO_FIGURES else metric(name)
    return sentence("plan.rate", name=called, value=value)
