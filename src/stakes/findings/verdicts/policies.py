"""The verdict on ways to decide between several classes: what each costs, and which one earns its keep."""

from collections.abc import Iterator

from stakes.decisions.policies import CHEAPEST, HIGHEST, RECALIBRATED, Policies
from stakes.decisions.thresholds.decision import PER, least_sure
from stakes.findings.verdicts.answers import in_cases, in_order, limits
from stakes.findings.verdicts.ways import decision_cautions
from stakes.language.sentences import Chip, Finding, Tone, answer, caution, money, sentence
from stakes.metrics import Estimate

_MOST_CLASSES = 10

_RULES = {HIGHEST: "decided.by_highest", CHEAPEST: "decided.by_cheapest", RECALIBRATED: "decided.by_recalibrated"}


def verdict_of(policies: Policies) -> tuple[Finding, ...]:
    """Return how to decide, whether that earns its keep, and what a careful colleague would point out."""
    more = [caution("decided.sampled")] if policies.note else []
    never = decision_cautions(policies.costs.never_cheapest(), policies.dropped)
    first = [_what(policies), *_right(policies)]
    return in_order(_answers(policies), [*policies.cautions, *never, *more], first)


def _what(policies: Policies) -> Finding:
    best, always = policies.best, policies.constant.removeprefix("always ")
    rule = sentence(_RULES[best]) if best in _RULES else sentence("decided.everyone", decision=always)
    return answer("decided.how", "good" if policies.enough_evidence else "doubt", rule)


def _right(policies: Policies) -> Iterator[Finding]:
    """How many cases of each class are decided rightly, the worst class first."""
    worst = sorted(policies.right.items(), key=lambda item: item[1].value)[:_MOST_CLASSES]
    told = [sentence("decided.right_of", name=name, **in_cases("cases", one, 100)) for name, one in worst]
    if told:
        yield answer("decided.right", "note", *told)


def _answers(policies: Policies) -> Iterator[Finding]:
    unit, cost = policies.costs.unit, policies.estimates[policies.best]
    spent = sentence("decided.cost_given", cost=money(PER * cost.value, unit))
    figures = [Chip.of(cost, "decided.per_thousand", PER, "cost", unit)]
    yield answer("decided.price", "note", spent, *limits("decided.limits", cost, PER, unit), figures=figures)
    if policies.best == policies.constant:
        yield answer("decided.evidence", "bad", sentence("decided.scores_in_vain"))
    else:
        tone: Tone = "good" if policies.enough_evidence else "doubt"
        rival = least_sure(policies.against)
        saving = policies.against[rival]
        words = "decided.earns" if policies.enough_evidence else "decided.not_enough"
        told = sentence(words, saving=money(PER * saving.value, unit), decision=rival.removeprefix("always "))
        yield answer("decided.evidence", tone, told, figures=[Chip.of(saving, "decided.saving", PER, "cost", unit)])
    if policies.recalibration is not None:
        yield _recalibration(policies.recalibration, unit)


def _recalibration(saved: Estimate, unit: str) -> Finding:
    """Whether deciding by recalibrated probabilities would surely cost less, or more."""
    tone: Tone = "good"
    words = "decided.recalibration_idle"
    if saved.low is not None and saved.low > 0:
        tone, words = "doubt", "decided.recalibration_helps"
    elif saved.high is not None and saved.high < 0:
        words = "decided.recalibration_hurts"
    figures = [Chip.of(saved, "decided.recalibration", PER, "cost", unit)]
    return answer("decided.honest", tone, sentence(words, cost=money(PER * abs(saved.value), unit)), figures=figures)
