"""stakes compare: which model is better, and is that sure?"""

from typing import Any

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile
from stakes.cli.words import as_asked


@click.command(cls=Command)
@click.argument("files", type=InputFile("rows"), nargs=-1, required=True)
@options.truth
@click.option("--score", "scores", metavar="COLUMN", multiple=True, help="The scores of a model; once for each model.")
@click.option(
    "--prediction", "predictions", metavar="COLUMN", multiple=True, help="The decisions or numbers of a model."
)
@click.option(
    "--metric", metavar="NAME", multiple=True, help="What to rank by (default: auc, macro_auc, accuracy or mae)."
)
@click.option("--margin", type=float, help="The difference that would still not matter.")
@click.option("--id", metavar="COLUMN", help="The case numbers that join several files, one model each.")
@click.option("--unpaired", is_flag=True, help="The files hold different cases.")
@options.positive
@options.classes
@options.alike
@options.task
@options.weight
@options.cluster
@options.where
@options.threshold
@options.confidence
@click.option("--simultaneous", is_flag=True, help="Make the intervals of all pairs right at once.")
@options.seed
@click.option("--resamples", type=int, default=2000, show_default=True, help="How often rows are drawn or swapped.")
@options.prices
@options.report
@options.lang
@output.forms()
def compare(
    files: tuple[str, ...],
    scores: tuple[str, ...],
    predictions: tuple[str, ...],
    metric: tuple[str, ...],
    classes: tuple[str, ...],
    unpaired: bool,
    prices: dict[str, Any],
    report: str | None,
    lang: str,
    **arguments: Any,
) -> Answer:
    """Compare models on the same rows: several columns of FILE, or one model in each of several files.

    \b
    Examples:
      stakes compare preds.csv --truth y --score knn --score svc --margin 0.02
      stakes compare old.csv new.csv --id case --truth y --score p
    """
    from stakes.evaluation.comparing import compare

    several = len(files) > 1
    compared = compare(
        list(files) if several else files[0],
        scores=_of_models(scores, several),
        predictions=_of_models(predictions, several),
        metric=metric or None,
        classes=classes or None,
        paired=not unpaired,
        **prices,
        **arguments,
    )
    if report is not None:
        compared.report(report, lang, as_asked())
    return output.of_page(compared, lambda: compared.conclusion, compared._page)


def _of_models(columns: tuple[str, ...], several: bool) -> Any:
    """A list of columns, or the one column that several files have."""
    return columns[0] if several and len(columns) == 1 else list(columns) or None
