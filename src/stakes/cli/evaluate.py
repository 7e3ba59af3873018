"""stakes evaluate: what is a model worth?"""

import re
from functools import partial
from typing import TYPE_CHECKING

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command, OptionOfGroup
from stakes.cli.words import as_asked
from stakes.errors import InputError
from stakes.question.options import Asked

if TYPE_CHECKING:
    from stakes.tallies import Confusion

_THOUSANDS = r"(?<=\d)[,'\u2019](?=\d{3}(\D|$))"
"""A mark between digits of which three follow."""

SHOW_ALL = "stakes evaluate … --all"


@click.command(cls=Command)
@partial(options.files, required=False)
@options.asked("evaluate")
@click.option(
    "--table",
    cls=OptionOfGroup,
    group="rows",
    metavar="TEXT",
    help='A published table instead of FILE, rows the truth and columns the decision: "80 20; 10 90".',
)
@click.option("--all", "everything", is_flag=True, help="Show every figure, not only the main ones.")
@options.report
@output.forms()
def evaluate(files: tuple[str, ...], asked: Asked, table: str | None, everything: bool, report: str | None) -> Answer:
    """Judge a model by the predictions in FILE; several files, or a pattern in quotes, are one table.

    FILE is CSV (with any separator, also .gz), .xlsx, Parquet, JSON, JSON lines, Arrow, a table of a SQLite or DuckDB
    database (preds.sqlite::table), or - for CSV from standard input. Without --truth its columns are listed. Tallies
    (see stakes count) are added up, and need no options that say which column is which.

    \b
    Examples:
      stakes evaluate preds.csv --truth y --score p --positive yes --by site
      stakes evaluate monday.csv tuesday.csv --truth y --score p
          --where "site = 'A'" --missing drop
      stakes evaluate monday.tally tuesday.tally
      stakes evaluate --table "80 20; 10 90" --class no --class yes --positive yes
    """
    from stakes.evaluation import evaluate

    if bool(files) == (table is not None):
        raise click.UsageError("give FILE, or --table TEXT; not both, and not none.")
    data = options.one_or_all(files) if table is None else _confusion(table, asked)
    evaluation = evaluate(data, **asked)
    if report is not None:
        evaluation.report(report, about=as_asked())
    line = lambda: str(evaluation.interval(evaluation._key_figure))  # noqa: E731
    return output.of_page(evaluation, line, everything, SHOW_ALL)


def _confusion(text: str, asked: Asked) -> "Confusion":
    """The table that a text spells: rows end with semicolons, numbers with blanks or commas.

    Between blanks commas and apostrophes part thousands; points might, too, and are not taken for decimal signs then.
    """
    from stakes.tallies import Confusion

    rows = [row.strip() for row in text.strip("; \n").split(";")]
    blanks = any(re.search(r"\S\s+\S", row) for row in rows)
    cells = [re.split(r",?\s+" if blanks else ",", row) for row in rows]
    try:
        if any(re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+", cell) for row in cells for cell in row):
            raise ValueError("1.234 may be 1234")
        counts = [[float(re.sub(_THOUSANDS, "", cell)) for cell in row] for row in cells]
    except ValueError:
        words = f"--table {text!r} does not work; write numbers like 80 20; 10 90, without marks of thousands"
        raise InputError("bad-table", words) from None
    whole = [[int(number) if number.is_integer() else number for number in row] for row in counts]
    return Confusion(whole, classes=asked.pop("classes", None), positive=asked.pop("positive", None))
