"""What a view shows of an evaluation: facts, notes and a few small tables, still without any markup."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stakes import metrics
from stakes.metrics import Estimate
from stakes.tallies import Confusion

_SEGMENT_FIGURES = ("accuracy", "recall", "precision", "f1", "auc", "brier_score")
_MOST_SEGMENTS = 20


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


@dataclass(frozen=True)
class Content:
    """What there is to show; ``segments`` are things with rows, prevalence and figures."""

    facts: Mapping[str, str]
    confusion: Confusion | None
    figures: Mapping[str, Estimate]
    segments: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def page(self, everything: bool = False) -> Page:
        """Lay out the main figures, or everything."""
        shown = [(metrics.find(name), estimate) for name, estimate in self.figures.items()]
        shown = [(metric, estimate) for metric, estimate in shown if everything or metric.headline]
        return Page(self.facts, list(self._grids(shown, everything)), self.notes, len(self.figures) - len(shown))

    def _grids(self, shown: Sequence[tuple[metrics.Metric, Estimate]], everything: bool) -> Iterator[Grid]:
        if self.confusion is not None:
            head, *rows = self.confusion.text_rows()
            yield Grid(head, rows)
        if shown:
            yield _figures(shown, everything)
        if self.segments:
            yield _segments(self.segments)


def number(value: float | None) -> str:
    """Write a figure with four decimals, or as many digits as a very large or small one needs."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}"
    return f"{value:.4f}"


def _figures(shown: Sequence[tuple[metrics.Metric, Estimate]], families: bool) -> Grid:
    rows = [
        (
            metric.full_text,
            number(estimate.value),
            number(estimate.baseline),
            metric.question if estimate.defined else f"undefined: {estimate.reason}",
        )
        for metric, estimate in shown
    ]
    pairs = itertools.pairwise(metric.family for metric, _ in shown)
    sections = [i for i, (one, next_one) in enumerate(pairs) if families and one != next_one]
    return Grid(("figure", "value", "ignoring input", "the question it answers"), rows, words=(0, 3), sections=sections)


def _segments(segments: Mapping[str, Any]) -> Grid:
    first = dict(itertools.islice(segments.items(), _MOST_SEGMENTS))
    names = [name for name in _SEGMENT_FIGURES if any(name in part.figures for part in first.values())]
    rows = [
        (
            name,
            f"{part.rows:,.6g}",
            f"{part.prevalence:.1%}",
            *(number(part.figures[n].value if n in part.figures else None) for n in names),
        )
        for name, part in first.items()
    ]
    title = f"the first {_MOST_SEGMENTS} of {len(segments):,} segments" if len(segments) > _MOST_SEGMENTS else ""
    return Grid(("segment", "rows", "positive", *names), rows, title=title)
