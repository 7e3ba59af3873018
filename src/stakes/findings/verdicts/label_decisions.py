"""The verdict on the thresholds of several labels: from where on each is given, and for which that pays."""

from stakes.decisions.thresholds.by_label import LabelDecisions
from stakes.findings.verdicts.answers import MOST, decision_cautions, in_order, some_names
from stakes.findings.verdicts.decision import rule_of
from stakes.language.sentences import Finding, answer, caution, sentence


def verdict_of(found: LabelDecisions) -> tuple[Finding, ...]:
    """Return what to decide about each label, for which labels that surely pays, and what to keep in mind."""
    unsure = [label for label, sure in found.enough_evidence.items() if sure is False]
    rules = [rule_of(decision, decision.recommended) for decision in found.decisions.values()]
    first = [answer("decided.each", "doubt" if unsure else "good", *rules[:MOST])]
    left = [caution("decided.left_out", names=some_names(found.left_out))] if found.left_out else []
    notes = [*found.cautions, *left, *decision_cautions((), found.dropped)]
    if None in found.enough_evidence.values():  # a figure was asked for, and no costs
        return in_order([], notes, first)
    lead = sentence("decided.each_in_vain", names=some_names(unsure)) if unsure else sentence("decided.each_earns")
    return in_order([answer("decided.evidence", "doubt" if unsure else "good", lead)], notes, first)
