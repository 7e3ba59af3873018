"""The verdict on ways to decide between several classes: what each costs, and which one earns its keep."""

from collections.abc import Iterator

from stakes.decisions.policies import CHEAPEST, HIGHEST, RECALIBRATED, Policies
from stakes.decisions.thresholds.decision import PER, least_sure
from stakes.findings.verdicts.answers import in_order
from stakes.findings.verdicts.ways import decision_cautions
from stakes.language.sentences import Chip, Finding, Tone, answer, caution, sentence
from stakes.metrics import Estimate

_RULES = {HIGHEST: "decided.by_highest", CHEAPEST: "decided.by_cheapest", RECALIBRATED: "decided.by_recalibrated"}


def verdict_of(policies: Policies) -> tuple[Finding, ...]:
    """Return how to decide, whether that earns its keep, and what a careful colleague would point out."""
    more = [caution("decided.sampled")] if policies.note else []
    never = decision_cautions(policies.costs.never_cheapest(), policies.dropped)
    return in_order(_answers(policies), [*policies.cautions, *never, *more])


def _answers(policies: Policies) -> Iterator[Finding]:
    best, cost = policies.best, policies.estimates[policies.best]
    always = policies.constant.removeprefix("always ")
    rule = sentence(_RULES[best]) if best in _RULES else sentence("decided.everyone", decision=always)
    tone: Tone = "good" if policies.enough_evidence else "doubt"
    yield answer("decided.how", tone, rule, figures=[Chip.of(cost, "decided.per_thousand", PER, "cost")])
    if best == policies.constant:
        yield answer("decided.evidence", "bad", sentence("decided.scores_in_vain"))
    else:
        rival = least_sure(policies.against)
        saving = policies.against[rival]
        words = "decided.earns" if policies.enough_evidence else "decided.not_enough"
        told = sentence(words, saving=PER * saving.value, decision=rival.removeprefix("always "))
        yield answer("decided.evidence", tone, told, figures=[Chip.of(saving, "decided.saving", PER, "cost")])
    if policies.recalibration is not None:
        yield _recalibration(policies.recalibration)


def _recalibration(saved: Estimate) -> Finding:
    """Whether deciding by recalibrated probabilities would surely cost less, or more."""
    tone: Tone = "good"
    words = "decided.recalibration_idle"
    if saved.low is not None and saved.low > 0:
        tone, words = "doubt", "decided.recalibration_helps"
    elif saved.high is not None and saved.high < 0:
        words = "decided.recalibration_hurts"
    figures = [Chip.of(saved, "decided.recalibration", PER, "cost")]
    return answer("decided.honest", tone, sentence(words, cost=PER * abs(saved.value)), figures=figures)
