"""Pages and rows as Markdown, for pull requests, wikis and summaries of a build."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stakes.views.page import Grid, Page, number

_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in "\\|`*[]#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})
"""What would be taken for markup; an underscore within a word is none."""


def of_page(page: Page) -> str:
    """Return facts as a list, tables as tables, notes as a list."""
    facts = [f"- **{text(name)}**: {text(fact)}" for name, fact in page.facts.items()]
    picture = f"```\n{page.picture}\n```" if page.picture else ""
    parts = [picture, "\n".join(facts), *map(_of_grid, page.grids), "\n".join(f"- {text(note)}" for note in page.notes)]
    return "\n\n".join(part for part in parts if part)


def of_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows of one kind as a table; columns in which nothing is said are left out."""
    rows = list(rows)
    names = [name for name in (rows[0] if rows else {}) if any(row.get(name) not in (None, "") for row in rows)]
    return _table(names, [[_shown(row.get(name)) for name in names] for row in rows], words=range(len(names)))


def text(words: str) -> str:
    """Return words that mean themselves in Markdown, on one line."""
    return " ".join(words.translate(_ESCAPED).split())


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else number(value) if isinstance(value, float) else str(value)


def _of_grid(grid: Grid) -> str:
    title = f"{text(grid.title)}\n\n" if grid.title else ""
    return title + _table(grid.head, grid.rows, grid.words)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int]) -> str:
    ruler = [":--" if i in words else "--:" for i in range(len(head))]
    lines = [map(text, head), ruler, *(map(text, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
