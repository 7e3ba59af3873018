"""What a view shows of an evaluation: facts, notes and a few small tables, still without any markup."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from stakes import metrics
from stakes.errors import Text
from stakes.metrics import Estimate
from stakes.metrics.estimate import percent
from stakes.tallies import Confusion

Figures: TypeAlias = Sequence[tuple[metrics.Metric, Estimate]]

_UNDEFINED = "undefined: "

_SAME_REASON = 3
"""So many figures that are undefined for the same reason are told in one line."""


@dataclass(frozen=True)
class Grid:
    """A small table of text; all columns but those named in ``words`` are numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = (0,)
    sections: Sequence[int] = ()
    title: str = ""


@dataclass(frozen=True)
class Page:
    """The parts of a page, in the order in which they are shown."""

    facts: Mapping[str, str]
    grids: Sequence[Grid]
    notes: Sequence[str] = ()
    hidden: int = 0
    picture: str = ""

    def mapped(self, write: Callable[[str], str]) -> "Page":
        """Return the page with each of its texts written another way: every cell, fact, note, title, line."""

        def each(texts: Sequence[str]) -> list[str]:
            return [write(text) for text in texts]

        facts = {write(name): write(fact) for name, fact in self.facts.items()}
        grids = [
            replace(grid, head=each(grid.head), rows=list(map(each, grid.rows)), title=write(grid.title))
            for grid in self.grids
        ]
        picture = "\n".join(each(self.picture.split("\n")))
        return replace(self, facts=facts, grids=grids, notes=each(self.notes), picture=picture)


@dataclass(frozen=True)
class Content:
    """What there is to show."""

    facts: Mapping[str, str]
    figures: Mapping[str, Estimate]
    before: Sequence[Grid] = ()
    after: Sequence[Grid] = ()
    notes: Sequence[str] = ()
    find: Callable[[str], metrics.Metric] = metrics.find

    def page(self, everything: bool = False) -> Page:
        """Lay out the main figures, or everything."""
        shown = [(self.find(name), estimate) for name, estimate in self.figures.items()]
        shown = [(metric, estimate) for metric, estimate in shown if everything or metric.headline]
        kept, notes = (shown, []) if everything else _without_repeated_reasons(shown)
        grids = [*self.before, *([_figures(kept, everything)] if kept else []), *self.after]
        return Page(self.facts, grids, [*notes, *self.notes], len(self.figures) - len(shown))


def _without_repeated_reasons(shown: Figures) -> tuple[Figures, list[str]]:
    """Take out figures that are all undefined for the same reason, and say it once."""
    names: dict[str, list[str]] = {}
    for metric, estimate in shown:
        names.setdefault(estimate.reason, []).append(metric.name)
    shared = {reason for reason, same in names.items() if reason and len(same) >= _SAME_REASON}
    notes = [Text(f"{', '.join(names[reason])} are undefined: ", reason) for reason in shared]
    return [(metric, estimate) for metric, estimate in shown if estimate.reason not in shared], sorted(notes)


def confusion_grid(confusion: Confusion) -> Grid:
    """Return a confusion table to look at."""
    head, *rows = confusion.text_rows()
    return Grid(head, rows)


def number(value: float | None) -> str:
    """Write a figure with four decimals, or as many digits as a very large or small one needs."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}"
    return f"{value:.4f}"


def size(rows: float) -> dict[str, str]:
    """How many rows there are, or what they weigh, as a fact."""
    return {"rows": f"{rows:,}"} if isinstance(rows, int) else {"weight of rows": f"{rows:,.6g}"}


def between(estimate: Estimate) -> str:
    """Write an interval, or a dash where there is none."""
    return "–" if estimate.low is None else f"{number(estimate.low)} – {number(estimate.high)}"


def _words(metric: metrics.Metric, estimate: Estimate, everything: bool) -> str:
    """What there is to say about a figure: its question, and when everything is told, why it has no interval."""
    if not estimate.defined:
        return Text(_UNDEFINED, estimate.reason)
    why = f" (no interval: {estimate.no_interval})" if everything and estimate.low is None else ""
    return metric.question + why


def _figures(shown: Figures, families: bool) -> Grid:
    rows = [
        (metric.full_text, number(one.value), between(one), number(one.baseline), _words(metric, one, families))
        for metric, one in shown
    ]
    pairs = itertools.pairwise(metric.family for metric, _ in shown)
    sections = [i for i, (one, next_one) in enumerate(pairs) if families and one != next_one]
    sure = f"{percent(shown[0][1].confidence)} interval"
    head = ("figure", "value", sure, "baseline", "the question it answers")
    return Grid(head, rows, words=(0, 4), sections=sections)


def short(name: str) -> str:
    """Long names by their first alias, where columns are narrow."""
    aliases = [alias for alias in metrics.find(name).aliases if len(alias) < len(name)]
    return aliases[0] if len(name) > 12 and aliases else name
