"""The page of a decision: which threshold, what it costs, what else could be done, and how sure that is."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from stakes.decisions.thresholds.decision import PER, Decision
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.answers import answer, limits
from stakes.evaluation.reporting.ways import Row, decision_cautions, estimate_in, way, ways_section
from stakes.records import plain
from stakes.views.report.payload import listed, metric, named, page, reason, said, section


def page_of(decision: Decision) -> Part:
    """Return the payload of a decision."""
    cautions = decision_cautions(decision.worthless, decision.dropped)
    sections = [
        section("verdict", answers=list(_answers(decision)), cautions=cautions),
        *_thresholds_section(decision),
        *_ways(decision),
    ]
    return page(said("page.decision", positive=named(decision.positive)), _facts(decision), sections)


def _facts(decision: Decision) -> list[Part]:
    facts = [said("page.rows", n=decision.rows)]
    costs = decision.costs
    if costs is not None and costs.miss is not None and not costs.columns:
        facts.append(said("verdict.threshold_given", miss=costs.miss, alarm=costs.false_alarm))
    return facts


def _per(decision: Decision) -> int:
    """Costs are told for so many cases, other figures as they are."""
    return 1 if decision.costs is None else PER


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _answers(decision: Decision) -> Iterator[Part]:
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


def _what(decision: Decision) -> Part:
    question, rule = "decided.what", _rule(decision, decision.recommended)
    if decision.costs is None:
        return answer(question, "good", *rule, said("decided.by_figure", name=metric(decision.apparent.name)))
    if decision.worse:
        name = decision.constant.removeprefix("always ")
        return answer(question, "bad", said("decided.everyone", decision=name), said("decided.no_threshold"), *rule)
    why = "decided.bayes_alike" if decision.bayes_is_alike else "decided.lowest"
    return answer(question, "good" if decision.enough_evidence else "doubt", *rule, said(why))


def _rule(decision: Decision, thresholds: Sequence[float]) -> list[Part]:
    """Which decision from which score on."""
    names = [named(name) for name in decision.decisions]
    if math.isinf(thresholds[0]):
        return [said("decided.everyone", decision=names[0])]
    if len(thresholds) == 1:
        return [said("decided.from", decision=names[1], threshold=thresholds[0], other=names[0])]
    steps = [(name, start) for name, start in zip(names[1:], thresholds, strict=True) if math.isfinite(start)]
    more = [said("decided.step", decision=name, threshold=start) for name, start in steps]
    return [said("decided.first", decision=names[0]), *more]


def _cost(decision: Decision) -> Part:
    found = decision.cost
    words = "decided.flatters" if decision.flattered else "decided.here"
    sentences = [
        said("decided.cost", cost=PER * found.value),
        *limits("decided.limits", found, PER),
        said(words, cost=PER * decision.apparent.value),
    ]
    figures = [
        estimate_in(PER, decision.corrected, "decided.new_rows"),
        estimate_in(PER, decision.apparent, "decided.same_rows"),
    ]
    return answer("decided.price", "note", *sentences, figures=figures)


def _evidence(decision: Decision) -> Part:
    saving = decision.savings[decision.rival]
    values = {"saving": PER * saving.value, "decision": decision.rival.removeprefix("always ")}
    tone, words = "doubt", "decided.not_enough"
    if decision.enough_evidence:
        tone, words = "good", "decided.earns"
    elif decision.worse:
        tone, words, values["saving"] = "bad", "decided.loses", -PER * saving.value
    figures = [estimate_in(PER, saving, "decided.saving")]
    return answer("decided.evidence", tone, said(words, **values), *_unseen(decision), figures=figures)


def _unseen(decision: Decision) -> list[Part]:
    """What cannot be excluded where no positive was missed."""
    found = decision.unseen
    if found is None:
        return []
    counts = {"positives": found.positives, "rows": decision.rows, "negatives": math.ceil(found.negatives)}
    return [said("decided.unseen", misses=round(found.misses, 1), cost=PER * found.cost, **counts)]


def _labels(decision: Decision) -> Part:
    values = {"cost": PER * decision.worth_of_labels, "most": PER * decision.most_worth_of_labels}
    rough = [said("decided.labels_rough")] if decision.rough else []
    return answer("decided.labels", "note", said("decided.labels_worth", **values), *rough)


def _figure(decision: Decision) -> Part:
    """The figure on rows that did not choose the threshold, and whether a condition will be kept."""
    found, kept = decision.corrected, decision.condition
    sentences = [said("decided.figure", name=metric(found.name), value=found.value)]
    words = "decided.figure_flatters" if decision.flattered else "decided.figure_here"
    sentences.append(said(words, value=decision.apparent.value))
    figures = [found]
    tone = "note"
    if kept is not None and decision.limit is not None:
        sign, limit = decision.limit
        met = kept.value >= limit if sign == "≥" else kept.value <= limit
        words = "decided.kept" if met else "decided.not_kept"
        sentences.append(said(words, name=metric(kept.name), sign=sign, limit=limit, value=kept.value))
        figures.append(kept)
        tone = "good" if met else "doubt"
    return answer("decided.worth", tone, *sentences, figures=figures)


def _firm(decision: Decision) -> Part:
    """Which other thresholds could be meant as well, and how far the costs may move."""
    sentences = []
    for start, ranges, name in zip(decision.thresholds, decision.alike, decision.decisions[1:], strict=True):
        if ranges and ranges != [(start, start)]:
            ends = {"low": ranges[0][0], "high": ranges[-1][1], "threshold": start, "decision": name}
            sentences.append(said("decided.alike" if len(decision.thresholds) == 1 else "decided.alike_of", **ends))
    firm = not sentences
    if firm:
        sentences.append(said("decided.only_one"))
    if decision.cost_ratio is not None:
        sentences.append(said("decided.ratio", low=decision.cost_ratio[0], high=decision.cost_ratio[1]))
    return answer("decided.firm", "good" if firm else "note", *sentences)


def _bayes(decision: Decision) -> Part:
    question = "decided.honest"
    if decision.bayes is None:
        return answer(question, "open", said("decided.no_bayes", why=reason(decision.no_bayes)))
    starts = _bayes_rule(decision, decision.bayes)
    found = decision.miscalibration
    if found is None:
        return answer(question, "note", *starts)
    sure = found.low is not None and found.low > 0
    words = said("decided.misled" if sure else "decided.not_misled", cost=PER * found.value)
    figures = [estimate_in(PER, found, "decided.miscalibration")]
    return answer(question, "doubt" if sure else "good", words, *starts, figures=figures)


def _bayes_rule(decision: Decision, starts: Sequence[float]) -> list[Part]:
    if len(starts) == 1:
        return [said("decided.bayes", threshold=starts[0])]
    named_starts = zip(decision.decisions[1:], starts, strict=True)
    return [said("decided.bayes_of", decision=name, threshold=start) for name, start in named_starts]


# ── sections ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _thresholds_section(decision: Decision) -> list[Part]:
    """The cost, or the figure, at every threshold."""
    curve = decision.over_thresholds
    if curve is None:
        return []
    per, known = _per(decision), np.isfinite(curve.y)
    band = curve.band
    constant = decision.alternatives.get(decision.constant)
    return [
        section(
            "thresholds",
            figure=decision.apparent.name,
            costs=decision.costs is not None,
            x=listed(curve.x[known]),
            y=listed(per * curve.y[known]),
            band={"x": listed(band.x), "low": listed(per * band.low), "high": listed(per * band.high)},
            recommended=plain(decision.recommended[0]),
            best=plain(decision.threshold),
            bayes=None if decision.bayes is None else plain(decision.bayes[0]),
            alike=[[plain(low), plain(high)] for low, high in decision.alike[0]] if decision.alike else [],
            constant=None if constant is None else {"name": way(decision.constant), "value": per * constant.value},
        )
    ]


def _ways(decision: Decision) -> list[Part]:
    own = decision.corrected if decision.costs is None else decision.cost
    others = {name: one for name, one in decision.alternatives.items() if one is not own}
    if not others:
        return []
    rows: list[Row] = [(said("way.recommended"), own, None)]
    rows += [(way(name), one, decision.savings.get(name)) for name, one in others.items()]
    return [ways_section(decision.apparent.name, _per(decision), rows, decision.costs is not None)]
