"""The verdict on a threshold: which one, what it finds and costs, what else could be done, and how sure that is."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from stakes.decisions.thresholds.decision import FOUND, PER, Decision
from stakes.findings.pictures import share_limits, shares_of_truth
from stakes.findings.verdicts.answers import MATTERS, decision_cautions, in_cases, in_order, limits, side_of
from stakes.language.sentences import Chip, Finding, Sentence, Tone, answer, metric, money, reason, sentence
from stakes.metrics import Estimate
from stakes.tallies.arithmetic import Array


def verdict_of(decision: Decision) -> tuple[Finding, ...]:
    """Return what to do, what that finds and costs, how sure it is, and what a careful colleague would point out."""
    first = [_what(decision), *_hits_and_alarms(decision)]
    cautions = [*decision.cautions, *decision_cautions(decision.worthless, decision.dropped)]
    return in_order(_answers(decision), cautions, first)


def _answers(decision: Decision) -> Iterator[Finding]:
    if decision.costs is None:
        yield _figure(decision)
    else:
        yield _cost(decision)
        yield _evidence(decision)
    yield _firm(decision)
    if decision.costs is not None:
        yield _bayes(decision)
        if decision.chosen:
            yield _labels(decision)


def _what(decision: Decision) -> Finding:
    question, rule = "decided.what", rule_of(decision, decision.recommended)
    by_row, why = decision.cheaper_by_row, _why(decision)
    if by_row is not None:
        rule = sentence("decided.but_by_row", rule=rule, cost=_paid(decision, by_row.value))
    if decision.costs is None:
        return answer(question, "good", rule, *why)
    if decision.for_everyone:
        return answer(question, "bad" if decision.worse else "doubt", rule, sentence("decided.no_threshold"))
    return answer(question, "good" if decision.enough_evidence and by_row is None else "doubt", rule, *why)


def _why(decision: Decision) -> Iterator[Sentence]:
    """Why these thresholds; a change that these rows cannot justify is not recommended."""
    kept = decision.kept
    if decision.bayes_is_alike:
        yield sentence("decided.bayes_alike")
        if kept is not None and kept != decision.recommended[0]:
            yield sentence("decided.no_change", threshold=decision.shown(kept))
    elif kept is not None:
        yield sentence("decided.keep", threshold=decision.shown(kept), best=decision.shown(decision.threshold))
    elif decision.condition is not None and decision.limit is not None:
        sign, limit = decision.limit
        names = {"condition": metric(decision.condition.name), "name": metric(decision.apparent.name)}
        yield sentence("decided.by_figure_where", **names, sign=sign, limit=limit)
    elif decision.costs is None:
        yield sentence("decided.by_figure", name=metric(decision.apparent.name))
    else:
        yield sentence("decided.lowest")


# ── whom it finds, and whom it alarms ────────────────────────────────────────────────────────────────────────────
def _hits_and_alarms(decision: Decision) -> Iterator[Finding]:
    """How many are found and how many alarmed, at the recommended thresholds."""
    if len(decision.decisions) > 2:
        yield from _shares(decision)
    elif decision.figures:
        hits, alarmed, rate, right = (decision.figures[one.name] for one in FOUND)
        names = {"positive": decision.positive, "negative": decision.negative}
        where = {"where": sentence("decided.where_chosen") if decision.chosen else ""}
        values = {**in_cases("found", hits, 100), **in_cases("alarmed", alarmed, 100)}
        yield answer("decided.who", "note", sentence("decided.who_found", **names, **values, **where))
        if right.defined:
            values = {**in_cases("alarms", rate, PER), **in_cases("right", right, 100)}
            sentences = [sentence("decided.alarms_of", **values, **where)]
        else:
            sentences = [sentence("decided.alarms_none", positive=decision.positive)]
        if decision.deployed is not None:
            sentences.append(sentence("decided.deployed", share=decision.deployed, positive=decision.positive))
        yield answer("decided.alarms", "note", *sentences)


def _shares(decision: Decision) -> Iterator[Finding]:
    """How many of each class get which of several decisions; without intervals where rows come in clusters."""
    table, evaluation = decision.table, decision.evaluation
    if table is None:
        return
    clustered = evaluation is not None and evaluation.counted.clusters is not None
    each = zip(table.truths, shares_of_truth(table), share_limits(table, decision.confidence), strict=True)
    sentences = [
        sentence(
            "decided.who_gets", truth=name, shares=list(_shares_of_class(table.decisions, shares, pairs, clustered))
        )
        for name, shares, pairs in each
        if any(shares)
    ]
    yield answer("decided.who_each", "note", *reversed(sentences))  # the positive class first


def _shares_of_class(
    decisions: Sequence[str], shares: Array, pairs: Sequence[tuple[float, float] | None], clustered: bool
) -> Iterator[Sentence]:
    """How many cases of a class get each decision; decisions that nobody gets are left out."""
    for name, share, ends in zip(decisions, shares.tolist(), pairs, strict=True):
        low, high = (None, None) if ends is None or clustered else ends
        if share:
            cases = in_cases("cases", Estimate(name, share, low=low, high=high), 100)
            yield sentence("decided.who_share", decision=name, **cases)


def rule_of(decision: Decision, thresholds: Sequence[float]) -> Sentence:
    """Which decision from which score on."""
    names, shown = decision.decisions, [decision.shown(start) for start in thresholds]
    if all(map(math.isinf, thresholds)):
        return sentence("decided.everyone", decision=names[thresholds.count(-math.inf)])
    if len(thresholds) == 1:
        return sentence("decided.from", decision=names[1], threshold=shown[0], other=names[0])
    steps = [(name, start) for name, start in zip(names[1:], shown, strict=True) if math.isfinite(start)]
    more = [sentence("decided.step", decision=name, threshold=start) for name, start in steps]
    return sentence("decided.steps", steps=[sentence("decided.first", decision=names[0]), *more])


# ── what it costs, and what it is worth ──────────────────────────────────────────────────────────────────────────
def _unit(decision: Decision) -> str:
    return "" if decision.costs is None else decision.costs.unit


def _paid(decision: Decision, cost: float) -> Any:
    """A cost for a thousand cases, in the unit of the costs."""
    return money(PER * cost, _unit(decision))


def _chip(decision: Decision, found: Estimate, label: str) -> Chip:
    return Chip.of(found, label, PER, "cost", _unit(decision))


def _cost(decision: Decision) -> Finding:
    found = decision.cost
    sentences = [
        sentence("decided.cost" if decision.chosen else "decided.cost_given", cost=_paid(decision, found.value)),
        *limits("decided.limits", found, PER, _unit(decision)),
    ]
    if decision.chosen:
        words = "decided.flatters" if decision.flattered else "decided.here"
        sentences.append(sentence(words, cost=_paid(decision, decision.apparent.value)))
    figures = [_chip(decision, found, "decided.new_rows" if decision.chosen else "decided.per_thousand")]
    if decision.chosen:
        figures.append(_chip(decision, decision.apparent, "decided.same_rows"))
    return answer("decided.price", "note", *sentences, figures=figures)


def _evidence(decision: Decision) -> Finding:
    saving = decision.savings_by_score[decision.rival]
    values = {"saving": _paid(decision, abs(saving.value)), "decision": decision.rival.removeprefix("always ")}
    tone: Tone = "doubt"
    words = "decided.not_enough"
    if decision.enough_evidence:
        tone, words = "good", "decided.earns"
    elif decision.worse:
        tone, words = "bad", "decided.loses"
    elif decision.for_everyone:
        words = "decided.saves_nothing" if saving.value == 0 else "decided.perhaps_loses"
    figures = [_chip(decision, saving, "decided.saving")]
    return answer("decided.evidence", tone, sentence(words, **values), *_unseen(decision), figures=figures)


def _unseen(decision: Decision) -> list[Sentence]:
    """What cannot be excluded where no positive was missed."""
    found = decision.unseen
    if found is None or decision.for_everyone:
        return []
    counts = {"positives": found.positives, "rows": decision.rows, "negatives": math.ceil(found.negatives)}
    cost = _paid(decision, found.cost)
    return [sentence("decided.unseen", misses=round(found.misses, 1), cost=cost, **counts)]


def _labels(decision: Decision) -> Finding:
    values = {
        "cost": _paid(decision, decision.worth_of_labels),
        "most": _paid(decision, decision.most_worth_of_labels),
    }
    rough = [sentence("decided.labels_rough")] if decision.rough else []
    return answer("decided.labels", "note", sentence("decided.labels_worth", **values), *rough)


def _figure(decision: Decision) -> Finding:
    """The figure on rows that did not choose the threshold, and whether a condition will be kept."""
    if decision.kept is not None:
        return _figure_in_use(decision)
    found, kept = decision.corrected, decision.condition
    sentences = [sentence("decided.figure", name=metric(found.name), value=found.value)]
    words = "decided.figure_flatters" if decision.flattered else "decided.figure_here"
    sentences.append(sentence(words, value=decision.apparent.value))
    figures = [found]
    tone: Tone = "note"
    if kept is not None and decision.limit is not None:
        sign, limit = decision.limit
        met = kept.value >= limit if sign == "≥" else kept.value <= limit
        words = "decided.kept" if met else "decided.not_kept"
        sentences.append(sentence(words, name=metric(kept.name), sign=sign, limit=limit, value=kept.value))
        figures.append(kept)
        sure = met and side_of(kept, limit) != 0
        sentences += [] if sure or not met else limits("decided.kept_unsure", kept)
        tone = "good" if sure else "doubt"
    return answer("decided.worth", tone, *sentences, figures=figures)


def _figure_in_use(decision: Decision) -> Finding:
    """The figure at the threshold in use, beside that of the best one."""
    name, best = decision.corrected.name, decision.corrected
    here = decision.cost if decision.evaluation is None else decision.evaluation.interval(name)
    values = {"threshold": decision.shown(decision.threshold), "value": best.value}
    sentences = [
        sentence("decided.figure_in_use", name=metric(name), value=here.value),
        sentence("decided.figure_of_best", **values),
    ]
    return answer("decided.worth", "note", *sentences, figures=[here])


def _firm(decision: Decision) -> Finding:
    """Which other thresholds could be meant as well, and how far the costs may move."""
    sentences = []
    for start, ranges, name in zip(decision.thresholds, decision.alike, decision.decisions[1:], strict=True):
        if ranges and ranges != [(start, start)]:
            numbers = {"low": ranges[0][0], "high": ranges[-1][1], "threshold": start}
            ends = {"decision": name, **{key: decision.shown(one) for key, one in numbers.items()}}
            sentences.append(sentence("decided.alike" if len(decision.thresholds) == 1 else "decided.alike_of", **ends))
    firm = not sentences
    if firm and decision.for_everyone:
        return answer("decided.firm", "open", sentence("decided.no_threshold_firm"))
    if firm:
        sentences.append(sentence("decided.only_one"))
    if decision.cost_ratio is not None:
        sentences.append(sentence("decided.ratio", low=decision.cost_ratio[0], high=decision.cost_ratio[1]))
    return answer("decided.firm", "good" if firm else "note", *sentences)


def _bayes(decision: Decision) -> Finding:
    question = "decided.honest"
    if decision.bayes is None:
        return answer(question, "open", sentence("decided.no_bayes", why=reason(decision.no_bayes)))
    starts = _bayes_rule(decision, decision.bayes)
    found = decision.miscalibration
    if found is None:
        return answer(question, "note", *starts)
    if found.low is None and found.value == 0:
        return answer(question, "note", sentence("decided.same_as_best"), *starts)
    side, most = side_of(found, 0), found.value if found.high is None else found.high
    figures = [_chip(decision, found, "decided.miscalibration")] if found.value > 0 else []
    if not side and most > MATTERS[1] * decision.cost.value:
        unsure = sentence("decided.misled_unsure", cost=_paid(decision, most))
        return answer(question, "doubt", unsure, *starts, figures=figures)
    chance = "decided.not_misled" if found.value >= 0 else "decided.not_misled_less"
    keys = {1: "decided.misled", 0: chance, -1: "decided.well_led"}
    words = sentence(keys[side], cost=_paid(decision, abs(found.value)))
    return answer(question, "bad" if side > 0 else "good", words, *starts, figures=figures)


def _bayes_rule(decision: Decision, starts: Sequence[float]) -> list[Sentence]:
    if len(starts) == 1:
        return [sentence("decided.bayes", threshold=decision.shown(starts[0]))]
    named_starts = zip(decision.decisions[1:], starts, strict=True)
    return [
        sentence("decided.bayes_of", decision=name, threshold=decision.shown(start)) for name, start in named_starts
    ]
