"""A permutation test to look at."""

from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, reason_text, words
from stakes.uncertainty.permutation import PermutationTest
from stakes.views.page import Page, TextTable


def page(test: PermutationTest, everything: bool = False, more: str = "") -> Page:
    """Lay out a permutation test."""
    head = [words(f"permutation.{name}") for name in ("figure", "value", "p", "method")]
    row = (metric_name(test.metric), write(test.value), write(test.p_value, "p"), reason_text(test.method))
    return Page.of(about(test), test.findings, grids=[TextTable(head, [row], words=(0, 3))])
