"""A page as a small HTML fragment for notebooks; names from the data are escaped."""

from collections.abc import Iterable
from html import escape

from stakes.views.page import Grid, Page


def html(page: Page) -> str:
    """Return a fragment with everything on the page."""
    facts = "".join(f"<div><b>{escape(name)}</b> {escape(fact)}</div>" for name, fact in page.facts.items())
    notes = "".join(f"<div><i>{escape(note)}</i></div>" for note in page.notes)
    return f"<div>{facts}{''.join(map(_table, page.grids))}{notes}</div>"


def _table(grid: Grid) -> str:
    caption = f"<caption>{escape(grid.title)}</caption>" if grid.title else ""
    return f"<table>{caption}{_row(grid.head, 'th')}{''.join(_row(row, 'td') for row in grid.rows)}</table>"


def _row(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
