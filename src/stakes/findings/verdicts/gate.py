"""The verdict on a gate: open or closed, and by what."""

from stakes.evaluation.gate import Gate
from stakes.findings.verdicts.answers import MOST, in_order
from stakes.language.sentences import Finding, answer, caution, reason, sentence


def verdict_of(gate: Gate) -> tuple[Finding, ...]:
    """Return whether all conditions are met, and which are not."""
    count, failed = len(gate.checks), list(gate.failed)
    if failed:
        lead = sentence("gate.closed_one") if count == 1 else sentence("gate.closed", n=len(failed), of=count)
        found = answer(
            "gate.question",
            "bad",
            lead,
            *(sentence("gate.not_met", condition=reason(c.condition)) for c in failed[:MOST]),
        )
    else:
        few = {1: sentence("gate.open_one"), 2: sentence("gate.open_both")}
        lead = few.get(count) or sentence("gate.open", n=count)
        found = answer("gate.question", "good", lead)
    return in_order([found], [caution("caution.dropped", n=gate.dropped)] if gate.dropped else [])
