"""Pages and rows as Markdown, for pull requests, wikis and summaries of a build."""

import re
from collections.abc import Iterable, Mapping, Sequence

from stakes.language.numbers import write
from stakes.text import visible
from stakes.views.page import SIGNS, AnswerInWords, Page, TextTable
from stakes.views.pages import page_of

_ESCAPED = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\|`*[]#~"}
    | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "$": "<span>$</span>"}  # as GitHub wants a dollar that is no formula
)
_EDGE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""An underscore within a word is no markup, one at its edge is."""

_LINK = re.compile(r"[@#](?=\w)|:(?=//|[\w+-]+:)|\bwww(?=\.)|\bGH(?=-\d)", re.IGNORECASE)
"""Where a mention, a link or an emoji would begin; an empty comment behind it prevents that."""

_LIST = re.compile(r"^(\d{0,9})(?=[-+.)](?:\s|$)|--)")
"""How a list or a line across the page would begin."""


def of_result(thing: object) -> str:
    """Return what there is to see of a result."""
    return of_page(page_of(thing))


def of_page(page: Page) -> str:
    """Return the verdict as a list, facts in a line, tables as tables, notes as a list."""
    head = [f"**{text(page.title)}**" if page.title else "", " · ".join(map(text, page.facts))]
    answers = "\n".join(map(_answer, page.answers))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", page.picture)), default=0))
    picture = f"{fence}\n{page.picture}\n{fence}" if page.picture else ""
    notes = "\n".join(f"- {paragraph(note)}" for note in page.notes)
    parts = [*head, answers, picture, *map(_of_grid, page.grids), notes, text(page.more)]
    return "\n\n".join(part for part in parts if part)


def _answer(answer: AnswerInWords) -> str:
    question = f" **{text(answer.question)}**" if answer.question else ""
    figures = f" ({text('; '.join(answer.figures))})" if answer.figures else ""
    return f"- {SIGNS[answer.tone]}{question} {text(' '.join((answer.lead, *answer.more)))}{figures}"


def of_rows(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows of one kind as a table; columns in which nothing is said are left out."""
    rows = list(rows)
    names = [name for name in (rows[0] if rows else {}) if any(row.get(name) not in (None, "") for row in rows)]
    return _table(names, [[_cell(row.get(name)) for name in names] for row in rows], words=range(len(names)))


def text(words: str) -> str:
    """Return words that mean themselves in Markdown, on one line."""
    shown = _EDGE.sub(r"\\_", visible(words).translate(_ESCAPED))
    return " ".join(_LINK.sub(r"\g<0><!-- -->", shown).split())


def paragraph(words: str) -> str:
    """Return the same where a list could begin."""
    return _LIST.sub(r"\1\\", text(words))


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else write(value) if isinstance(value, float) else str(value)


def _of_grid(grid: TextTable) -> str:
    title = f"{paragraph(grid.title)}\n\n" if grid.title else ""
    return title + _table(grid.head, grid.rows, grid.words)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int]) -> str:
    ruler = [":--" if i in words else "--:" for i in range(len(head))]
    lines = [map(text, head), ruler, *(map(text, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
