"""The verdict on the gap between groups: are their figures alike?"""

from stakes.evaluation.gap import Gap
from stakes.language.sentences import Chip, Finding, answer, metric, reason, sentence


def verdict_of(gap: Gap) -> tuple[Finding, ...]:
    """Return whether the groups' figures are alike, and which groups have none."""
    missing = [sentence("gap.not_estimable", names=list(gap.not_estimable))] if gap.not_estimable else []
    if gap.low is None or gap.highest is None:
        return (answer("gap.question", "open", sentence("gap.unknown", why=reason(gap.reason)), *missing),)
    ends = {name: getattr(gap, name) for name in ("value", "low", "high", "apart", "highest", "lowest")}
    apart = gap.low > 0
    lead = sentence("gap.apart" if apart else "gap.alike", name=metric(gap.figure), **ends)
    figures = [Chip.of(gap.estimate, "gap.size", name=metric(gap.figure))]
    return (answer("gap.question", "bad" if apart else "note", lead, *missing, figures=figures),)
