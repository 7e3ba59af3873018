"""A result as a small HTML fragment for notebooks, legible on light and dark; names from the data are escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from stakes.findings.pages import payload_of
from stakes.tallies.checks import check_whole
from stakes.text import visible
from stakes.views.page import SIGNS, AnswerInWords, TextTable
from stakes.views.pages import page_of
from stakes.views.report import html as page_html

_MOST_HEIGHT = 10_000


class Frame:
    """The page of a result in a frame of its own, for a cell of a notebook; it loads nothing and sends nothing."""

    def __init__(self, thing: object, lang: str, height: int) -> None:
        check_whole("height", height, 100, _MOST_HEIGHT)
        self._page, self._height = page_html(payload_of(thing), lang), height

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self._page)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self._height}px;border:0" title="stakes"></iframe>'
        )

    def __repr__(self) -> str:
        return "<the page, in a notebook>"


_COLOURS = {"good": "#2e8540", "doubt": "#b7791f", "bad": "#c53030", "wrong": "#c53030"}


def html(thing: object) -> str:
    """Return a fragment with everything on the page of a result; its pictures are SVG with names escaped already."""
    page = page_of(thing)
    images = [picture() for picture in page.pictures]
    page = page.mapped(lambda text: escape(visible(text)))
    head = f"<div><b>{page.title}</b></div><div>{' · '.join(page.facts)}</div>"
    answers = "".join(map(_answer, page.answers))
    notes = "".join(f"<div><i>{note}</i></div>" for note in page.notes)
    picture = f"<pre>{page.picture}</pre>" if page.picture and not images else ""
    pictures = f'<div style="display:flex;flex-wrap:wrap;gap:20px">{"".join(images)}</div>' if images else ""
    more = f"<div><i>{page.more}</i></div>" if page.more else ""
    return f"<div>{head}{answers}{picture}{pictures}{''.join(map(_table, page.grids))}{notes}{more}</div>"


def _answer(answer: AnswerInWords) -> str:
    colour = _COLOURS.get(answer.tone, "currentColor")
    sign = f'<b style="color:{colour}">{SIGNS[answer.tone]}</b>'
    figures = f'<div style="opacity:.7">{"; ".join(answer.figures)}</div>' if answer.figures else ""
    rest = " ".join((answer.lead, *answer.more))
    question = f" <b>{answer.question}</b>" if answer.question else ""
    return f'<div style="margin:4px 0">{sign}{question} {rest}{figures}</div>'


_WORDS, _NUMBERS = "text-align:left;padding:1px 8px", "text-align:right;white-space:nowrap;padding:1px 8px"


def _table(grid: TextTable) -> str:
    caption = f'<caption style="text-align:left">{grid.title}</caption>' if grid.title else ""
    rows = "".join(_row(row, "td", grid.words) for row in grid.rows)
    return f"<table>{caption}{_row(grid.head, 'th', grid.words)}{rows}</table>"


def _row(cells: Iterable[str], tag: str, words: Sequence[int]) -> str:
    """Numbers stand under each other and are not broken."""
    styled = ((cell, _WORDS if i in words else _NUMBERS) for i, cell in enumerate(cells))
    return "<tr>" + "".join(f'<{tag} style="{style}">{cell}</{tag}>' for cell, style in styled) + "</tr>"
