"""stakes rank: which model is best, and which ranks are more than chance?"""

import click

from stakes.cli import options, output
from stakes.cli.options import Arguments
from stakes.cli.output import Answer
from stakes.cli.paths import Command, OutputFile, option


@click.command(cls=Command)
@options.files
@options.asked("rank")
@option(
    "output",
    "--tally",
    "Write the sums, which add up, too.",
    name="product",
    metavar="OUT.tally",
    type=OutputFile("tally"),
)
@option("output", "--pairs", "Compare every two models, too.", is_flag=True)
@options.report
@output.forms()
def rank(files: tuple[str, ...], asked: Arguments, product: str | None, pairs: bool, report: str | None) -> Answer:
    """Rank models by what they scored on the same items: a column for each model, or a row for each model and item.

    With every rank come the ranks that the model may truly have: all of them hold at once, with the stated confidence.
    FILE may be tallies, which are added up.

    \b
    Examples:
      stakes rank scores.csv --item id --score a --score b --cluster passage
      stakes rank runs.csv --item id --model model --score correct --repeat run
      stakes rank monday.tally tuesday.tally
    """
    from stakes.evaluation.ranks import rank

    if asked["model"] is not None and asked["scores"]:
        (asked["score"], *more), asked["scores"] = asked["scores"], None
        if more:
            raise click.UsageError("--model tells models apart by rows, so there is one --score; leave out the others.")
    found = rank(options.one_or_all(files), **asked)
    if product is not None:
        found.save(product)
    return output.of_page(
        found, lambda: " ".join(found.findings[0].words), pairs, more="stakes rank … --csv", report=report
    )
