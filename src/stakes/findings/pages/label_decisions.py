"""The page of the thresholds of several labels: what each costs, finds and alarms."""

from stakes.decisions.thresholds.by_label import LabelDecisions
from stakes.findings.pages.payload import Part, figure, section
from stakes.findings.verdicts.answers import MOST
from stakes.language.sentences import sentence, short_name


def sections_of(found: LabelDecisions) -> list[Part]:
    """Return the section below the verdict: each label at its threshold."""
    shown = list(found.decisions.items())[:MOST]
    known = [shown[0][1].cost.name, *shown[0][1].figures]
    rows = [
        {
            "name": short_name(label),
            "rows": one.rows,
            "figures": [figure(one.cost), *map(figure, one.figures.values())],
        }
        for label, one in shown
    ]
    words = {"title": sentence("each.labels"), "entry": sentence("each.of_labels")}
    return [section("classes", metrics=known, classes=rows, whole=None, count=found.labels, **words)]
