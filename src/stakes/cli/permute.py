"""stakes permute: could it be chance?"""

from typing import Any

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command
from stakes.cli.words import as_asked, say, wrap


@click.command(cls=Command)
@options.files
@options.columns
@click.option("--metric", metavar="NAME", help="The figure (default: auc of scores, mcc of decisions, r2 of numbers).")
@click.option("--permutations", type=int, default=10_000, show_default=True, help="How often to shuffle.")
@options.seed
@options.report
@options.lang
@output.forms()
def permute(
    files: tuple[str, ...],
    report: str | None,
    lang: str,
    score: tuple[str, ...],
    classes: tuple[str, ...],
    **arguments: Any,
) -> Answer:
    """Ask whether a figure of the predictions in FILE could be chance: the truth is shuffled against them.

    \b
    Example:
      stakes permute preds.csv --truth y --score p --positive yes --metric auc
    """
    from stakes.validation.permutation import permutation_test

    test = permutation_test(
        options.one_or_all(files), score=options.scores(score), classes=classes or None, **arguments
    )
    if report is not None:
        test.report(report, lang, as_asked())
    return output.of(test, lambda: str(test), lambda: say(wrap(str(test))), compact=True)
