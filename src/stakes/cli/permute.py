"""stakes permute: could it be chance?"""

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command
from stakes.cli.words import as_asked
from stakes.question.options import Permuted


@click.command(cls=Command)
@options.files
@options.asked("permutation_test")
@options.report
@output.forms()
def permute(files: tuple[str, ...], asked: Permuted, report: str | None) -> Answer:
    """Ask whether a figure of the predictions in FILE could be chance: the truth is shuffled against them.

    \b
    Example:
      stakes permute preds.csv --truth y --score p --positive yes --metric auc
    """
    from stakes.validation.permutation import permutation_test

    test = permutation_test(options.one_or_all(files), **asked)
    if report is not None:
        test.report(report, about=as_asked())
    return output.of_page(test, lambda: " ".join(test.findings[0].words), compact=True)
