"""stakes permute: could it be chance?"""

from functools import partial

import click

from stakes.cli import options, output, published
from stakes.cli.options import Arguments
from stakes.cli.output import Answer
from stakes.cli.paths import Command


@click.command(cls=Command)
@partial(options.files, required=False)
@options.asked("permutation_test")
@published.table
@options.report
@output.forms()
def permute(files: tuple[str, ...], asked: Arguments, table: str | None, report: str | None) -> Answer:
    """Ask whether a figure of the predictions in FILE could be chance: the truth is shuffled against them.

    \b
    Examples:
      stakes permute preds.csv --truth y --score p --positive yes --metric auc
      stakes permute --table "80 20; 10 90"
    """
    from stakes.validation.permutation import permutation_test

    test = permutation_test(published.rows_or_table(files, table, asked), **asked)
    return output.of_page(test, lambda: " ".join(test.findings[0].words), compact=True, report=report)
