"""The verdict on ways to decide between several classes: what each costs, and which one earns its keep."""

from collections.abc import Iterator

from stakes.decisions.policies import CHEAPEST, HIGHEST, RECALIBRATED, Policies
from stakes.decisions.thresholds.decision import PER, least_sure
from stakes.findings.verdicts.answers import MATTERS, decision_cautions, in_cases, in_order, limits
from stakes.language.sentences import Chip, Finding, Sentence, Tone, answer, caution, money, sentence
from stakes.metrics import Estimate

_MOST_CLASSES = 10

_RULES = {HIGHEST: "decided.by_highest", CHEAPEST: "decided.by_cheapest", RECALIBRATED: "decided.by_recalibrated"}


def verdict_of(policies: Policies) -> tuple[Finding, ...]:
    """Return how to decide, whether that earns its keep, and what a careful colleague would point out."""
    never = decision_cautions(policies.costs.never_cheapest(), policies.dropped)
    first = [_what(policies), *_right(policies)]
    return in_order(_answers(policies), [*policies.cautions, *never, *_lacking(policies)], first)


def _lacking(policies: Policies) -> Iterator[Finding]:
    """What is known from some of the rows only, or not at all."""
    if policies.sampled:
        yield caution("decided.sampled_recalibration" if policies.sampled == (RECALIBRATED,) else "decided.sampled")
    elif policies.note:
        yield caution("decided.not_recalibrated")


def _what(policies: Policies) -> Finding:
    best, always = policies.best, policies.constant.removeprefix("always ")
    rule = sentence(_RULES[best]) if best in _RULES else sentence("decided.everyone", decision=always)
    return answer("decided.how", "good" if policies.enough_evidence else "doubt", rule)


def _right(policies: Policies) -> Iterator[Finding]:
    """How many cases of each class are decided rightly, the worst class first."""
    worst = sorted(policies.right.items(), key=lambda item: item[1].value)[:_MOST_CLASSES]
    sentences = [sentence("decided.right_of", name=name, **in_cases("cases", one, 100)) for name, one in worst]
    if sentences:
        yield answer("decided.right", "note", *sentences)


def _answers(policies: Policies) -> Iterator[Finding]:
    unit, cost = policies.costs.unit, policies.estimates[policies.best]
    spent = sentence("decided.cost_given", cost=money(PER * cost.value, unit))
    figures = [Chip.of(cost, "decided.per_thousand", PER, "cost", unit)]
    yield answer("decided.price", "note", spent, *limits("decided.limits", cost, PER, unit), figures=figures)
    if policies.best == policies.constant:
        yield answer("decided.evidence", "bad", sentence("decided.scores_in_vain"))
    else:
        tone: Tone = "good" if policies.enough_evidence else "doubt"
        rival = least_sure(policies.savings)
        saving = policies.savings[rival]
        words = "decided.earns" if policies.enough_evidence else "decided.not_enough"
        lead = sentence(words, saving=money(PER * saving.value, unit), decision=rival.removeprefix("always "))
        yield answer("decided.evidence", tone, lead, figures=[Chip.of(saving, "decided.saving", PER, "cost", unit)])
    if policies.method is not None:
        yield _recalibration(policies, policies.method)


def _recalibration(policies: Policies, method: str) -> Finding:
    """Whether deciding by recalibrated probabilities would surely cost less, or more; what other methods save."""
    saved, unit = policies.recalibrations[method], policies.costs.unit
    tone: Tone = "good"
    words = "decided.recalibration_idle"
    if _surely_saves(saved):
        tone, words = "doubt", "decided.recalibration_helps"
    elif saved.high is not None and saved.high < 0:
        words = "decided.recalibration_hurts"
    elif saved.high is None or saved.high > MATTERS[1] * policies.estimates[CHEAPEST].value:
        tone, words = "doubt", "decided.recalibration_unsure"
    costs = {"cost": abs(saved.value), "all": policies.estimates[CHEAPEST].value, "most": saved.high}
    cost = {name: None if one is None else money(PER * one, unit) for name, one in costs.items()}
    sentences = [sentence(words, method=sentence(f"recalibration.{method}"), **cost)]
    if any(map(_surely_saves, policies.recalibrations.values())):
        sentences += [_other(name, one, unit) for name, one in policies.recalibrations.items() if name != method]
    chip = Chip.of(saved, "decided.recalibration", PER, "cost", unit)
    return answer("decided.honest", tone, *sentences, figures=[chip])


def _other(method: str, saved: Estimate, unit: str) -> Sentence:
    named = sentence(f"recalibration.{method}")
    if not _surely_saves(saved):
        return sentence("decided.recalibration_nothing", method=named)
    return sentence("decided.recalibration_other", method=named, cost=money(PER * saved.value, unit))


def _surely_saves(saved: Estimate) -> bool:
    return saved.low is not None and saved.low > 0
