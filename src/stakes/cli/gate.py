"""stakes gate: is the model good enough to go on?"""

from dataclasses import replace
from typing import Any

import click

from stakes.cli import github, options, output
from stakes.cli.config import config
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, OptionOfGroup, OutputFile
from stakes.errors import InputError
from stakes.text import visible


@click.command(cls=Command, also_appends=github.summary)
@config
@options.optional_files
@options.asked("gate")
@click.option(
    "--baseline",
    cls=OptionOfGroup,
    group="models",
    metavar="FILE",
    type=InputFile("baseline"),
    help="What to compare with: a tally, or a file of rows with these columns.",
)
@click.option(
    "--baseline-score",
    cls=OptionOfGroup,
    group="models",
    metavar="COLUMN",
    multiple=True,
    help="The baseline's scores, beside those of the model.",
)
@click.option(
    "--baseline-prediction",
    cls=OptionOfGroup,
    group="models",
    metavar="COLUMN",
    help="The baseline's decisions or numbers, likewise.",
)
@click.option(
    "--id",
    cls=OptionOfGroup,
    group="models",
    metavar="COLUMN",
    help="The case numbers that join FILE and a baseline of rows.",
)
@click.option("--junit", metavar="FILE", type=OutputFile("junit"), help="Write JUnit's XML too.")
@output.forms()
def gate(
    config: str | None,
    files: tuple[str, ...],
    asked: dict[str, Any],
    junit: str | None,
    **rival: Any,
) -> Answer:
    """Hold the predictions in FILE against conditions: exit code 0 when all are met, 1 when not, 2 for wrong input.

    Exit code 3 is work that could not be done (too little memory, a full disk), which says nothing about the model.

    A condition is about a figure, or an end of its interval (.low, .high): "auc.low >= 0.8". A figure that is undefined
    fails, and says why; so do more rows left out than --allow-dropped. --no-worse compares with a baseline: on the same
    rows if it is another column, or a file of rows joined by --id; otherwise as if of other rows, which is safe but
    less sharp. A score that is the truth itself, is the same in every row, or surely runs the wrong way is wrong input.

    \b
    Examples:
      stakes gate preds.csv --truth y --score p --require "auc.low >= 0.8"
      stakes gate preds.csv --truth y --score p --miss 5 --false-alarm 1
          --baseline main.tally --no-worse normalised_cost:0.02 --junit gate.xml

    \b
    The same in stakes.toml, where `stakes gate` alone finds it:
      [gate]
      files = ["preds.csv"]
      truth = "y"
      score = "p"
      require = ["auc.low >= 0.8", "expected_cost <= 0.3"]
      baseline = "main.tally"
      no-worse = {normalised_cost = 0.02}

    In pyproject.toml the table is [tool.stakes.gate]. On GitHub (GITHUB_ACTIONS=true) the summary of the job is
    written, too, and each failure is an ::error.
    """
    from stakes.evaluation import Evaluation, evaluate
    from stakes.evaluation.gate import Request, judge
    from stakes.views import junit as xml

    given = click.get_current_context().params
    if not files:
        raise click.UsageError("name the FILE with the predictions (or files = [...] in stakes.toml).")
    if given["as_markdown"]:
        _refuse_file_of_markdown(files)
    wanted = {name: asked.pop(name) for name in ("require", "no_worse", "allow_dropped")}
    request = Request.parse(**wanted, against=_is_there(**rival))
    if asked["costs"] is None:
        request.refuse_without_costs()
    evaluation = evaluate(options.one_or_all(files), **asked)
    baseline = _baseline(files, {name: value for name, value in asked.items() if name != "by"}, **rival)
    found = judge(evaluation, request, baseline)
    if isinstance(baseline, Evaluation):
        found = replace(found, baseline=visible(f"{rival['baseline']}: {found.baseline}"))
    if junit is not None:
        output.write(junit, xml.junit(found), "junit")
    github.summarise(found)
    only_data = any(given[name] for name in ("as_json", "as_csv", "as_markdown", "as_quiet", "output_file"))
    if only_data:  # standard output, or the file, is for others to read; GitHub listens to standard error, too
        github.annotate(found, err=True)
    show = found.show if only_data else lambda: _show(found)
    return output.of(found, lambda: _say_left_out(found), show, page=found._page, code=int(not found.passed), dropped=0)


def _say_left_out(found: Any) -> str:
    """Even a quiet gate says that rows are missing: no figure would tell."""
    return "; ".join(f"{check.condition}: {check.verdict}" for check in found.checks if check.kind == "dropped")


def _refuse_file_of_markdown(files: tuple[str, ...]) -> None:
    """--markdown FILE wrote a file once, which would be taken for rows."""
    from stakes.engines.anonymise import SUFFIX
    from stakes.engines.files.kinds import KINDS

    for name in files:
        if not (name == "-" or "::" in name or "*" in name or name.lower().endswith((*KINDS, SUFFIX))):
            raise InputError(
                "markdown-is-a-flag",
                f"{name} holds no rows, and --markdown takes no file; write Markdown to a file with -o {name}",
            )


def _show(found: Any) -> None:
    found.show()
    github.annotate(found)


def _is_there(baseline: str | None, baseline_score: Any, baseline_prediction: str | None, id: str | None) -> bool:
    """Whether there is a baseline; two of them are refused."""
    beside = bool(baseline_score) or baseline_prediction is not None
    if beside and baseline is not None:
        raise click.UsageError("--baseline FILE and a baseline column are two baselines; give one.")
    if id is not None and baseline is None:
        raise click.UsageError("--id joins FILE and --baseline FILE; there is no such file.")
    return beside or baseline is not None


def _baseline(
    files: tuple[str, ...],
    columns: dict[str, Any],
    baseline: str | None,
    baseline_score: tuple[str, ...],
    baseline_prediction: str | None,
    id: str | None,
) -> Any:
    """The evaluation or the comparison that differences are judged by, if there is one."""
    if baseline_score or baseline_prediction is not None:
        return _beside(files, columns, options.scores(baseline_score), baseline_prediction)
    if baseline is None:
        return None
    if id is not None:
        return _join(files, columns, baseline, id)
    return _of_other_rows(columns, baseline)


def _beside(files: tuple[str, ...], columns: dict[str, Any], score: Any, prediction: str | None) -> Any:
    """Both models are columns of one file."""
    outputs = {"scores": (columns["score"], score), "predictions": (columns["prediction"], prediction)}
    for name, pair in outputs.items():
        if (pair[0] is None) != (pair[1] is None):
            option = name.removesuffix("s")
            raise click.UsageError(f"--{option} and --baseline-{option} go together.")
    other = next((name for name in (score, prediction) if isinstance(name, str)), "of the baseline")
    pairs = {name: pair for name, pair in outputs.items() if pair[0]}
    named: dict[str, Any] = {
        name: dict(zip(("this model", f"column {other}"), pair, strict=True)) for name, pair in pairs.items()
    }
    return _compare(files, columns, **named)


def _join(files: tuple[str, ...], columns: dict[str, Any], baseline: str, id: str) -> Any:
    """Each model has a file of its own, of the same cases."""
    outputs = {"scores": columns["score"], "predictions": columns["prediction"]}
    return _compare((*files, baseline), columns, id=id, **outputs)


def _compare(files: tuple[str, ...], columns: dict[str, Any], id: str | None = None, **outputs: Any) -> Any:
    from stakes.evaluation.comparing import compare

    if len(files) > (1 if id is None else 2) or "-" in files or any(name.endswith(".tally") for name in files):
        raise click.UsageError("a baseline on the same rows goes with one FILE of rows, which is read twice.")
    shared = {name: value for name, value in columns.items() if name not in ("score", "prediction", "exact")}
    return compare(options.one_or_all(files), id=id, **shared, **outputs)


def _of_other_rows(columns: dict[str, Any], baseline: str) -> Any:
    """A tally, or a file whose rows cannot be matched."""
    from stakes.evaluation import evaluate
    from stakes.evaluation.from_tallies import are_tallies

    if not are_tallies(baseline):
        return evaluate(baseline, **columns)
    asked = ("costs", "prior", "training_prior", "confidence", "design", "seed", "threshold")
    return evaluate(baseline, **{name: columns[name] for name in asked})
