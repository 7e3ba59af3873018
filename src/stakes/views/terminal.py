"""Figures as text for a terminal."""

import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stakes import metrics
from stakes.metrics import Estimate
from stakes.tallies import Confusion

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_SEGMENT_COLUMNS = ("accuracy", "recall", "precision", "f1", "auc", "brier_score")
_MOST_SEGMENTS = 20


@dataclass(frozen=True)
class Page:
    """What a view shows: some facts, the confusion table, the figures, and those of each segment."""

    facts: Mapping[str, str]
    confusion: Confusion | None
    figures: Mapping[str, Estimate]
    segments: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)

    def shown(self, everything: bool) -> list[tuple[metrics.Metric, Estimate]]:
        """The figures to show, each with its declaration: the main ones, or all."""
        declared = [(metrics.find(name), estimate) for name, estimate in self.figures.items()]
        return [(metric, estimate) for metric, estimate in declared if everything or metric.headline]

    def hidden(self, everything: bool) -> int:
        """How many figures are not shown."""
        return len(self.figures) - len(self.shown(everything))


def number(value: float | None) -> str:
    """Write a figure with four decimals, or as many digits as a very large or small one needs."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}"
    return f"{value:.4f}"


def show(page: Page, everything: bool = False) -> None:
    """Print to the terminal, in colour where it is one."""
    from rich.console import Console

    _print(Console(highlight=False), page, everything)


def text(page: Page, everything: bool = False, width: int = 100) -> str:
    """Return plain text."""
    from rich.console import Console

    out = io.StringIO()
    _print(Console(file=out, width=width, highlight=False, no_color=True), page, everything)
    return out.getvalue().rstrip()


def _print(console: "Console", page: Page, everything: bool) -> None:
    for part in _parts(page, everything):
        console.print(part)
        console.print()
    hidden = page.hidden(everything)
    if hidden:
        console.print(f"{hidden} more figures: ev.to_rows(), or --all on the command line", style="dim")


def _parts(page: Page, everything: bool) -> Iterator["RenderableType"]:
    from rich.text import Text

    width = max(map(len, page.facts))
    yield Text("\n".join(f"{name:<{width}}  {fact}" for name, fact in page.facts.items()))
    if page.confusion is not None:
        yield _confusion(page.confusion)
    if page.figures:
        yield _figures(page, everything)
    if page.segments:
        yield _segments(page.segments)


def _table(*headers: str, title: str = "") -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, title=Text(title) if title else None, title_justify="left"
    )
    for header in headers:
        table.add_column(Text(header))
    return table


def _confusion(confusion: Confusion) -> Any:
    from rich.text import Text

    table = _table("truth \\ decision", *confusion.decisions)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, row in zip(confusion.truths, confusion.counts.tolist(), strict=True):
        table.add_row(Text(name), *(f"{v:,}" if isinstance(v, int) else f"{v:,.6g}" for v in row))
    return table


def _figures(page: Page, everything: bool) -> Any:
    table = _table("figure", "value", "ignoring input", "the question it answers")
    for column in table.columns[1:3]:
        column.justify = "right"
    for column in table.columns[:3]:
        column.no_wrap = True
    family = ""
    for metric, estimate in page.shown(everything):
        if everything and family not in ("", metric.family):
            table.add_section()
        family = metric.family
        words = metric.question if estimate.defined else f"undefined: {estimate.reason}"
        table.add_row(metric.name, number(estimate.value), number(estimate.baseline), words)
    return table


def _segments(segments: Mapping[str, Mapping[str, Estimate]]) -> Any:
    from rich.text import Text

    names = [name for name in _SEGMENT_COLUMNS if any(name in figures for figures in segments.values())]
    more = len(segments) - _MOST_SEGMENTS
    table = _table(
        "segment", *names, title=f"the first {_MOST_SEGMENTS} of {len(segments):,} segments" if more > 0 else ""
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for segment, figures in list(segments.items())[:_MOST_SEGMENTS]:
        table.add_row(Text(segment), *(number(figures[n].value if n in figures else None) for n in names))
    return table
