"""stakes validate: how good is an estimator on rows that it was not fitted on?"""

import click
from click.core import ParameterSource

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, option
from stakes.question.options import Validated


@click.command(cls=Command)
@click.argument("file", type=InputFile("rows"))
@option(
    "columns",
    "--estimator",
    "An estimator, or a class or function that makes one, importable from the current folder.",
    metavar="MODULE:OBJECT",
    required=True,
)
@option("columns", "--target", "What is to be predicted.", metavar="COLUMN", required=True)
@option(
    "columns", "--feature", "A feature (default: all other columns).", name="features", metavar="COLUMN", multiple=True
)
@options.asked("validate")
@option("fitting", "--folds", "How many folds, the same as --how '5-fold'.", type=int)
@output.forms()
def validate(
    file: str, asked: Validated, estimator: str, target: str, features: tuple[str, ...], folds: int | None
) -> Answer:
    """Fit copies of an estimator on some rows of FILE, and test them on the others.

    The module is run, as Python does when it imports: name only code that you trust. Columns of numbers are numbers,
    others stay text, which a pipeline can encode.

    \b
    Examples:
      stakes validate iris.csv --target species --estimator sklearn.svm:SVC
      stakes validate data.parquet --target y --estimator model:make --folds 10
    """
    from stakes.validation.from_files import validate_file

    given = click.get_current_context().get_parameter_source("how") is not ParameterSource.DEFAULT
    if given and folds is not None:
        raise click.UsageError("--how and --folds say the same; give one of them.")
    if len(asked["by"] or ()) > 1:
        raise click.UsageError("--by names one column here.")
    asked |= {"by": asked["by"] and asked["by"][0], "how": asked["how"] if folds is None else folds}
    found = validate_file(file, estimator, target=target, features=features or None, **asked)
    key = found.pooled._key_figure
    return output.of_page(found, lambda: str(found[key]), more="stakes validate … --csv")
