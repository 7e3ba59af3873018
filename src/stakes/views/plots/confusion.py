"""Decisions against the truth: counts, and shares of each true class with their intervals."""

from typing import TYPE_CHECKING

import numpy as np

from stakes.findings.pictures import share_limits, shares_of_truth
from stakes.language.numbers import in_signs, write
from stakes.language.sentences import words
from stakes.question.options import Value
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.views.plots.style import Axes, Display, axes
from stakes.views.plots.words import inert

if TYPE_CHECKING:
    from matplotlib.text import Text

_WITH_INTERVALS = 4
_WITH_NUMBERS = 20
_MOST_NAMES = 40
_DARK = 0.55
"""From this share on a cell is so dark that its text is white."""


def of_evaluation(evaluation: Value, kind: str, ax: object) -> Display:
    """Draw the confusion table of an evaluation."""
    table: Confusion = evaluation.confusion
    level = None if evaluation.counted.clusters is not None else evaluation.sampling.confidence
    cell = 1.45 if len(table.decisions) <= _WITH_INTERVALS else 0.62 if len(table.decisions) <= _WITH_NUMBERS else 0.2
    width, height = (min(max(cell * len(names), 2.9), 11) for names in (table.decisions, table.truths))
    longest = 0.075 * max(len(inert(name, 20)) for name in table.truths)
    with axes(ax, width + longest + 1.6, height + 1.2) as ax:
        shares = shares_of_truth(table)
        image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        texts = _numbers(ax, table, shares, level) if len(table.decisions) <= _WITH_NUMBERS else []
        _names(ax, table)
        sure = level is not None and len(table.decisions) <= _WITH_INTERVALS
        ax.set_title(words("plot.shares_sure", confidence=level) if sure else words("plot.shares"))
        if not texts:
            ax.figure.colorbar(image, ax=ax, label=words("plot.share"))
        return Display(kind, ax, {"image": image, "texts": texts})


def _numbers(ax: Axes, table: Confusion, shares: Array, level: float | None) -> list["Text"]:
    """Write the share of the true class, its interval and the count into each cell."""
    small = len(table.decisions) <= _WITH_INTERVALS
    effective = list(table.effective_truths.values())
    limits = share_limits(table, level) if small and level is not None else None
    texts = []
    for (i, j), share in np.ndenumerate(shares):
        if not small and share == 0:  # a large table is mostly empty
            continue
        lines = [_percent(share)] if effective[i] else ["–"]
        if limits is not None and (ends := limits[i][j]) is not None:
            lines.append(f"{100 * ends[0]:.0f} – {_percent(ends[1], ends=True)}")
        lines.append(_count(float(table.counts[i, j])))
        colour = "white" if share > _DARK else "#333333"
        size = 10 if small else 8
        texts.append(ax.text(j, i, "\n".join(lines), ha="center", va="center", color=colour, fontsize=size))
    return texts


def _percent(share: float, ends: bool = False) -> str:
    """A share that is neither nothing nor all is not written as such, unless it is the end of an interval."""
    if 0 < share < 0.005 and not ends:
        return f"< {write(0.01, 'percent')}"
    return f"> {write(0.99, 'percent')}" if 0.995 < share < 1 and not ends else write(round(share, 2), "percent")


def _count(count: float) -> str:
    if count < 1e5:
        return in_signs(f"{count:,.6g}")
    power = 6 if count >= 1e6 else 3
    return f"{in_signs(f'{count / 10**power:,.3g}')} {'M' if power == 6 else 'k'}"


def _names(ax: Axes, table: Confusion) -> None:
    for axis, names in ((ax.xaxis, table.decisions), (ax.yaxis, table.truths)):
        every = -(-len(names) // _MOST_NAMES)
        axis.set_ticks(range(0, len(names), every), [inert(name, 20) for name in names[::every]])
    crowded = max(len(inert(name, 20)) for name in table.decisions) * len(table.decisions) > 30
    if crowded:
        for label in ax.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0)
    ax.set(xlabel=words("matrix.decision"), ylabel=words("matrix.truth"))
