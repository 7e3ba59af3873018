"""stakes calibrate: are the probabilities honest, and what would make them so?"""

import json
from typing import Any

import click

from stakes.cli import options


@click.command()
@options.files
@click.option("--truth", metavar="COLUMN", help="What really happened; not needed with --apply.")
@click.option(
    "--score", metavar="COLUMN", multiple=True, required=True, help="The scores; of several classes CLASS=COLUMN each."
)
@options.positive
@options.classes
@options.weight
@click.option(
    "--method",
    type=click.Choice(["isotonic", "sigmoid", "temperature"]),
    help="How to recalibrate (default: what does best on rows that were not fitted on).",
)
@click.option("--folds", type=int, default=5, show_default=True, help="Into how many parts rows are dealt for judging.")
@options.confidence
@options.seed
@click.option("--apply", "saved", metavar="CALIBRATOR", help="Apply a saved calibrator instead of fitting one.")
@click.option("--column", metavar="NAME", help="What --apply calls the new column (default: COLUMN_calibrated).")
@click.option("-o", "--output", metavar="OUT", help="Where to save the calibrator, or with --apply the file.")
@options.as_json
def calibrate(
    files: tuple[str, ...],
    score: tuple[str, ...],
    classes: tuple[str, ...],
    saved: str | None,
    column: str | None,
    output: str | None,
    as_json: bool,
    **arguments: Any,
) -> None:
    """Tell how honest the probabilities in FILE are, and recalibrate them.

    \b
    Examples:
      stakes calibrate preds.csv --truth y --score p --positive yes -o calibrator.json
      stakes calibrate new.csv --score p --apply calibrator.json -o new_calibrated.csv
    """
    from stakes.evaluation.recalibrating import apply_calibrator, recalibration, refuse_overwriting

    if saved is not None:
        if output is None:
            raise click.UsageError("--apply writes the file with one more column; say where with -o OUT.")
        if len(files) > 1 or arguments["where"] is not None:
            raise click.UsageError("--apply is for one FILE, with all its rows.")
        named = {"column": column, "positive": arguments["positive"]}
        names = apply_calibrator(files[0], saved, output, score=options.scores(score), **named)
        click.echo(
            json.dumps({"written": output, "columns": names}) if as_json else f"{output}: added {', '.join(names)}"
        )
        return
    if arguments["truth"] is None:
        raise click.UsageError("--truth COLUMN says what really happened; only --apply does without it.")
    if column is not None:
        raise click.UsageError("--column is for --apply.")
    if output is not None:
        for file in files:
            refuse_overwriting(file, output)
    found = recalibration(options.one_or_all(files), score=options.scores(score), classes=classes or None, **arguments)
    if output is not None:
        found.calibrator.save(output)
    click.echo(found.to_json() if as_json else str(found))
    if output is not None and not as_json:
        click.echo(f"{output}: the calibrator ({found.method}, fitted on all rows)")
