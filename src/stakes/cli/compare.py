"""stakes compare: which model is better, and is that sure?"""

import click

from stakes.cli import options, output, published
from stakes.cli.options import Arguments
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile


@click.command(cls=Command)
@click.argument("files", type=InputFile("rows"), nargs=-1, required=False, metavar="FILES...")
@options.asked("compare")
@published.tables
@options.report
@output.forms()
def compare(files: tuple[str, ...], asked: Arguments, tables: tuple[str, ...], report: str | None) -> Answer:
    """Compare models on the same rows: several columns of FILE, or one model in each of several files.

    \b
    Examples:
      stakes compare preds.csv --truth y --score knn --score svc --margin 0.02
      stakes compare old.csv new.csv --id case --truth y --score p
      stakes compare --table "80 20; 10 90" --table "85 15; 12 88" --unpaired
    """
    from stakes.evaluation.comparing import compare

    several = len(files) > 1
    asked["scores"] = _of_models(asked["scores"], several)
    asked["predictions"] = _of_models(asked["predictions"], several)
    published.refuse_neither(files, bool(tables))
    data = published.confusions(tables, asked) if tables else list(files) if several else files[0]
    compared = compare(data, **asked)
    return output.of_page(compared, lambda: compared.conclusion, more="stakes compare … --csv", report=report)


def _of_models(columns: list[str] | None, several: bool) -> list[str] | str | None:
    """A list of columns, or the one column that several files have."""
    return columns[0] if several and columns and len(columns) == 1 else columns
