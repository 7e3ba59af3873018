"""Decisions against the truth: counts, and shares of each true class with their intervals."""

from typing import TYPE_CHECKING

import numpy as np

from stakes.findings.pictures import share_limits, shares_of_truth
from stakes.question.options import Value
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.views.plots.style import Axes, Display, axes
from stakes.views.plots.words import inert, interval_name

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
        sure = "" if level is None or len(table.decisions) > _WITH_INTERVALS else f", with {interval_name(level)}"
        ax.set_title(f"share of each true class{sure}")
        if not texts:
            ax.figure.colorbar(image, ax=ax, label="share of the true class")
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
            lines.append(f"{100 * ends[0]:.0f} – {100 * ends[1]:.0f} %")
        lines.append(_count(float(table.counts[i, j])))
        colour = "white" if share > _DARK else "#333333"
        size = 10 if small else 8
        texts.append(ax.text(j, i, "\n".join(lines), ha="center", va="center", color=colour, fontsize=size))
    return texts


def _percent(share: float) -> str:
    """A share that is neither nothing nor all is not written as such."""
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 < share < 1 else f"{100 * share:.0f} %"


def _count(count: float) -> str:
    if count < 1e5:
        return f"{count:,.6g}"
    power = 6 if count >= 1e6 else 3
    return f"{count / 10**power:,.3g} {'M' if power == 6 else 'k'}"


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
    ax.set(xlabel="decision", ylabel="truth")
