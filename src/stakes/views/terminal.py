"""A page as text for a terminal."""

import io
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stakes.text import columns, encodable, padded, uncommanding, visible
from stakes.views.page import Grid, Page

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_LEAST_WORDS = 28
"""A column of words that has less room than this is left out: numbers and names stay whole, and lines short."""

_NAME = 24
"""How much room a name in the first column gets before it is folded."""

_GAP = 3

_WIDTH = 80
"""Where a terminal has no width (COLUMNS=0)."""


def show(page: Page, more: str) -> None:
    """Print to the terminal, in colour where it is one; ``more`` says how to see what is hidden."""
    from rich.console import Console

    console = Console(highlight=False)
    console.width = console.width or _WIDTH
    with console.capture() as shown:
        _print(console, page, more)
    console.file.write(uncommanding(encodable(shown.get(), console.encoding)))


def text(page: Page, more: str, width: int = 100) -> str:
    """Return plain text."""
    from rich.console import Console

    out = io.StringIO()
    _print(Console(file=out, width=width, highlight=False, no_color=True), page, more)
    return uncommanding("\n".join(line.rstrip() for line in out.getvalue().splitlines()).rstrip())


def _print(console: "Console", page: Page, more: str) -> None:
    shown = page.mapped(lambda text: encodable(uncommanding(visible(text)), console.encoding))
    for place, part in enumerate(_parts(shown, console.width)):
        if place:
            console.print()
        console.print(part)
    if page.hidden:
        console.print(f"\n{page.hidden} more figures: {more}", style="dim")


def _parts(page: Page, width: int) -> Iterator["RenderableType"]:
    from rich.text import Text

    if page.picture:
        yield Text(page.picture, no_wrap=True, overflow="ignore")
    indent = max(map(columns, page.facts)) + 2
    facts = [padded(name, indent) + fact for name, fact in page.facts.items()]
    yield Text("\n".join(wrap(fact, width, indent) for fact in facts))
    yield from (_table(grid, width) for grid in page.grids)
    if page.notes:
        yield Text("\n".join(wrap(f"note  {note}", width, 6) for note in page.notes))


def wrap(line: str, width: int, indent: int) -> str:
    """Fold a line that is wider than the terminal; what follows is indented."""
    return textwrap.fill(line, max(width, indent + 20), subsequent_indent=" " * indent)


def _table(grid: Grid, width: int) -> "RenderableType":
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    widths = [max(columns(row[i]) for row in [grid.head, *grid.rows]) for i in range(len(grid.head))]
    kept = _fitting(grid, widths, width)
    for i in kept:
        words = i in grid.words
        least = _name_width(widths, kept, grid, width) if i == 0 else widths[i]
        table.add_column(
            Text(grid.head[i]),
            justify="left" if words else "right",
            no_wrap=not words,
            min_width=None if words and i else least,
            overflow="fold",
        )
    for place, row in enumerate(grid.rows):
        table.add_row(*(Text(row[i]) for i in kept), end_section=place in grid.sections)
    # around the table, not parts of it: those would be folded to its width
    above, below = ([wrap(line, width, 2) for line in lines] for lines in ([grid.title], _left_out(grid, kept)))
    around = [Text("\n".join(filter(None, lines)), style="italic") for lines in (above, below)]
    return Group(*(part for part in (around[0], table, around[1]) if part))


def _fitting(grid: Grid, widths: list[int], width: int) -> list[int]:
    """The columns that can be shown whole: words go first, then numbers from the right."""
    kept = list(range(len(widths)))
    words = [i for i in kept if i in grid.words and i]
    if words and width - _needed(widths, kept, grid) < _LEAST_WORDS * len(words):
        kept = [i for i in kept if i not in words or widths[i] < _LEAST_WORDS]
    while len(kept) > 2 and _needed(widths, kept, grid) > width:
        kept.remove(max(i for i in kept if i not in grid.words))
    return kept


def _needed(widths: list[int], kept: list[int], grid: Grid, name: int = _NAME) -> int:
    """The room that numbers and a (folded) name take."""
    numbers = [widths[i] for i in kept if i not in grid.words]
    return min(widths[0], name) + sum(numbers) + _GAP * (len(kept) - 1)


def _name_width(widths: list[int], kept: list[int], grid: Grid, width: int) -> int:
    """Names are whole where there is room for them, beside words of a readable width."""
    words = sum(_LEAST_WORDS for i in kept if i and i in grid.words)
    return widths[0] if _needed(widths, kept, grid, widths[0]) + words <= width else min(widths[0], _NAME)


def _left_out(grid: Grid, kept: list[int]) -> list[str]:
    """Say which columns a narrow terminal does not show; that a figure is undefined, and why, is told all the same."""
    missing = [i for i in range(len(grid.head)) if i not in kept]
    reasons = [f"{row[0]} is {row[i]}" for i in missing for row in grid.rows if row[i].startswith("undefined: ")]
    words = f"not shown, for lack of room: {', '.join(grid.head[i] for i in missing)}"
    return [words, *reasons] if missing else []
