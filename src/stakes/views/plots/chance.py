"""Could the figure be chance? What it is when labels are shuffled, beside what it is."""

import numpy as np

from stakes.errors import InputError
from stakes.findings.pictures import null_histogram
from stakes.language.sentences import metric_name, words
from stakes.uncertainty.permutation import PermutationTest
from stakes.views.plots.style import COLOURS, PALE, Display, axes
from stakes.views.plots.words import figure_name

_BINS = 40


def null(test: PermutationTest, kind: str, ax: object, *, bins: int = _BINS) -> Display:
    """Draw the figures of shuffled labels, and the figure itself with its p-value."""
    if test.null is None:
        raise InputError(
            "no-null", f"nothing was shuffled, so there is nothing to draw: the p-value is exact ({test.method})"
        )
    with axes(ax, 6.0, 3.8) as ax:
        label = words("null.bars", n=test.permutations)
        heights, edges = null_histogram(test, bins)
        bars = ax.stairs(heights, edges, fill=True, color=PALE, alpha=0.6, label=label)
        label = words("null.seen", name=figure_name(test.metric), value=test.value, p=test.p_value)
        value = ax.axvline(test.value, color=COLOURS[1], label=label)
        ax.set_ylim(0, 1.3 * float(heights.max(initial=1)))  # room for the legend
        ax.set(xlabel=figure_name(test.metric), ylabel=words("null.shuffles"))
        ax.set_title(words("null.chart", name=metric_name(test.metric)), wrap=True)
        ax.grid(False, axis="x")
        left = test.value < float(np.mean(ax.get_xlim()))
        ax.legend(loc="upper right" if left else "upper left")
        return Display(kind, ax, {"bars": bars, "value": value})
