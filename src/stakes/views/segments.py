"""Segments to look at: the worst first, the smallest marked."""

from typing import Any

from stakes.metrics.estimate import percent
from stakes.views.page import Grid, Page, between, number, short

MOST_SHOWN = 20


def grid(overview: Any, more: str = "") -> Grid:
    """Return the worst segments by one figure, beside the rest; ``more`` says how to see the others."""
    shown = overview.segments[:MOST_SHOWN]
    hidden = len(overview.segments) - len(shown)
    rows = [
        (
            s.name,
            f"{s.rows:,.6g}",
            number(s.value),
            between(s),
            "–" if s.difference is None else f"{s.difference:+.4f}",
            "–" if s.adjusted_p_value is None else f"{s.adjusted_p_value:.2g}",
            s.verdict,
        )
        for s in shown
    ]
    small = sum(s.too_small for s in overview.segments)
    words = [
        f"segments by {overview.metric}, the worst first (by their better ends)" if len(overview.segments) > 1 else "",
        f"… and {hidden:,} more" if hidden else "",
        more if hidden else "",
        f"{small:,} too small to compare" if small and hidden else "",
    ]
    sure = f"{percent(overview.confidence)} interval"
    head = ("segment", "rows", short(overview.metric), sure, "minus the rest", "Holm p", "compared with the rest")
    return Grid(head, rows, words=(0, 6), title="; ".join(filter(None, words)))


def page(overview: Any) -> Page:
    """Return a page of segments by themselves."""
    facts = {"segments": f"{len(overview.segments):,}, {overview.tested:,} compared with the rest"}
    if overview.method:
        facts["difference"] = overview.method
    return Page(facts, [grid(overview, "to_rows()")], [overview.note] if overview.note else [])


def chance(p_value: float) -> str:
    """Write a p-value; one too small for a number is below the smallest."""
    return f"= {p_value:.2g}" if p_value >= 1e-99 else "< 1e-99"
