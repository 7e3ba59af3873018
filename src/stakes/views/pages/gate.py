"""A gate to look at: passed or failed first, then every condition."""

from stakes.evaluation.gate import Check, Gate
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import Tone, words
from stakes.views.page import Page, TextTable, between


def page(gate: Gate, everything: bool = False, more: str = "") -> Page:
    """Lay out the conditions and what was seen."""
    sure = words("figures.interval", confidence=gate.confidence)
    head = [*(words(f"gate.{name}") for name in ("condition", "verdict", "seen", "estimate")), sure]
    remarks = [note for check in gate.checks for note in (check.remark, check.estimate.note) if note]
    tones: dict[str, Tone] = {words("gate.passed"): "good", words("gate.failed"): "bad"}
    grid = TextTable(head, [_row(check) for check in gate.checks], words=(0, 1), tones=tones)
    return Page.of(about(gate), gate.findings, [grid], dict.fromkeys(remarks))


def _row(check: Check) -> tuple[str, ...]:
    verdict = words("gate.passed" if check.passed else "gate.failed")
    return check.condition, verdict, write(check.seen), write(check.estimate.value), between(check.estimate)
