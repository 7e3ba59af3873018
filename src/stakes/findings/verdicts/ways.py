"""What to point out about ways to decide."""

from collections.abc import Iterable

from stakes.language.sentences import Finding, caution


def decision_cautions(never_cheapest: Iterable[str], dropped: int) -> list[Finding]:
    """Return what to point out: decisions that are never worth taking, and rows that were left out."""
    found = [caution("caution.never_cheapest", name=name) for name in never_cheapest]
    return [*found, caution("caution.dropped", n=dropped)] if dropped else found
