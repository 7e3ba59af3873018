"""Answers that several verdicts give: is it better than a guess, should we believe it, where does it fail?"""

from collections.abc import Iterable, Iterator, Sequence

from stakes.errors import Pass
from stakes.evaluation.base import Evaluation
from stakes.evaluation.by_segment import BySegment
from stakes.evaluation.cautions import NEAR_PERFECT, cautions
from stakes.evaluation.gap import TOGETHER, USUAL
from stakes.findings.verdicts.segments import segments_by, verdict_of_segment
from stakes.language.sentences import Finding, Sentence, Tone, answer, caution, metric, money, sentence
from stakes.metrics import Estimate
from stakes.metrics.usual import ERRORS, SHARES
from stakes.uncertainty.sampling import FEW_CLUSTERS, FEW_ROWS

MOST = 50
"""The most entries of a list."""

MOST_NAMES = 5
"""The most things that a sentence names."""

WIDE = 0.2
"""A share whose interval is wider than this is hardly known."""

MATTERS = 0.5, 0.25
"""A shift of half the usual error matters, and so does a quarter of what is paid; rows should tell it from none."""

_ORDER = {"wrong": 0, "bad": 1, "doubt": 2}


def in_order(
    answers: Iterable[Finding], notes: Iterable[Finding] = (), first: Iterable[Finding] = ()
) -> tuple[Finding, ...]:
    """Return what makes figures meaningless, then answers, what is wrong with the model first, then other cautions.

    What comes ``first`` stands before the other answers whatever it says.
    """
    found = list(notes)
    wrongs = [one for one in found if one.tone == "wrong"]
    others = [one for one in found if one.tone != "wrong"][:MOST]
    return (*wrongs, *first, *sorted(answers, key=lambda one: _ORDER.get(one.tone, 3)), *others)


def of_evaluation(evaluation: Evaluation, *answers: Finding) -> tuple[Finding, ...]:
    """Return the answers of an evaluation with what a careful colleague would point out."""
    return in_order(answers, cautions(evaluation))


def known_figures(evaluation: Evaluation, *names: str) -> list[Estimate]:
    """Return those of the figures that there are."""
    found = (evaluation.figures.get(name) for name in names)
    return [one for one in found if one is not None and one.defined]


def share_right(evaluation: Evaluation) -> list[Estimate]:
    """Return how many decisions are right, if there are any that can be."""
    return known_figures(evaluation, "accuracy")


def supporting_accuracy(evaluation: Evaluation, side: int, majority: str) -> tuple[list[Estimate], list[Sentence]]:
    """Return the accuracy and its sentences, unless it contradicts the verdict: then it gets a caution."""
    found = [one for one in share_right(evaluation) if side * (one.value - one.baseline) > 0 or not side]
    values = [{"share": one.value, "always": one.baseline, "majority": majority} for one in found]
    return found, [sentence("verdict.better_accuracy", **one) for one in values]


def cannot_be_better(evaluation: Evaluation, classes: int, otherwise: str) -> Finding:
    """Return the answer where no figure compares decisions with chance: all are the same, or too few classes occur."""
    right = share_right(evaluation)
    if right and classes > 1:
        return answer("verdict.better", "bad", sentence("verdict.better_constant"), figures=right)
    return answer("verdict.better", "open", sentence(otherwise))


def limits(key: str, found: Estimate, per: float = 1, unit: str = "", **values: object) -> list[Sentence]:
    """Return the sentence about an interval, for so many cases and in a unit, if there is one."""
    if found.low is None or found.high is None:
        return []
    ends = {"low": money(per * found.low, unit), "high": money(per * found.high, unit)}
    return [sentence(key, **values, **ends, confidence=found.confidence)]


def in_cases(name: str, found: Estimate, per: int) -> dict[str, float | str | Sentence | None]:
    """Return a share and its ends as so many of 100 or 1,000 cases, and the range in words; empty if there is none."""
    ends = {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
    cases = {key: None if one is None else whole(per * one, per) for key, one in ends.items()}
    low, high = cases[f"{name}_low"], cases[f"{name}_high"]
    return {**cases, f"{name}_range": "" if low is None else sentence("decided.range", low=low, high=high)}


def rows_and_weight(evaluation: Evaluation) -> Sentence:
    """Return how many rows a weighted evaluation rests on, and what they weigh together."""
    return sentence("page.rows_and_weight", n=evaluation.unweighted_rows, weight=evaluation.rows)


def some_names(names: Sequence[str]) -> list[str]:
    """Return the first names of a list; dots show that there are more."""
    return [*names[:MOST_NAMES], *(["…"] if len(names) > MOST_NAMES else [])]


def decision_cautions(never_cheapest: Iterable[str], dropped: int) -> list[Finding]:
    """Return what to point out: decisions that are never worth taking, and rows that were left out."""
    found = [caution("caution.never_cheapest", name=name) for name in never_cheapest]
    return [*found, caution("caution.dropped", n=dropped)] if dropped else found


def whole(cases: float, per: int) -> float:
    """Return whole cases; near none or all of them with a decimal."""
    if not 1 <= cases <= per - 1:
        return round(cases, 1)
    return round(cases)


def side_of(found: Estimate, value: float) -> int:
    """Return 1 for an interval that lies above a value, −1 below it, and 0 where it covers it or is not known."""
    if found.low is None or found.high is None:
        return 0
    return int(found.low > value) - int(found.high < value)


def within(found: Estimate, most: float) -> bool:
    """Return whether an interval lies within so much of 0; an interval that is too wide does not show that."""
    return found.low is not None and found.high is not None and max(-found.low, found.high) <= most


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
    rows = sentence("verdict.believe_rows", n=evaluation.rows)
    if evaluation.unweighted_rows is not None:
        rows = sentence("verdict.believe_weight", rows=rows_and_weight(evaluation))
    shown = figures or [found]
    if found.low is None:
        lead = sentence("verdict.believe_no_interval", name=metric(found.name))
        return answer("verdict.believe", "open", lead, rows, *more, figures=shown)
    concerns = list(_reservations(evaluation, found))[:1]
    lead = concerns[0] if concerns else sentence("verdict.believe_yes")
    ends = limits("verdict.believe_interval", found, name=metric(found.name))
    tone: Tone = "doubt" if concerns else "good"
    return answer("verdict.believe", tone, lead, rows, *ends, *_more_rows(evaluation, concerns), *more, figures=shown)


_TOO_WIDE = ("verdict.believe_chance", "verdict.believe_wide", "verdict.believe_rough")
"""Reservations that more rows would remove."""


def _more_rows(evaluation: Evaluation, concerns: Sequence[Sentence]) -> Iterator[Sentence]:
    """How many rows would halve the interval, where it is too wide: widths fall with the root of the rows."""
    if concerns and concerns[0].key in _TOO_WIDE:
        yield sentence("verdict.believe_halved", n=4 * (evaluation.unweighted_rows or round(evaluation.rows)))


def _reservations(evaluation: Evaluation, found: Estimate) -> Iterator[Sentence]:
    """What speaks against believing a figure, the worst first.

    It may be chance; it may be too good to be true; intervals of few clusters may be too short; a share may be known
    within more than 0.2 only, an error within more than half of itself, a gain on the baseline within more than itself;
    few rows may carry the figure. How many rows there are is no reason by itself: the widths tell.
    """
    name = metric(found.name)
    if side_of(found, found.baseline) == 0:
        yield sentence("verdict.believe_chance")
    if evaluation._size.equal_rows >= FEW_ROWS and found.value >= NEAR_PERFECT > found.baseline:
        yield sentence("verdict.believe_too_good", name=name, value=found.value)
    clusters = evaluation.counted.clusters
    if clusters is not None and clusters.count < FEW_CLUSTERS:
        yield sentence("verdict.believe_clusters", n=clusters.count)
    wide = [one for one in known_figures(evaluation, *SHARES[evaluation.task]) if _width(one) > WIDE]
    wide += [one for one in known_figures(evaluation, *ERRORS[evaluation.task]) if _width(one) > one.value / 2]
    for one in wide:
        yield sentence("verdict.believe_wide", name=metric(one.name), low=one.low, high=one.high)
    if _width(found) > abs(found.value - found.baseline):
        yield sentence("verdict.believe_rough", name=name, low=found.low, high=found.high)
    if found.note and found.note != evaluation._caution:
        yield sentence("verdict.believe_noted")


def _width(found: Estimate) -> float:
    return 0.0 if found.low is None or found.high is None else found.high - found.low


def fails(
    evaluation: Evaluation,
    found: Estimate | None,
    lead: Sequence[Sentence],
    figures: Sequence[Estimate],
    useless: bool = False,
) -> Finding:
    """Return the answer to "where does it fail?": what the ``lead`` says, and the segment in which it is worst.

    ``useless`` is whether some part of the answers is surely worse than a guess.
    """
    apart, more = _worst_segment(evaluation, found)
    more += _gap(evaluation)
    if not lead and not more:
        return answer("verdict.where", "open", sentence("verdict.where_unknown"))
    tone: Tone = "bad" if useless else "doubt" if apart else "note"
    return answer("verdict.where", tone, *lead, *more, figures=figures)


def _gap(evaluation: Evaluation) -> list[Sentence]:
    """The largest gap between segments: of the shares of both classes that are decided wrongly, or of the usual one."""
    if not 1 < len(evaluation.segments) <= MOST:
        return []
    name = USUAL[evaluation.task]
    if not all(known_figures(evaluation, one) for one in TOGETHER.get(name, (name,))):
        return []
    gap = evaluation.gap(name)
    if gap.low is None or gap.highest is None:
        return []
    ends = {name: getattr(gap, name) for name in ("value", "low", "high", "apart", "highest", "lowest")}
    return [sentence("gap.between" if gap.low > 0 else "gap.between_alike", name=metric(gap.figure), **ends)]


def largest_segments(evaluation: Evaluation) -> list[tuple[str, Evaluation]]:
    """Return the names and evaluations of as many segments as a page can show, those with the most rows first."""
    return sorted(evaluation.segments.items(), key=lambda item: -float(item[1].rows))[:MOST]


def _segments_beside_the_rest(evaluation: Evaluation, found: Estimate) -> BySegment | None:
    """The segments compared with the rest, tested together; of too many only by the key figure."""
    few = len(evaluation.segments) <= MOST or found.name == evaluation._key_figure
    return segments_by(evaluation, found.name) if found.defined and few else None


def _worst_segment(evaluation: Evaluation, found: Estimate | None) -> tuple[bool, list[Sentence]]:
    """The segment in which a figure is worst, and whether it is by the test of the table of segments."""
    if found is None or not evaluation.segments:
        return False, []
    by = _segments_beside_the_rest(evaluation, found)
    known = {} if by is None else by.estimates()
    parts = {name: known.get(name) or part.interval(found.name) for name, part in largest_segments(evaluation)}
    sign = -1 if evaluation._find(found.name).better == "lower" else 1

    def at_best(one: Estimate) -> float:
        """The better end of the interval: a tiny segment is not the worst by chance."""
        end = one.high if sign > 0 else one.low
        return sign * (one.value if end is None else end)

    defined = {name: one for name, one in parts.items() if one.defined and one.low is not None}
    if not defined:
        return False, []
    bad = [] if by is None else [one.name for one in by if verdict_of_segment(one, by)[0] == "bad"]
    surely = [name for name in bad if name in defined]
    worst = min(surely or defined, key=lambda name: at_best(defined[name]))
    here = defined[worst]
    if worst not in surely and (ends := _overlapping(evaluation, found, worst, list(defined))) is not None:
        values = {"segment": worst, "name": metric(found.name), "low": ends[0], "high": ends[1]}
        return False, [sentence("verdict.where_open", option=Pass("exact", True), **values)]
    values = {"segment": worst, "name": metric(found.name), "value": here.value, "whole": found.value}
    if sign * here.value >= sign * found.value:  # easier within segments than across them
        return False, [sentence("verdict.where_better" if sign > 0 else "verdict.where_lower", **values)]
    if worst in surely:
        return True, [sentence("verdict.where_apart" if sign > 0 else "verdict.where_above", **values)]
    tested = by is None or any(one.name == worst and one.p_value is not None for one in by)
    return False, [sentence("verdict.where_alike" if tested else "verdict.where_untested", **values)]


def _overlapping(evaluation: Evaluation, found: Estimate, name: str, others: Sequence[str]) -> Sequence[float] | None:
    """The range in which bins leave a segment's figure, where another segment's figure may lie in it, too."""
    if found.bounds is None:
        return None
    known = {one: evaluation.segments[one].interval(found.name).bounds for one in others}
    here = known.pop(name)
    if here is None:
        return None
    return here if any(one is not None and one[0] <= here[1] and here[0] <= one[1] for one in known.values()) else None
