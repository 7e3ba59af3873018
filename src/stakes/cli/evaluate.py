"""stakes evaluate: what is a model worth?"""

from functools import partial

import click

from stakes.cli import options, output, published
from stakes.cli.options import Arguments
from stakes.cli.output import Answer
from stakes.cli.paths import Command, option

SHOW_ALL = "stakes evaluate … --all"


@click.command(cls=Command)
@partial(options.files, required=False)
@options.asked("evaluate")
@published.table
@option("output", "--all", "Show every figure, not only the main ones.", name="everything", is_flag=True)
@options.report
@output.forms()
def evaluate(
    files: tuple[str, ...], asked: Arguments, table: str | None, everything: bool, report: str | None
) -> Answer:
    """Evaluate a model by the predictions in FILE; several files, or a pattern in quotes, are one table.

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

    evaluation = evaluate(published.rows_or_table(files, table, asked), **asked)

    def line() -> str:
        from stakes.views.page import line_of  # nobody else asks for it

        return line_of(evaluation[evaluation._key_figure])

    return output.of_page(evaluation, line, everything, SHOW_ALL, report)
