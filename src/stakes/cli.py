"""The command line: verbs to functions. Heavy imports stay inside commands, so that --help answers at once."""

import io
import json
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from stakes import __version__, errors
from stakes.errors import StakesError

DEMO_FILE = Path(__file__).parent / "demo" / "breast_cancer.csv"

_SHOW_ALL = "stakes evaluate … --all"

_ARGUMENTS = (
    *("truth", "score", "prediction", "positive", "by", "weight", "threshold", "task", "baseline", "class"),
    *("costs", "miss", "false_alarm", "prior", "training_prior", "best"),
    *("metric", "margin", "id", "cluster", "confidence", "design", "seed", "resamples", "permutations"),
    *("method", "folds", "column", "where", "missing"),
)
"""Arguments of functions that are options here, by the same name."""

_DEMO_NEXT = """\
Where to look next
  stakes evaluate FILE --truth COLUMN --score COLUMN     your own predictions (CSV or Parquet)
  stakes metrics                                         every figure and the question it answers
  stakes metrics f1                                      one of them, with its formula and its traps
  stakes evaluate --help                                 segments, weights, thresholds, JSON
The predictions above are {file}
"""

_SYSTEM_NEXT = """
Where to look next
  stakes system FILE.toml                                a system of your own
  stakes system PREDICTIONS.csv --truth COLUMN --model COLUMN --model COLUMN --rule TEXT --miss 5 --false-alarm 1
The systems above are {folder}/clinic_and.toml and clinic_or.toml
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="stakes")
def cli() -> None:
    """What do a model's mistakes cost, how sure are we, and what should be decided?"""


def _files(command: Callable[..., Any]) -> Callable[..., Any]:
    """The files that are one table, and which of their rows."""
    where = click.option("--where", metavar="SQL", help="Only the rows that satisfy this, such as \"site = 'A'\".")
    return click.argument("files", metavar="FILE...", type=click.Path(), nargs=-1, required=True)(where(command))


def _missing(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--missing",
        type=click.Choice(["error", "drop"]),
        default="error",
        show_default=True,
        help="What to do about missing values: stop, or leave out their rows and say how many.",
    )(command)


def _columns(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which column is which."""
    options = [
        click.option("--truth", metavar="COLUMN", required=True, help="What really happened."),
        click.option(
            "--score",
            metavar="COLUMN",
            multiple=True,
            help="Numbers that order the cases; probabilities if within [0, 1]. For more than two classes once for "
            "each: --score CLASS=COLUMN.",
        ),
        click.option("--prediction", metavar="COLUMN", help="The decisions, or the predicted numbers."),
        click.option(
            "--task",
            type=click.Choice(["auto", "classification", "regression"]),
            default="auto",
            help="Whether whole numbers are classes or quantities.",
        ),
        click.option("--positive", metavar="CLASS", help="The class that counts as positive."),
        click.option("--class", "classes", metavar="CLASS", multiple=True, help="A class; name all of them, in order."),
        click.option("--weight", metavar="COLUMN", help="How much each row counts."),
        click.option("--threshold", type=float, help="Positive when score ≥ threshold (0.5 for probabilities)."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _costs(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what decisions cost, and where."""
    options = [
        click.option("--costs", metavar="FILE", help="What each decision costs for each class (TOML)."),
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
    for option in reversed(options):
        command = option(command)
    return command


def _priced(costs: str | None, miss: str | None, false_alarm: str | None, prior: Any, training_prior: Any) -> Any:
    """The options of costs as arguments."""
    from stakes.tallies.costs import Costs

    if costs is not None and (miss is not None or false_alarm is not None):
        raise click.UsageError("give --costs FILE, or --miss and --false-alarm, not both.")
    if (miss is None) != (false_alarm is None):
        raise click.UsageError("--miss and --false-alarm go together.")
    given: Any = None
    if costs is not None:
        given = Costs.from_toml(costs)
    elif miss is not None:
        given = Costs(miss=_cost(miss), false_alarm=_cost(false_alarm))
    return {"costs": given, "prior": _shares(prior), "training_prior": _shares(training_prior)}


def _cost(text: Any) -> Any:
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
        return _cost(options[0])
    return {name: _cost(share) for name, _, share in (option.rpartition("=") for option in options)}


@cli.command()
@_files
@_missing
@_columns
@_costs
@click.option(
    "--baseline",
    type=float,
    help="The constant to compare predicted numbers with (default: the mean of the truth).",
)
@click.option("--by", metavar="COLUMN", help="Evaluate each segment too.")
@click.option(
    "--cluster", metavar="COLUMN", help="Rows that belong together (a patient): intervals draw whole clusters."
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How sure intervals shall be.")
@click.option(
    "--design",
    type=click.Choice(["classes random", "classes fixed"]),
    default="classes random",
    help="Whether another sample would have other class counts.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Where the random numbers begin.")
@click.option("--all", "everything", is_flag=True, help="Show every figure, not only the main ones.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def evaluate(
    files: tuple[str, ...],
    everything: bool,
    as_json: bool,
    score: tuple[str, ...],
    classes: tuple[str, ...],
    costs: str | None,
    miss: str | None,
    false_alarm: str | None,
    prior: tuple[str, ...],
    training_prior: tuple[str, ...],
    **columns: Any,
) -> None:
    """Judge a model by the predictions in FILE; several files, or a pattern in quotes, are one table.

    FILE is CSV (also .csv.gz and .tsv), Parquet, JSON lines, Arrow, a table of a SQLite or DuckDB database
    (preds.sqlite::table), or - for CSV from standard input.

    \b
    Examples:
      stakes evaluate preds.csv --truth y --score p --positive yes --by site
      stakes evaluate monday.csv tuesday.csv --truth y --score p --where "site = 'A'" --missing drop
    """
    from stakes.evaluation import evaluate

    columns |= _priced(costs, miss, false_alarm, prior, training_prior)
    evaluation = evaluate(_one_or_all(files), score=_scores(score), classes=classes or None, **columns)
    if as_json:
        click.echo(evaluation.to_json())
    else:
        evaluation.show(everything, _SHOW_ALL)


@cli.command()
@_files
@_missing
@_columns
@_costs
@click.option("--best", metavar="FIGURE", help="Decide by a figure (f1, youden) or a condition ('recall >= 0.9').")
@click.option("--cluster", metavar="COLUMN", help="Rows that belong together: they are drawn together.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How sure intervals shall be.")
@click.option("--seed", type=int, default=0, show_default=True, help="Where the random numbers begin.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def decide(
    files: tuple[str, ...],
    as_json: bool,
    score: tuple[str, ...],
    classes: tuple[str, ...],
    costs: str | None,
    miss: str | None,
    false_alarm: str | None,
    prior: tuple[str, ...],
    training_prior: tuple[str, ...],
    **options: Any,
) -> None:
    """Say where to put the threshold of the scores in FILE, what it costs, and how sure that is.

    \b
    Examples:
      stakes decide preds.csv --truth y --score p --miss 5 --false-alarm 1
      stakes decide preds.csv --truth y --score p --costs costs.toml
      stakes decide preds.csv --truth y --score p --best "recall >= 0.9"
    """
    from stakes.evaluation import decide

    if not (costs or miss or false_alarm or options["best"]):
        raise click.UsageError("say what mistakes cost (--miss 5 --false-alarm 1, or --costs FILE), or --best FIGURE.")
    options |= _priced(costs, miss, false_alarm, prior, training_prior)
    decision = decide(_one_or_all(files), score=_scores(score), classes=classes or None, **options)
    click.echo(decision.to_json() if as_json else _wrapped(_as_options(str(decision))))


def _wrapped(text: str) -> str:
    """Sentences as wide as the terminal, each beginning a line."""
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in text.splitlines())


@cli.command()
@_files
@_columns
@click.option("--metric", metavar="NAME", help="The figure (default: auc of scores, mcc of decisions, r2 of numbers).")
@click.option("--permutations", type=int, default=10_000, show_default=True, help="How often to shuffle.")
@click.option("--seed", type=int, default=0, show_default=True, help="Where the random numbers begin.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def permute(
    files: tuple[str, ...], as_json: bool, score: tuple[str, ...], classes: tuple[str, ...], **options: Any
) -> None:
    """Ask whether a figure of the predictions in FILE could be chance: the truth is shuffled against them.

    \b
    Example:
      stakes permute preds.csv --truth y --score p --positive yes --metric auc
    """
    from stakes.validation.permutation import permutation_test

    test = permutation_test(_one_or_all(files), score=_scores(score), classes=classes or None, **options)
    click.echo(test.to_json(indent=None) if as_json else str(test))


def _one_or_all(files: tuple[str, ...]) -> Any:
    """One name, or a list of several."""
    return files[0] if len(files) == 1 else list(files)


def _scores(options: tuple[str, ...]) -> Any:
    """One column, or a dictionary class → column when there are several."""
    if len(options) < 2:
        return options[0] if options else None
    pairs = [option.partition("=") for option in options]
    for option, (_, sign, _) in zip(options, pairs, strict=True):
        if not sign:
            raise click.UsageError(f"--score {option!r}: with several scores write each as CLASS=COLUMN.")
    return {name: column for name, _, column in pairs}


@cli.command()
@click.argument("files", type=click.Path(), nargs=-1, required=True)
@click.option("--truth", metavar="COLUMN", required=True, help="What really happened.")
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
@click.option("--positive", metavar="CLASS", help="The class that counts as positive.")
@click.option("--class", "classes", metavar="CLASS", multiple=True, help="A class; name all of them, in order.")
@click.option(
    "--task", type=click.Choice(["auto", "classification", "regression"]), default="auto", help="Classes or quantities."
)
@click.option("--weight", metavar="COLUMN", help="How much each row counts.")
@click.option("--cluster", metavar="COLUMN", help="Rows that belong together, such as the visits of a patient.")
@click.option("--threshold", type=float, help="Positive when score ≥ threshold (0.5 for probabilities).")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How sure the intervals shall be.")
@click.option("--simultaneous", is_flag=True, help="Make the intervals of all pairs right at once.")
@click.option("--seed", type=int, default=0, show_default=True, help="Where the random numbers begin.")
@click.option("--resamples", type=int, default=2000, show_default=True, help="How often rows are drawn or swapped.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def compare(
    files: tuple[str, ...],
    scores: tuple[str, ...],
    predictions: tuple[str, ...],
    metric: tuple[str, ...],
    classes: tuple[str, ...],
    unpaired: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare models on the same rows: several columns of FILE, or one model in each of several files.

    \b
    Examples:
      stakes compare preds.csv --truth y --score knn --score svc --margin 0.02
      stakes compare old.csv new.csv --id case --truth y --score p
    """
    from stakes.evaluation.comparison import compare

    several = len(files) > 1
    compared = compare(
        list(files) if several else files[0],
        scores=_of_models(scores, several),
        predictions=_of_models(predictions, several),
        metric=metric or None,
        classes=classes or None,
        paired=not unpaired,
        **options,
    )
    click.echo(compared.to_json()) if as_json else compared.show()


def _of_models(columns: tuple[str, ...], several: bool) -> Any:
    """A list of columns, or the one column that several files have."""
    return columns[0] if several and len(columns) == 1 else list(columns) or None


@cli.command()
@_files
@click.option("--truth", metavar="COLUMN", help="What really happened; not needed with --apply.")
@click.option(
    "--score", metavar="COLUMN", multiple=True, required=True, help="The scores; of several classes CLASS=COLUMN each."
)
@click.option("--positive", metavar="CLASS", help="The class that counts as positive.")
@click.option("--class", "classes", metavar="CLASS", multiple=True, help="A class; name all of them, in order.")
@click.option("--weight", metavar="COLUMN", help="How much each row counts.")
@click.option(
    "--method",
    type=click.Choice(["isotonic", "sigmoid", "temperature"]),
    help="How to recalibrate (default: what does best on rows that were not fitted on).",
)
@click.option("--folds", type=int, default=5, show_default=True, help="Into how many parts rows are dealt for judging.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How sure intervals shall be.")
@click.option("--seed", type=int, default=0, show_default=True, help="Where the random numbers begin.")
@click.option("--apply", "saved", metavar="CALIBRATOR", help="Apply a saved calibrator instead of fitting one.")
@click.option("--column", metavar="NAME", help="What --apply calls the new column (default: COLUMN_calibrated).")
@click.option("-o", "--output", metavar="OUT", help="Where to save the calibrator, or with --apply the file.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def calibrate(
    files: tuple[str, ...],
    score: tuple[str, ...],
    classes: tuple[str, ...],
    saved: str | None,
    column: str | None,
    output: str | None,
    as_json: bool,
    **options: Any,
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
        if len(files) > 1 or options["where"] is not None:
            raise click.UsageError("--apply is for one FILE, with all its rows.")
        named = {"column": column, "positive": options["positive"]}
        names = apply_calibrator(files[0], saved, output, score=_scores(score), **named)
        click.echo(
            json.dumps({"written": output, "columns": names}) if as_json else f"{output}: added {', '.join(names)}"
        )
        return
    if options["truth"] is None:
        raise click.UsageError("--truth COLUMN says what really happened; only --apply does without it.")
    if column is not None:
        raise click.UsageError("--column is for --apply.")
    if output is not None:
        for file in files:
            refuse_overwriting(file, output)
    found = recalibration(_one_or_all(files), score=_scores(score), classes=classes or None, **options)
    if output is not None:
        found.calibrator.save(output)
    click.echo(found.to_json() if as_json else str(found))
    if output is not None and not as_json:
        click.echo(f"{output}: the calibrator ({found.method}, fitted on all rows)")


@cli.command()
@click.argument("name", required=False)
def metrics(name: str | None) -> None:
    """List the metrics, or explain the one called NAME.

    \b
    Example:
      stakes metrics f_beta
    """
    from stakes.views import catalogue

    if name is None:
        catalogue.show_all()
    else:
        catalogue.show_one(name)


@cli.command()
@click.argument("file", type=click.Path())
@click.option("--truth", metavar="COLUMN", help="What really happened.")
@click.option(
    "--model", "models", metavar="COLUMN", multiple=True, help="A model's decisions; once for each (NAME=COLUMN)."
)
@click.option("--rule", metavar="TEXT", help='How they are fused, such as "images and history" or "majority(a, b, c)".')
@click.option("--costs", metavar="FILE", help="What each decision costs for each class (TOML).")
@click.option("--miss", type=float, help="What a missed positive costs.")
@click.option("--false-alarm", type=float, help="What a false alarm costs.")
@click.option("--positive", metavar="CLASS", help="The class that counts as positive.")
@click.option("--prior", type=float, help="The share of the positive class where the system will be used.")
@click.option("--score", "scores", metavar="MODEL=COLUMN", multiple=True, help="Where to set a model's threshold.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def system(file: str, as_json: bool, models: tuple[str, ...], scores: tuple[str, ...], **options: Any) -> None:
    """Say what each model's mistakes cost a whole system, written down in a TOML file or in columns of FILE.

    \b
    Examples:
      stakes system system.toml
      stakes system preds.csv --truth y --model images --model history
          --rule "images and history" --miss 5 --false-alarm 1

    \b
    A system.toml:
      classes = ["sick", "healthy"]
      decide = "images and history"
      models.images = [[80, 20], [20, 80]]
      models.history = [[50, 50], [100, 100]]
      costs = {miss = 5, false_alarm = 1}
    With rows: data = "preds.csv", truth = "y", models = ["images", "history"]. Names that are no plain words stand in
    backticks in a rule.
    """
    from stakes.evaluation.system import System

    if file.lower().endswith(".toml"):
        if models or any(value is not None for value in options.values()):
            raise click.UsageError("a .toml file says everything itself; the options are for columns of other files.")
        try:
            found = System.from_toml(file)
        except StakesError as problem:  # in the words of the file, which are not options
            _stop(str(problem), 2)
    else:
        found = _system_of_rows(file, models, **options)
    for pair in scores:
        if not all(pair.partition("=")):
            raise click.UsageError(f"--score {pair} does not work; write --score MODEL=COLUMN.")
    thresholds = [found.threshold(model, column) for model, _, column in (pair.partition("=") for pair in scores)]
    if as_json:
        told = {**found.to_dict(), "thresholds": {one.model: one.to_dict() for one in thresholds}}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False))
        return
    found.show()
    for one in thresholds:
        click.echo(_wrapped(f"threshold  {one}"))


def _system_of_rows(
    file: str,
    models: tuple[str, ...],
    rule: str | None,
    miss: float | None,
    false_alarm: float | None,
    costs: str | None,
    **columns: Any,
) -> Any:
    from stakes.evaluation.system import System
    from stakes.tallies.costs import Costs

    needed = {
        "--truth": columns["truth"],
        "--model": models,
        "--rule": rule,
        "--miss": miss if costs is None else costs,
        "--false-alarm": false_alarm if costs is None else costs,
    }
    missing = [option for option, value in needed.items() if value is None or value == ()]
    if missing:
        raise click.UsageError(f"a system of columns needs {', '.join(missing)} (or give a .toml file).")
    pairs = [option.partition("=") for option in models]
    names = [name for name, _, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise errors.model_twice(name)
    named = {name: column or name for name, _, column in pairs}
    prices = Costs(miss=miss, false_alarm=false_alarm) if costs is None else Costs.from_toml(costs)
    return System(file, models=named, decide=rule, costs=prices, **columns)


@cli.command()
@click.argument("what", type=click.Choice(["predictions", "system"]), default="predictions")
def demo(what: str) -> None:
    """Evaluate the predictions that ship with stakes (is a breast tumour malignant?), or show a SYSTEM of models."""
    if what == "system":
        _demo_system()
        return
    from stakes.evaluation import evaluate

    click.echo("A logistic regression scored 569 breast tumours it had not seen. Can it be trusted?\n")
    evaluate(str(DEMO_FILE), truth="diagnosis", score="logistic", positive="malignant", by="size").show(more=_SHOW_ALL)
    click.echo("\n" + _DEMO_NEXT.format(file=DEMO_FILE), nl=False)


def _demo_system() -> None:
    """The clinical example: images and history, fused by AND and by OR."""
    from stakes.evaluation.system import System

    for fuser, words in (("and", "only when both models do"), ("or", "when at least one of the models does")):
        click.echo(f"\nA clinic calls a patient sick {words}. What does each model's error cost the clinic?\n")
        System.from_toml(DEMO_FILE.parent / f"clinic_{fuser}.toml").show()
    click.echo(_SYSTEM_NEXT.format(folder=DEMO_FILE.parent), nl=False)


def main() -> NoReturn:
    """Run a command; a user's mistake is one line and exit code 2, Ctrl-C is 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign gets a question mark, not a traceback
    warnings.showwarning = _warn  # type: ignore[assignment]
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        _stop("interrupted", 130)
    except click.ClickException as problem:
        problem.show()
        sys.exit(2)
    except StakesError as problem:
        _stop(_as_options(str(problem)), 2)
    except BrokenPipeError:
        sys.stderr.close()  # nobody is listening; say nothing
        sys.exit(0)
    except OSError as problem:
        _stop(f"cannot write: {problem.strerror or problem}", 1)
    sys.exit(0)


def _warn(message: Warning | str, *_: Any) -> None:
    """A warning is one line for a person, without the place in the code."""
    click.echo(f"stakes: warning: {_as_options(str(message))}", err=True)


def _as_options(words: str) -> str:
    """Name arguments as the command line does: --positive instead of positive=."""
    words = words.replace(", or an array of one column per class with classes=", "")
    words = words.replace("{class: share} with shares", "CLASS=SHARE for each with shares")
    words = words.replace("Costs.from_utilities()", "tables [utilities.CLASS]")
    words = words.replace("score={class: column, …}", "--score CLASS=COLUMN").replace("classes=", "class=")
    words = (
        words.replace("scores=", "score=").replace("predictions=", "prediction=").replace("paired=False", "--unpaired")
    )
    named = rf"\b({'|'.join(_ARGUMENTS)})="
    words = re.sub(named + r"(?=[\w'-])", r"--\1 ", re.sub(named + r"(?![\w'-])", r"--\1", words))
    return words.replace("--training_prior", "--training-prior").replace("--false_alarm", "--false-alarm")


def _stop(words: str, code: int) -> NoReturn:
    click.echo(f"stakes: {words}", err=True)
    sys.exit(code)
