"""stakes calibrate: are the probabilities honest, and what would make them so?"""

import click
from click.core import ParameterSource

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, OutputFile, option
from stakes.cli.words import say
from stakes.frozen import dataclass
from stakes.question.options import Calibrated
from stakes.records import Record
from stakes.text import lines, visible


@dataclass(frozen=True)
class RecalibratedFile(Record, stakes="recalibrated file"):
    """What --apply has written: a file with columns of probabilities beside the others."""

    written: str
    columns: list[str]


@click.command(cls=Command)
@options.files
@options.asked("calibrate")
@option(
    "fitting",
    "--apply",
    "Apply a saved calibrator instead of fitting one.",
    name="saved",
    metavar="CALIBRATOR",
    type=InputFile("calibrator"),
)
@option("fitting", "--column", "What --apply calls the new column (default: COLUMN_calibrated).", metavar="NAME")
@click.option(
    "-o",
    "--output",
    "product",
    metavar="OUT",
    type=OutputFile(lambda given: "table" if given["saved"] else "calibrator"),
    help="Where to save the calibrator, or with --apply the file.",
)
@output.forms(to_file=False)
def calibrate(
    files: tuple[str, ...], asked: Calibrated, saved: str | None, column: str | None, product: str | None
) -> Answer:
    """Tell how honest the probabilities in FILE are, and recalibrate them.

    \b
    Examples:
      stakes calibrate preds.csv --truth y --score p --positive yes -o fit.json
      stakes calibrate new.csv --score p --apply fit.json -o calibrated.csv
    """
    from stakes.engines.files.text_format import TextFormat, in_format
    from stakes.evaluation.recalibrating import apply_calibrator
    from stakes.evaluation.recalibrating import calibrate as fit

    if saved is not None:
        if product is None:
            raise click.UsageError("--apply writes the file with one more column; say where with -o OUT.")
        _refuse_beside_apply(files)
        named = {"score": asked["score"], "column": column, "positive": asked["positive"]}
        names = apply_calibrator(in_format(files[0], TextFormat.of(asked)), saved, product, **named)
        return _answer_of_apply(visible(product), names)
    if asked["truth"] is None:
        raise click.UsageError("--truth COLUMN says what really happened; only --apply does without it.")
    if column is not None:
        raise click.UsageError("--column is for --apply.")
    found = fit(options.one_or_all(files), **asked)
    if product is not None:
        found.calibrator.save(product)

    def show() -> None:
        found.show()
        if product is not None:
            say(lines([f"{product}: the calibrator ({found.method}, fitted on all rows)"]))

    def line() -> str:
        first = found.findings[0]
        return " ".join([*([first.question] if first.question else []), first.words[0]])

    return output.of_page(found, line, show=show)


def _refuse_beside_apply(files: tuple[str, ...]) -> None:
    """Refuse options that have no effect: --apply needs nothing but the scores."""
    context = click.get_current_context()
    from stakes.engines.files.text_format import FORMAT_OPTIONS

    taken = ("files", "score", "positive", "saved", "column", "product", "no_progress", *FORMAT_OPTIONS)
    for one in context.command.params:
        name = str(one.name)
        given = context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None)
        if given and name not in taken and not name.startswith("as_"):
            raise click.UsageError(f"--apply has no use for {one.opts[0]}: it is for one FILE, with all its rows.")
    if len(files) > 1:
        raise click.UsageError("--apply is for one FILE, with all its rows.")


def _answer_of_apply(product: str, names: list[str]) -> Answer:
    """Which columns were added."""
    words = f"{product}: added {', '.join(names)}"
    rows = [{"written": product, "column": name} for name in names]
    found = RecalibratedFile(product, names)
    return Answer(lambda: say(lines([words])), found.to_dict, lambda: rows, lambda: words)
