"""Few labels to look at."""

from stakes.evaluation.few_grades import MEAN_TRUTH
from stakes.evaluation.few_rows import FewEstimates
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, words
from stakes.views.page import Page, TextTable, between, sure_of, write_figure


def page(found: FewEstimates, everything: bool = False, more: str = "") -> Page:
    """Lay out the figures, and for each how many labels alone would be as precise."""
    worth = {name: write(round(count), "count") for name, count in found.as_good_as.items()}
    figures = TextTable.of(
        found.figures.values(),
        (words("permutation.figure"), lambda one: _name(one.name)),
        (words("permutation.value"), write_figure("value")),
        (sure_of(found.confidence), between),
        (words("few.worth"), lambda one: worth.get(one.name, "–")),
    )
    segments = TextTable.of(
        found.segments.items(),
        (words("gap.group"), lambda one: one[0]),
        (words("few.rows"), lambda one: write(one[1].rows, "count")),
        (words("few.labels"), lambda one: write(one[1].labelled, "count")),
        (_name(found._key_figure), lambda one: write(one[1][found._key_figure].value)),
        (sure_of(found.confidence), lambda one: between(one[1][found._key_figure])),
    )
    return Page.of(about(found), found.findings, [figures, *([segments] if found.segments else [])])


def _name(name: str) -> str:
    return words("few.mean_truth") if name == MEAN_TRUTH else metric_name(name)
