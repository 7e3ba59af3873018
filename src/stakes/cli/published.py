"""--table: counts that somebody published, instead of a file of rows."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from stakes.cli import options
from stakes.cli.options import Arguments
from stakes.cli.paths import option
from stakes.errors import InputError

if TYPE_CHECKING:
    from stakes.tallies import Confusion

_THOUSANDS = r"(?<=\d)[,'\u2019](?=\d{3}(\D|$))"
"""A separator of thousands: a mark between digits, followed by three."""

_HELP = 'A published table instead of FILE, rows the truth and columns the decision: "80 20; 10 90".'

table = option("rows", "--table", _HELP, metavar="TEXT")
tables = option("rows", "--table", f"{_HELP} Once for each model.", "tables", metavar="TEXT", multiple=True)


def rows_or_table(files: tuple[str, ...], table: str | None, asked: Arguments) -> "str | list[str] | Confusion":
    """The data to evaluate: the files, or the table in place of them."""
    refuse_neither(files, table is not None)
    return options.one_or_all(files) if table is None else confusions([table], asked)[0]


def refuse_neither(files: Sequence[str], given: bool) -> None:
    """Refuse a command without files and without a table."""
    if not files and not given:
        raise click.UsageError("give FILE, or --table TEXT.")


def confusions(texts: Sequence[str], asked: Arguments) -> "list[Confusion]":
    """The tables that texts spell; their classes are named by options."""
    from stakes.tallies import Confusion

    named = {name: asked.pop(name) for name in ("classes", "positive")}
    return [Confusion(_counts(text), **named) for text in texts]


def _counts(text: str) -> list[list[float]]:
    """Rows end with semicolons, lines or brackets, numbers with blanks or commas.

    Between blanks commas and apostrophes part thousands; points might, too, and are not taken for decimal signs then.
    """
    rows = [row.strip(" ,[]") for row in re.split(r"[;\n]|\]\s*,", text.strip("; \n")) if row.strip(" ,[]")]
    blanks = any(re.search(r"\S\s+\S", row) for row in rows)
    cells = [re.split(r",?\s+" if blanks else ",", row) for row in rows]
    try:
        if not rows or any(re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+", cell) for row in cells for cell in row):
            raise ValueError("1.234 may be 1234")
        counts = [[float(re.sub(_THOUSANDS, "", cell)) for cell in row] for row in cells]
    except ValueError:
        words = f"--table {text!r} does not work; write numbers like 80 20; 10 90, without marks of thousands"
        raise InputError("bad-table", f"{words}: rows are the truth, columns the decision") from None
    widths = list(dict.fromkeys(map(len, counts)))
    if len(counts) == 1 and len(counts[0]) > 1:
        raise InputError("one-row-of-a-table", f"--table {text!r} has one row; end each with a semicolon: 80 20; 10 90")
    if len(widths) > 1:
        words = f"--table {text!r} has rows of {widths[0]} and of {widths[1]} numbers; give as many in each"
        raise InputError("ragged-table", words)
    return [[int(number) if number.is_integer() else number for number in row] for row in counts]
