"""The page of ways to decide between several classes: what each costs, and which one earns its keep."""

from collections.abc import Iterator
from typing import Any

from stakes.decisions.policies import RECALIBRATED, Policies
from stakes.decisions.thresholds.decision import PER
from stakes.evaluation.reporting.answers import Answer, answer
from stakes.evaluation.reporting.ways import estimate_in, way, ways_section
from stakes.views.report.payload import named, page, said, section


def policies_page(policies: Policies) -> dict[str, Any]:
    """Return the payload of ways to decide between several classes."""
    sections = [section("verdict", answers=list(_answers(policies)), cautions=list(_cautions(policies)))]
    best = policies.best
    rows = [(way(best), policies.estimates[best], None)]
    rows += [(way(name), cost, None) for name, cost in policies.estimates.items() if name != best]
    sections.append(ways_section("expected_cost", PER, rows, True))
    facts = [said("page.rows", n=policies.rows)]
    return page(said("page.many_classes", n=len(policies.classes)), facts, sections)


def _answers(policies: Policies) -> Iterator[Answer]:
    best, cost = policies.best, policies.estimates[policies.best]
    always = policies.constant.removeprefix("always ")
    told = answer("decided.how", "good" if policies.enough_evidence else "doubt", way(best))
    yield {**told, "figures": [estimate_in(PER, cost, said("decided.per_thousand"))]}
    if best == policies.constant:
        yield answer("decided.evidence", "bad", said("decided.scores_in_vain"))
    else:
        saving = policies.savings[best]
        words = "decided.earns" if policies.enough_evidence else "decided.not_enough"
        tone = "good" if policies.enough_evidence else "doubt"
        made = answer("decided.evidence", tone, said(words, saving=PER * saving.value, decision=always))
        yield {**made, "figures": [estimate_in(PER, saving, said("decided.saving"))]}
    if policies.recalibration is not None:
        saved = policies.recalibration
        helps = saved.low is not None and saved.low > 0
        words = "decided.recalibration_helps" if helps else "decided.recalibration_idle"
        made = answer("decided.honest", "doubt" if helps else "good", said(words, saving=PER * saved.value))
        yield {**made, "figures": [estimate_in(PER, saved, way(RECALIBRATED))]}


def _cautions(policies: Policies) -> Iterator[dict[str, Any]]:
    for name in policies.costs.never_cheapest():
        yield said("caution.never_cheapest", name=named(name))
    if policies.dropped:
        yield said("caution.dropped", n=policies.dropped)
    if policies.note:
        yield said("decided.sampled")
