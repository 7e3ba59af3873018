"""A page as a small HTML fragment for notebooks; names from the data are escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from stakes.text import visible
from stakes.views.page import Grid, Page


def html(page: Page, pictures: Sequence[str] = ()) -> str:
    """Return a fragment with everything on the page; ``pictures`` are SVG text with its names escaped already."""
    page = page.mapped(lambda text: escape(visible(text)))
    facts = "".join(f"<div><b>{name}</b> {fact}</div>" for name, fact in page.facts.items())
    notes = "".join(f"<div><i>{note}</i></div>" for note in page.notes)
    picture = f"<pre>{page.picture}</pre>" if page.picture else ""
    drawn = f'<div style="display:flex;flex-wrap:wrap;gap:20px">{"".join(pictures)}</div>' if pictures else ""
    return f"<div>{picture}{facts}{drawn}{''.join(map(_table, page.grids))}{notes}</div>"


_WORDS, _NUMBERS = "text-align:left", "text-align:right;white-space:nowrap"


def _table(grid: Grid) -> str:
    caption = f"<caption>{grid.title}</caption>" if grid.title else ""
    rows = "".join(_row(row, "td", grid.words) for row in grid.rows)
    return f"<table>{caption}{_row(grid.head, 'th', grid.words)}{rows}</table>"


def _row(cells: Iterable[str], tag: str, words: Sequence[int]) -> str:
    """Numbers stand under each other and are not broken."""
    styled = ((cell, _WORDS if i in words else _NUMBERS) for i, cell in enumerate(cells))
    return "<tr>" + "".join(f'<{tag} style="{style}">{cell}</{tag}>' for cell, style in styled) + "</tr>"
