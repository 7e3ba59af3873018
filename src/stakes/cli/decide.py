"""stakes decide: where should the threshold stand?"""

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command
from stakes.question.options import Decided


@click.command(cls=Command)
@options.files
@options.asked("decide")
@options.report
@output.forms()
def decide(files: tuple[str, ...], asked: Decided, report: str | None) -> Answer:
    """Say where to put the threshold of the scores in FILE, what it costs, and how sure that is.

    \b
    Examples:
      stakes decide preds.csv --truth y --score p --miss 5 --false-alarm 1
      stakes decide preds.csv --truth y --score p --costs costs.toml
      stakes decide preds.csv --truth y --score p --best "recall >= 0.9"
      stakes decide monday.tally tuesday.tally --miss 5 --false-alarm 1
    """
    from stakes.evaluation import decide

    if asked["costs"] is None and not asked["best"]:
        raise click.UsageError("say what mistakes cost (--miss 5 --false-alarm 1, or --costs FILE), or --best FIGURE.")
    decision = decide(options.one_or_all(files), **asked)
    return output.of_page(decision, lambda: next(decision.sentences()), report=report)
