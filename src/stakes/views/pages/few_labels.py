"""Few labels to look at."""

from stakes.evaluation.few_grades import MEAN_TRUTH, FewGrades
from stakes.evaluation.few_labels import FewLabels
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, words
from stakes.views.page import Page, TextTable, between


def page(found: FewLabels | FewGrades, everything: bool = False, more: str = "") -> Page:
    """Lay out the figures, and of each how many labels alone would tell as much."""
    worth = {name: write(round(count), "count") for name, count in found.as_good_as.items()}
    sure = words("figures.interval", confidence=found.confidence)
    head = (words("permutation.figure"), words("permutation.value"), sure, words("few.worth"))
    rows = [(_name(name), write(one.value), between(one), worth.get(name, "–")) for name, one in found.figures.items()]
    grids = [TextTable(head, rows)]
    if found.segments:
        parts = [(name, write(part.rows, "count"), write(part.labelled, "count"), write(part[found.key_figure].value),
                  between(part[found.key_figure])) for name, part in found.segments.items()]  # fmt: skip
        top = (words("gap.group"), words("few.rows"), words("few.labels"), _name(found.key_figure), sure)
        grids.append(TextTable(top, parts))
    return Page.of(about(found), found.findings, grids=grids)


def _name(name: str) -> str:
    return words("few.mean_truth") if name == MEAN_TRUTH else metric_name(name)
