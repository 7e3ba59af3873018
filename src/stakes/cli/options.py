"""Options that several commands share, and what they mean as arguments."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from stakes.cli.paths import InputFile, OutputFile, files_named
from stakes.cli.progress import bar
from stakes.errors import InputError
from stakes.views.languages import LANGUAGES

DEMO_FILES = Path(__file__).parents[1] / "demo"

Command = Callable[..., Any]

truth = click.option("--truth", metavar="COLUMN", required=True, help="What really happened.")


def _check_needed(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Files of rows need a truth; tallies were counted against theirs."""
    if value is None and not any(file.lower().endswith(".tally") for file in files_named(context)):
        raise click.MissingParameter(ctx=context, param=option)
    return value


truth_of_rows = click.option(
    "--truth", metavar="COLUMN", callback=_check_needed, help="What really happened.  [required but for tallies]"
)
positive = click.option("--positive", metavar="CLASS", help="The class that counts as positive.")
classes = click.option(
    "--class", "classes", metavar="CLASS", multiple=True, help="A class; name all of them, in order."
)
alike = click.option(
    "--alike",
    metavar="WORDS",
    help="Labels that are one class although written differently: case, numbers (1, 1.0, true), blanks, unicode, "
    "punctuation; several with commas between.",
)
weight = click.option("--weight", metavar="COLUMN", help="How much each row counts.")
cluster = click.option(
    "--cluster", metavar="COLUMN", help="Rows that belong together (a patient): intervals draw whole clusters."
)
threshold = click.option("--threshold", type=float, help="Positive from this score on (0.5 for probabilities).")
task = click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    help="Whether whole numbers are classes or quantities.",
)
where = click.option("--where", metavar="SQL", help="Only the rows that satisfy this, such as \"site = 'A'\".")
missing = click.option(
    "--missing",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="What to do about missing values: stop, or leave out their rows and say how many.",
)
confidence = click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="How sure intervals shall be."
)
by = click.option(
    "--by", metavar="COLUMN", multiple=True, help="Evaluate each segment too; several columns: combinations."
)
by_one = click.option("--by", metavar="COLUMN", help="Evaluate each segment too.")
baseline = click.option(
    "--baseline",
    type=float,
    help="The constant to compare predicted numbers with (default: the mean of the truth).",
)
seed = click.option("--seed", type=int, default=0, show_default=True, help="Where the random numbers begin.")
costs = click.option(
    "--costs", metavar="FILE", type=InputFile("costs"), help="What each decision costs for each class (TOML)."
)
report = click.option(
    "--report",
    metavar="FILE",
    type=OutputFile("page"),
    is_eager=True,
    help="Write an HTML page to explore the result.",
)


def _of_a_report(context: click.Context, option: click.Parameter, value: str) -> str:
    given = context.get_parameter_source(str(option.name)) is not ParameterSource.DEFAULT
    if given and context.params.get("report") is None:  # which is eager, so it is known by now
        raise InputError(
            "lang-without-report", "--lang is the language of the page that --report FILE writes; give both, or none"
        )
    return value


lang = click.option(
    "--lang",
    type=click.Choice(list(LANGUAGES)),
    default="en",
    show_default=True,
    callback=_of_a_report,
    help="The language of the report.",
)


def _all(options: list[Any]) -> Callable[[Command], Command]:
    """Several options at once, in the order in which --help shows them."""
    return lambda command: functools.reduce(lambda made, option: option(made), reversed(options), command)


def _files(required: bool) -> Callable[[Command], Command]:
    return _all(
        [
            click.argument(
                "files",
                metavar="FILE..." if required else "[FILE...]",
                type=InputFile("rows"),
                nargs=-1,
                required=required,
                is_eager=True,
            ),
            where,
            click.option(
                "--no-progress", is_flag=True, help="Do not show how far the reading of large files has come."
            ),
        ]
    )


def files(command: Command, required: bool = True) -> Command:
    """The files that are one table, and which of their rows; how far their reading has come is shown."""

    @functools.wraps(command)
    def with_bar(no_progress: bool, **others: Any) -> Any:
        with bar(not (no_progress or others.get("as_quiet"))):
            return command(**others)

    return _files(required)(with_bar)


def optional_files(command: Command) -> Command:
    """The same, for a command that can find the names elsewhere."""
    return files(command, required=False)


exact = click.option(
    "--exact/--bins",
    default=None,
    help="Keep every score, or count scores in bins (default: bins from 20 million rows on).",
)

columns = _all(
    [
        truth_of_rows,
        click.option(
            "--score",
            metavar="COLUMN",
            multiple=True,
            help="Numbers that order the cases; probabilities if within [0, 1]. For more than two classes once for "
            "each: --score CLASS=COLUMN.",
        ),
        click.option("--prediction", metavar="COLUMN", help="The decisions, or the predicted numbers."),
        task,
        positive,
        classes,
        alike,
        weight,
        threshold,
    ]
)
"""Which column is which."""

_PRICES = _all(
    [
        costs,
        click.option("--miss", metavar="COST", help="What a miss costs; a number, or a column."),
        click.option("--false-alarm", metavar="COST", help="What a false alarm costs; a number, or a column."),
        click.option(
            "--prior",
            metavar="SHARE",
            multiple=True,
            help="How frequent the positive class is where the model will be used; or once for each CLASS=SHARE.",
        ),
        click.option(
            "--training-prior",
            metavar="SHARE",
            multiple=True,
            help="The same in the data the model was trained on; 'rows' if as in FILE.",
        ),
    ]
)


def prices(command: Command) -> Command:
    """What decisions cost, and where: the command gets ``prices``, the arguments that these options stand for."""

    @functools.wraps(command)
    def with_prices(
        costs: str | None, miss: str | None, false_alarm: str | None, prior: Any, training_prior: Any, **others: Any
    ) -> Any:
        shares = {"prior": _shares(prior), "training_prior": _shares(training_prior)}
        return command(prices={"costs": _costs(costs, miss, false_alarm), **shares}, **others)

    return _PRICES(with_prices)


def _costs(file: str | None, miss: str | None, false_alarm: str | None) -> Any:
    from stakes.tallies.costs import Costs

    if file is not None and (miss is not None or false_alarm is not None):
        raise click.UsageError("give --costs FILE, or --miss and --false-alarm, not both.")
    if (miss is None) != (false_alarm is None):
        raise click.UsageError("--miss and --false-alarm go together.")
    if file is not None:
        return Costs.from_toml(file)
    return None if miss is None else Costs(miss=_number_or_name(miss), false_alarm=_number_or_name(false_alarm))


def _number_or_name(text: Any) -> Any:
    """A number, or the name of a column."""
    try:
        return float(text)
    except ValueError:
        return text


def _shares(options: tuple[str, ...]) -> Any:
    """The share of the positive class, or a dictionary class → share."""
    if not options:
        return None
    if len(options) == 1 and "=" not in options[0]:
        return _number_or_name(options[0])
    return {name: _number_or_name(share) for name, _, share in (option.rpartition("=") for option in options)}


def one_or_all(files: tuple[str, ...]) -> Any:
    """One name, or a list of several."""
    return files[0] if len(files) == 1 else list(files)


def scores(options: tuple[str, ...]) -> Any:
    """One column, or a dictionary class → column when there are several."""
    if len(options) < 2:
        return options[0] if options else None
    pairs = [option.partition("=") for option in options]
    for option, (_, sign, _) in zip(options, pairs, strict=True):
        if not sign:
            raise click.UsageError(f"--score {option!r}: with several scores write each as CLASS=COLUMN.")
    return {name: column for name, _, column in pairs}
