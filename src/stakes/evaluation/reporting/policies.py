"""The page of ways to decide between several classes: what each costs, and which one earns its keep."""

from collections.abc import Iterator

from stakes.decisions.policies import CHEAPEST, HIGHEST, RECALIBRATED, Policies
from stakes.decisions.thresholds.decision import PER, least_sure
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.answers import answer
from stakes.evaluation.reporting.ways import Row, decision_cautions, estimate_in, way, ways_section
from stakes.metrics import Estimate
from stakes.metrics.cost import expected_cost
from stakes.views.report.payload import page, said, section

_RULES = {HIGHEST: "decided.by_highest", CHEAPEST: "decided.by_cheapest", RECALIBRATED: "decided.by_recalibrated"}


def page_of(policies: Policies) -> Part:
    """Return the payload of ways to decide between several classes."""
    best = policies.best
    rows: list[Row] = [(way(best), policies.estimates[best], None)]
    rows += [(way(name), cost, None) for name, cost in policies.estimates.items() if name != best]
    cautions = decision_cautions(policies.costs.never_cheapest(), policies.dropped)
    cautions += [said("decided.sampled")] if policies.note else []
    sections = [
        section("verdict", answers=list(_answers(policies)), cautions=cautions),
        ways_section(expected_cost.name, PER, rows, True),
    ]
    facts = [said("page.rows", n=policies.rows)]
    return page(said("page.many_classes", n=len(policies.classes)), facts, sections)


def _answers(policies: Policies) -> Iterator[Part]:
    best, cost = policies.best, policies.estimates[policies.best]
    always = policies.constant.removeprefix("always ")
    rule = said(_RULES[best]) if best in _RULES else said("decided.everyone", decision=always)
    tone = "good" if policies.enough_evidence else "doubt"
    yield answer("decided.how", tone, rule, figures=[estimate_in(PER, cost, "decided.per_thousand")])
    if best == policies.constant:
        yield answer("decided.evidence", "bad", said("decided.scores_in_vain"))
    else:
        rival = least_sure(policies.against)
        saving = policies.against[rival]
        words = "decided.earns" if policies.enough_evidence else "decided.not_enough"
        told = said(words, saving=PER * saving.value, decision=rival.removeprefix("always "))
        yield answer("decided.evidence", tone, told, figures=[estimate_in(PER, saving, "decided.saving")])
    if policies.recalibration is not None:
        yield _recalibration(policies.recalibration)


def _recalibration(saved: Estimate) -> Part:
    """Whether deciding by recalibrated probabilities would surely cost less, or more."""
    tone, words = "good", "decided.recalibration_idle"
    if saved.low is not None and saved.low > 0:
        tone, words = "doubt", "decided.recalibration_helps"
    elif saved.high is not None and saved.high < 0:
        words = "decided.recalibration_hurts"
    figures = [estimate_in(PER, saved, "decided.recalibration")]
    return answer("decided.honest", tone, said(words, cost=PER * abs(saved.value)), figures=figures)
