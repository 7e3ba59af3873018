"""stakes decide: where should the threshold stand?"""

from typing import Any

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command
from stakes.cli.words import as_asked, say, wrap


@click.command(cls=Command)
@options.files
@options.missing
@options.exact
@options.columns
@options.prices
@click.option("--best", metavar="FIGURE", help="Decide by a figure (f1, youden) or a condition ('recall >= 0.9').")
@options.cluster
@options.confidence
@options.seed
@options.report
@options.lang
@output.forms()
def decide(
    files: tuple[str, ...],
    report: str | None,
    lang: str,
    score: tuple[str, ...],
    classes: tuple[str, ...],
    prices: dict[str, Any],
    **arguments: Any,
) -> Answer:
    """Say where to put the threshold of the scores in FILE, what it costs, and how sure that is.

    \b
    Examples:
      stakes decide preds.csv --truth y --score p --miss 5 --false-alarm 1
      stakes decide preds.csv --truth y --score p --costs costs.toml
      stakes decide preds.csv --truth y --score p --best "recall >= 0.9"
      stakes decide monday.tally tuesday.tally --miss 5 --false-alarm 1
    """
    from stakes.evaluation import decide

    if prices["costs"] is None and not arguments["best"]:
        raise click.UsageError("say what mistakes cost (--miss 5 --false-alarm 1, or --costs FILE), or --best FIGURE.")
    decision = decide(
        options.one_or_all(files), score=options.scores(score), classes=classes or None, **prices, **arguments
    )
    if report is not None:
        decision.report(report, lang, as_asked())
    return output.of(decision, lambda: list(decision.sentences())[1], lambda: say(wrap(str(decision))))
