"""The verdict on a threshold: which one, what it finds and costs, what else could be done, and how sure that is."""

import math
from collections.abc import Iterator, Sequence

from stakes.decisions.thresholds.decision import PER, Decision
from stakes.findings.verdicts.answers import in_order, limits
from stakes.findings.verdicts.ways import decision_cautions
from stakes.language.sentences import Chip, Finding, Sentence, Tone, answer, metric, reason, sentence


def verdict_of(decision: Decision) -> tuple[Finding, ...]:
    """Return what to do, what that costs, how sure it is, and what a careful colleague would point out."""
    return in_order(_answers(decision), [*decision.cautions, *decision_cautions(decision.worthless, decision.dropped)])


def _answers(decision: Decision) -> Iterator[Finding]:
    yield _what(decision)
    if decision.costs is None:
        yield _figure(decision)
    else:
        yield _cost(decision)
        yield _evidence(decision)
    yield _firm(decision)
    if decision.costs is not None:
        yield _bayes(decision)
        if not math.isnan(decision.worth_of_labels):
            yield _labels(decision)


def _what(decision: Decision) -> Finding:
    question, rule = "decided.what", _rule(decision, decision.recommended)
    if decision.costs is None:
        return answer(question, "good", *rule, sentence("decided.by_figure", name=metric(decision.apparent.name)))
    if decision.worse:
        name = decision.constant.removeprefix("always ")
        return answer(
            question, "bad", sentence("decided.everyone", decision=name), sentence("decided.no_threshold"), *rule
        )
    why = "decided.bayes_alike" if decision.bayes_is_alike else "decided.lowest"
    return answer(question, "good" if decision.enough_evidence else "doubt", *rule, sentence(why))


def _rule(decision: Decision, thresholds: Sequence[float]) -> list[Sentence]:
    """Which decision from which score on."""
    names = decision.decisions
    if math.isinf(thresholds[0]):
        return [sentence("decided.everyone", decision=names[0])]
    if len(thresholds) == 1:
        return [sentence("decided.from", decision=names[1], threshold=thresholds[0], other=names[0])]
    steps = [(name, start) for name, start in zip(names[1:], thresholds, strict=True) if math.isfinite(start)]
    more = [sentence("decided.step", decision=name, threshold=start) for name, start in steps]
    return [sentence("decided.first", decision=names[0]), *more]


def _cost(decision: Decision) -> Finding:
    found = decision.cost
    words = "decided.flatters" if decision.flattered else "decided.here"
    sentences = [
        sentence("decided.cost", cost=PER * found.value),
        *limits("decided.limits", found, PER),
        sentence(words, cost=PER * decision.apparent.value),
    ]
    figures = [
        Chip.of(decision.corrected, "decided.new_rows", PER, "cost"),
        Chip.of(decision.apparent, "decided.same_rows", PER, "cost"),
    ]
    return answer("decided.price", "note", *sentences, figures=figures)


def _evidence(decision: Decision) -> Finding:
    saving = decision.savings[decision.rival]
    values = {"saving": PER * saving.value, "decision": decision.rival.removeprefix("always ")}
    tone: Tone = "doubt"
    words = "decided.not_enough"
    if decision.enough_evidence:
        tone, words = "good", "decided.earns"
    elif decision.worse:
        tone, words, values["saving"] = "bad", "decided.loses", -PER * saving.value
    figures = [Chip.of(saving, "decided.saving", PER, "cost")]
    return answer("decided.evidence", tone, sentence(words, **values), *_unseen(decision), figures=figures)


def _unseen(decision: Decision) -> list[Sentence]:
    """What cannot be excluded where no positive was missed."""
    found = decision.unseen
    if found is None:
        return []
    counts = {"positives": found.positives, "rows": decision.rows, "negatives": math.ceil(found.negatives)}
    return [sentence("decided.unseen", misses=round(found.misses, 1), cost=PER * found.cost, **counts)]


def _labels(decision: Decision) -> Finding:
    values = {"cost": PER * decision.worth_of_labels, "most": PER * decision.most_worth_of_labels}
    rough = [sentence("decided.labels_rough")] if decision.rough else []
    return answer("decided.labels", "note", sentence("decided.labels_worth", **values), *rough)


def _figure(decision: Decision) -> Finding:
    """The figure on rows that did not choose the threshold, and whether a condition will be kept."""
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
        tone = "good" if met else "doubt"
    return answer("decided.worth", tone, *sentences, figures=figures)


def _firm(decision: Decision) -> Finding:
    """Which other thresholds could be meant as well, and how far the costs may move."""
    sentences = []
    for start, ranges, name in zip(decision.thresholds, decision.alike, decision.decisions[1:], strict=True):
        if ranges and ranges != [(start, start)]:
            ends = {"low": ranges[0][0], "high": ranges[-1][1], "threshold": start, "decision": name}
            sentences.append(sentence("decided.alike" if len(decision.thresholds) == 1 else "decided.alike_of", **ends))
    firm = not sentences
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
    sure = found.low is not None and found.low > 0
    words = sentence("decided.misled" if sure else "decided.not_misled", cost=PER * found.value)
    figures = [Chip.of(found, "decided.miscalibration", PER, "cost")]
    return answer(question, "doubt" if sure else "good", words, *starts, figures=figures)


def _bayes_rule(decision: Decision, starts: Sequence[float]) -> list[Sentence]:
    if len(starts) == 1:
        return [sentence("decided.bayes", threshold=starts[0])]
    named_starts = zip(decision.decisions[1:], starts, strict=True)
    return [sentence("decided.bayes_of", decision=name, threshold=start) for name, start in named_starts]
