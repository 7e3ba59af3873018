"""Few labels to look at."""

from stakes.evaluation.few_labels import FewLabels
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, words
from stakes.metrics.agreement import accuracy
from stakes.views.page import Page, TextTable, between


def page(found: FewLabels, everything: bool = False, more: str = "") -> Page:
    """Lay out the figures, and of each how many labels alone would tell as much."""
    worth = {name: write(round(count), "count") for name, count in found.as_good_as.items()}
    sure = words("figures.interval", confidence=found.confidence)
    head = (words("permutation.figure"), words("permutation.value"), sure, words("few.worth"))
    rows = [
        (metric_name(name), write(one.value), between(one), worth.get(name, "–")) for name, one in found.figures.items()
    ]
    grids = [TextTable(head, rows)]
    if found.segments:
        parts = [(name, write(part.rows, "count"), write(part.labelled, "count"), write(part[accuracy.name].value),
                  between(part[accuracy.name])) for name, part in found.segments.items()]  # fmt: skip
        top = (words("gap.group"), words("few.rows"), words("few.labels"), metric_name(accuracy.name), sure)
        grids.append(TextTable(top, parts))
    return Page.of(about(found), found.findings, grids=grids)
