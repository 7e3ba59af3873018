"""Few labels to look at."""

from stakes.evaluation.few_labels import FewLabels
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, words
from stakes.metrics.agreement import accuracy
from stakes.views.page import Page, TextTable, between, sure_of, write_figure


def page(found: FewLabels, everything: bool = False, more: str = "") -> Page:
    """Lay out the figures, and of each how many labels alone would tell as much."""
    worth = {name: write(round(count), "count") for name, count in found.as_good_as.items()}
    figures = TextTable.of(
        found.figures.values(),
        (words("permutation.figure"), lambda one: metric_name(one.name)),
        (words("permutation.value"), write_figure("value")),
        (sure_of(found.confidence), between),
        (words("few.worth"), lambda one: worth.get(one.name, "–")),
    )
    segments = TextTable.of(
        found.segments.items(),
        (words("gap.group"), lambda one: one[0]),
        (words("few.rows"), lambda one: write(one[1].rows, "count")),
        (words("few.labels"), lambda one: write(one[1].labelled, "count")),
        (metric_name(accuracy.name), lambda one: write(one[1][accuracy.name].value)),
        (sure_of(found.confidence), lambda one: between(one[1][accuracy.name])),
    )
    return Page.of(about(found), found.findings, [figures, *([segments] if found.segments else [])])
