"""Figures as a small HTML table for notebooks; names from the data are escaped."""

from html import escape

from stakes.tallies import Confusion
from stakes.views.terminal import Page, number


def html(page: Page) -> str:
    """Return a fragment with the facts, the confusion table and the main figures."""
    facts = "".join(f"<div><b>{escape(name)}</b> {escape(fact)}</div>" for name, fact in page.facts.items())
    return f"<div>{facts}{_confusion(page.confusion)}{_figures(page)}</div>"


def _row(*cells: str, tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _confusion(confusion: Confusion | None) -> str:
    if confusion is None:
        return ""
    rows = [
        _row(name, *(f"{v:,}" for v in row))
        for name, row in zip(confusion.truths, confusion.counts.tolist(), strict=True)
    ]
    head = _row("truth \\ decision", *confusion.decisions, tag="th")
    return f"<table>{head}{''.join(rows)}</table>"


def _figures(page: Page) -> str:
    rows = [
        _row(
            metric.name,
            number(estimate.value),
            number(estimate.baseline),
            metric.question if estimate.defined else f"undefined: {estimate.reason}",
        )
        for metric, estimate in page.shown(everything=False)
    ]
    head = _row("figure", "value", "ignoring the input", "the question it answers", tag="th")
    return f"<table>{head}{''.join(rows)}</table>"
