"""stakes compare: which model is better, and is that sure?"""

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile
from stakes.cli.words import as_asked
from stakes.question.options import Compared


@click.command(cls=Command)
@click.argument("files", type=InputFile("rows"), nargs=-1, required=True)
@options.asked("compare")
@options.report
@output.forms()
def compare(files: tuple[str, ...], asked: Compared, report: str | None) -> Answer:
    """Compare models on the same rows: several columns of FILE, or one model in each of several files.

    \b
    Examples:
      stakes compare preds.csv --truth y --score knn --score svc --margin 0.02
      stakes compare old.csv new.csv --id case --truth y --score p
    """
    from stakes.evaluation.comparing import compare

    several = len(files) > 1
    asked["scores"] = _of_models(asked["scores"], several)
    asked["predictions"] = _of_models(asked["predictions"], several)
    compared = compare(list(files) if several else files[0], **asked)
    if report is not None:
        compared.report(report, about=as_asked())
    return output.of_page(compared, lambda: compared.conclusion, more="stakes compare … --csv")


def _of_models(columns: list[str] | None, several: bool) -> list[str] | str | None:
    """A list of columns, or the one column that several files have."""
    return columns[0] if several and columns and len(columns) == 1 else columns
