"""A gate to look at: passed or failed first, then every condition."""

from stakes.errors import Text
from stakes.evaluation.gate import Check, Gate
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import Tone, reason_text, words
from stakes.views.page import Page, TextTable, between, sure_of

_SEGMENT = {"dropped": "that_is", "require": "worst_is", "no_worse": "worst_is"}


def page(gate: Gate, everything: bool = False, more: str = "") -> Page:
    """Lay out the conditions and what was seen."""
    sure = sure_of(gate.confidence)
    head = [*(words(f"gate.{name}") for name in ("condition", "verdict", "seen", "estimate")), sure]
    remarks = [note for check in gate.checks for note in (_remark(check), reason_text(check.estimate.note)) if note]
    tones: dict[str, Tone] = {words("gate.passed"): "good", words("gate.failed"): "bad"}
    grid = TextTable(head, [_row(check) for check in gate.checks], words=(0, 1), tones=tones)
    return Page.of(about(gate), gate.findings, [grid], dict.fromkeys(remarks))


def _remark(check: Check) -> str:
    """What the numbers do not say: the reason why there are none, and the segment."""
    parts = [] if check.segment is None else [words(f"gate.{_SEGMENT[check.kind]}", segment=check.segment)]
    parts += [reason_text(check.reason)] if check.reason else []
    return (
        Text(reason_text(check.condition), ": ", *[one for part in parts for one in (", ", part)][1:]) if parts else ""
    )


def _row(check: Check) -> tuple[str, ...]:
    verdict = words("gate.passed" if check.passed else "gate.failed")
    return (
        reason_text(check.condition),
        verdict,
        write(check.seen),
        write(check.estimate.value),
        between(check.estimate),
    )
