"""The page of the thresholds of several labels: what each costs, finds and alarms."""

from stakes.decisions.thresholds.by_label import LabelDecisions
from stakes.findings.pages.figures import each_section
from stakes.findings.pages.payload import Part
from stakes.findings.verdicts.answers import MOST
from stakes.language.sentences import sentence


def sections_of(found: LabelDecisions) -> list[Part]:
    """Return the section below the verdict: each label at its threshold."""
    shown = list(found.decisions.items())[:MOST]
    each = {label: (one.rows, {one.cost.name: one.cost, **one.figures}) for label, one in shown}
    return each_section(each, found.labels, title=sentence("each.labels"), entry=sentence("each.of_labels"))
