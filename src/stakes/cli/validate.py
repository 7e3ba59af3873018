"""stakes validate: how good is an estimator on rows that it was not fitted on?"""

from typing import Any

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile


@click.command(cls=Command)
@click.argument("file", type=InputFile("rows"))
@click.option(
    "--estimator",
    metavar="MODULE:OBJECT",
    required=True,
    help="An estimator, or a class or function that makes one, importable from the current folder.",
)
@click.option("--target", metavar="COLUMN", required=True, help="What is to be predicted.")
@click.option("--feature", "features", metavar="COLUMN", multiple=True, help="A feature (default: all other columns).")
@click.option(
    "--how", metavar="TEXT", help='"5-fold" (the default), "hold-out 30%" or "leave-one-out"; see --folds, too.'
)
@click.option("--folds", type=int, help="How many folds, the same as --how '5-fold'.")
@click.option("--repeats", type=int, default=1, show_default=True, help="How often to shuffle anew.")
@click.option("--groups", metavar="COLUMN", help="Rows that stay together in one fold.")
@options.positive
@options.classes
@options.alike
@options.task
@options.weight
@options.threshold
@options.by_one
@options.confidence
@options.seed
@click.option("--jobs", type=int, default=1, show_default=True, help="How many fits run at once.")
@output.forms()
def validate(file: str, estimator: str, how: str | None, folds: int | None, **arguments: Any) -> Answer:
    """Fit copies of an estimator on some rows of FILE, and judge them on the others.

    The module is run, as Python does when it imports: name only code that you trust. Columns of numbers are numbers,
    others stay text, which a pipeline can encode.

    \b
    Examples:
      stakes validate iris.csv --target species --estimator sklearn.svm:SVC
      stakes validate data.parquet --target y --estimator model:make --folds 10
    """
    from stakes.validation.from_files import validate_file

    if how is not None and folds is not None:
        raise click.UsageError("--how and --folds say the same; give one of them.")
    arguments |= {"classes": arguments["classes"] or None, "features": arguments["features"] or None}
    found = validate_file(file, estimator, how=folds if folds is not None else how or "5-fold", **arguments)
    key = found.pooled._key_figure
    return output.of_page(found, lambda: str(found[key]), found._page, "stakes validate … --csv")
