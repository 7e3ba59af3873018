"""A page as text for a terminal: the verdict first, nothing left out however narrow it is."""

import io
import itertools
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from stakes.text import columns, encodable, padded, uncommanding, visible
from stakes.views.page import SIGNS, AnswerInWords, Page, TextTable
from stakes.views.pages import page_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_LEAST_WORDS = 28
"""A column of sentences narrower than this is moved below its rows."""

_NAME, _LEAST_NAME = 24, 16
"""The preferred and the least width of a name in the first column, before sentences go below."""

_GAP = 3

_SCREEN = 24
"""The most lines for the head and the verdict with its figures."""

_WIDTH = 80
"""Where a terminal has no width (COLUMNS=0)."""

_STYLES = {"good": "green", "doubt": "yellow", "bad": "bold red", "wrong": "bold red"}


def show(thing: object, everything: bool = False) -> None:
    """Print a result to the terminal, in colour where it is one."""
    show_page(page_of(thing, everything))


def show_page(page: Page) -> None:
    """Print a page to the terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    console.width = console.width or _WIDTH
    with console.capture() as shown:
        _print(console, page)
    console.file.write(_without_blanks_at_ends(encodable(shown.get(), console.encoding)) + "\n")


def text(thing: object, width: int = 100) -> str:
    """Return a result as plain text."""
    return text_of_page(page_of(thing), width)


def text_of_page(page: Page, width: int = 100) -> str:
    """Return a page as plain text."""
    from rich.console import Console

    out = io.StringIO()
    _print(Console(file=out, width=width, highlight=False, no_color=True, force_terminal=False), page)
    return _without_blanks_at_ends(out.getvalue())


def _without_blanks_at_ends(text: str) -> str:
    return uncommanding("\n".join(line.rstrip() for line in text.splitlines()).rstrip())


def _print(console: "Console", page: Page) -> None:
    shown = page.mapped(lambda text: encodable(uncommanding(visible(text)), console.encoding))
    for place, part in enumerate(_parts(shown, console.width)):
        if place:
            console.print()
        console.print(part)
    if page.more:
        console.print(f"\n{shown.more}", style="dim", markup=False)


def _parts(page: Page, width: int) -> Iterator["RenderableType"]:
    from rich.console import Group
    from rich.text import Text

    head = "\n".join(wrap(line, width, 2) for line in (page.title, " · ".join(page.facts)) if line)
    yield Text(head)
    if page.answers:
        answers = [_answer(answer, width) for answer in page.answers]
        if head.count("\n") + 2 + sum(str(part).count("\n") + 1 for parts in answers for part in parts) > _SCREEN:
            answers = [_answer(answer, width, tight=True) for answer in page.answers]
        yield Group(*(part for parts in answers for part in parts))
    if page.picture:
        yield Text(page.picture, no_wrap=True, overflow="ignore")
    yield from (_table(grid, width) for grid in page.grids)
    details = [(one.question, [*one.more, *_beside(one, width)[1]]) for one in page.answers]
    paragraphs = [wrap(" ".join(filter(None, (question, *more))), width, 2) for question, more in details if more]
    if paragraphs:
        yield Text("\n".join(paragraphs))
    if page.notes:
        yield Text("\n".join(wrap(f"! {note}", width, 2) for note in page.notes))


def _answer(answer: AnswerInWords, width: int, tight: bool = False) -> list["Text"]:
    """A question with its sign, the essential sentence, and the figures behind it; question and answer in a paragraph
    where many of them have to fit on a screen.
    """
    from rich.text import Text

    style, asked = _STYLES.get(answer.tone, ""), answer.question or answer.lead
    lead = answer.lead if answer.question else ""
    shown = wrap(f"{asked} {lead if tight else ''}".rstrip(), width - 2, 2)
    question = Text(f"{SIGNS[answer.tone]} {shown}")
    question.stylize(style, 0, 2)
    question.stylize("bold" if answer.question else style, 2, 2 + _end_of(asked, shown))
    parts = [question, *([Text(wrap(f"  {lead}", width, 2))] if lead and not tight else [])]
    figures = _beside(answer, width)[0]
    return [*parts, *([Text(wrap(f"  {'; '.join(figures)}", width, 2), style="dim")] if figures else [])]


def _end_of(words: str, wrapped: str) -> int:
    """Where words end in a paragraph that begins with them."""
    left = len("".join(words.split()))
    return next((i for i, sign in enumerate(wrapped, 1) if (left := left - (not sign.isspace())) <= 0), len(wrapped))


def _beside(answer: AnswerInWords, width: int) -> tuple[Sequence[str], Sequence[str]]:
    """The figures beside an answer, as many as fit into a line, and those that go below."""
    ends = itertools.accumulate(columns(one) + 2 for one in answer.figures)
    fit = max(sum(end <= width for end in ends), 1)
    return answer.figures[:fit], answer.figures[fit:]


def wrap(line: str, width: int, indent: int) -> str:
    """Fold a line that is wider than the terminal; what follows is indented."""
    return textwrap.fill(
        line, max(width, indent + 20), subsequent_indent=" " * indent, break_on_hyphens=False, drop_whitespace=True
    )


def _table(grid: TextTable, width: int) -> "RenderableType":
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    widths = _widths(grid)
    shown = list(range(len(widths)))
    below = grid.below if grid.below is not None and _needed(widths, shown, grid, _NAME) > width else None
    shown = [i for i in shown if i != below]
    title = [Text(wrap(grid.title, width, 2), style="italic")] if grid.title else []
    if _needed(widths, shown, grid) > width:
        grid = _with_folded_heads(grid)
        widths = _widths(grid)
    if _needed(widths, shown, grid) > width:
        tables = [_table(part, width) for part in _split(grid, widths, width)]
        apart = [one for table in tables for one in (Text(""), table)][1:]  # with an empty line between them
        return Group(*title, *(apart if len(tables) > 1 else _blocks(grid, width)))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i in shown:
        words, least = i in grid.words, None if i else _name_width(widths, shown, grid, width)
        folded = words and least != widths[i]
        table.add_column(
            Text(grid.head[i]),
            justify="left" if words else "right",
            no_wrap=not folded,
            min_width=least - 1 if folded and least else None,  # before Rich 15 the first and the last get one more
            overflow="fold",
        )
    for place, row in enumerate(grid.rows):
        styles = [_STYLES.get(grid.tones.get(cell, "note"), "") for cell in row]
        table.add_row(*(Text(row[i], style=styles[i]) for i in shown), end_section=place in grid.sections)
    paragraphs = [] if below is None else [wrap(f"{row[0]}: {row[below]}", width, 2) for row in grid.rows if row[below]]
    return Group(*title, table, *([Text("\n".join(paragraphs), style="dim")] if paragraphs else []))


def _split(grid: TextTable, widths: list[int], width: int) -> Iterator[TextTable]:
    """Split a table that is too wide into several with the same names; nothing where a single column has no room."""
    groups: list[list[int]] = [[]]
    for i in range(1, len(widths)):
        if groups[-1] and _needed(widths, [0, *groups[-1], i], grid) > width:
            groups.append([])
        groups[-1].append(i)
    size = -(-(len(widths) - 1) // len(groups))
    even = [list(range(i, min(i + size, len(widths)))) for i in range(1, len(widths), size)]  # no column is left alone
    fitting = (parts for parts in (even, groups) if all(_needed(widths, [0, *one], grid) <= width for one in parts))
    for group in next(fitting, []):
        kept = [0, *group]
        rows = [[row[i] for i in kept] for row in grid.rows]
        words = [place for place, i in enumerate(kept) if i in grid.words]
        yield replace(grid, head=[grid.head[i] for i in kept], rows=rows, words=words, title="", below=None)


def _widths(grid: TextTable) -> list[int]:
    """How wide each column is, its head among the cells."""
    cells = [[*head.split("\n"), *column] for head, *column in zip(grid.head, *grid.rows, strict=True)]
    return [max(map(columns, column)) for column in cells]


def _with_folded_heads(grid: TextTable) -> TextTable:
    """Heads that are wider than what stands below them, in several lines."""
    room = [max(map(columns, column), default=1) for column in zip(*grid.rows, strict=True)] or [1] * len(grid.head)
    heads = zip(grid.head, room, strict=True)
    return replace(grid, head=[textwrap.fill(head, max(size, 1), break_long_words=False) for head, size in heads])


def _needed(widths: list[int], shown: list[int], grid: TextTable, name: int = _LEAST_NAME) -> int:
    """The room that numbers, words and a (folded) name take."""
    return min(widths[0], name) + _beside_name(widths, shown, grid)


def _beside_name(widths: list[int], shown: list[int], grid: TextTable) -> int:
    """The room that the other columns take, words at a readable width."""
    others = (min(widths[i], _LEAST_WORDS) if i in grid.words else widths[i] for i in shown if i)
    return sum(others) + _GAP * (len(shown) - 1)


def _name_width(widths: list[int], shown: list[int], grid: TextTable, width: int) -> int:
    """Names are whole where there is room for them, beside words of a readable width."""
    return min(widths[0], max(_LEAST_NAME, width - _beside_name(widths, shown, grid)))


def _blocks(grid: TextTable, width: int) -> Iterator["RenderableType"]:
    """A table that is too wide, as a block of lines for each row."""
    from rich.text import Text

    heads = [" ".join(head.split("\n")) for head in grid.head[1:]]
    indent = max(map(columns, heads)) + 4
    for row in grid.rows:
        cells = [f"  {padded(name, indent - 2)}{cell}" for name, cell in zip(heads, row[1:], strict=True) if cell]
        yield Text("\n".join([wrap(row[0], width, 2), *(wrap(cell, width, indent) for cell in cells)]))
