"""stakes gate: is the model good enough to go on?"""

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

import click

from stakes import errors
from stakes.cli import github, options, output, published
from stakes.cli.config import config
from stakes.cli.options import Arguments
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, OutputFile, option
from stakes.errors import InputError, Text
from stakes.frozen import dataclass, replace
from stakes.question.options import Value
from stakes.results import speak
from stakes.text import visible

if TYPE_CHECKING:
    from stakes.evaluation import Evaluation
    from stakes.evaluation.comparison import Comparison
    from stakes.evaluation.gate import Gate


@click.command(cls=Command, also_appends=github.summary)
@config
@partial(options.files, required=False)
@options.asked("gate")
@published.table
@option(
    "models",
    "--baseline",
    "What to compare with: a tally, or a file of rows with these columns.",
    type=InputFile("baseline"),
)
@option(
    "models", "--baseline-score", "The baseline's scores, beside those of the model.", metavar="COLUMN", multiple=True
)
@option("models", "--baseline-prediction", "The baseline's decisions or numbers, likewise.", metavar="COLUMN")
@option("models", "--id", "The case numbers that join FILE and a baseline of rows.", metavar="COLUMN")
@option("output", "--junit", "Write JUnit's XML too.", type=OutputFile("junit"))
@output.forms()
def gate(files: tuple[str, ...], asked: Arguments, table: str | None, junit: str | None, **typed: Value) -> Answer:
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
    from stakes.evaluation import Evaluation
    from stakes.evaluation.gate import Request, judge
    from stakes.views import junit as xml

    given = click.get_current_context().params
    if not files and table is None:
        raise click.UsageError("name the FILE with the predictions (or files = [...] in stakes.toml).")
    if given["as_markdown"]:
        _refuse_file_of_markdown(files)
    wanted = {name: asked.pop(name) for name in ("require", "no_worse", "allow_dropped")}
    rival = _Rival(**typed)
    request = Request.parse(**wanted, against=rival.is_beside or rival.baseline is not None)
    if asked["costs"] is None:
        request.refuse_without_costs()
    evaluation = _evaluate(published.rows_or_table(files, table, asked), request.needed, **asked)
    shared = {name: value for name, value in asked.items() if name not in ("by", "unlabelled")}
    baseline = rival.judge(files, shared, request.needed)
    found = judge(evaluation, request, baseline)
    if isinstance(baseline, Evaluation):
        found = speak(replace(found, baseline=visible(f"{rival.baseline}: {found.baseline}")), found.lang)
    if junit is not None:
        output.write(junit, xml.junit(found), "junit")
    click.get_current_context().call_on_close(partial(github.summarise, found))  # after the verdict
    only_data = any(given[name] for name in ("as_json", "as_csv", "as_markdown", "as_quiet", "output_file"))
    if only_data:  # standard output, or the file, is for others to read; GitHub listens to standard error, too
        github.annotate(found, err=True)
    answer = output.of_page(found, lambda: _quiet_line(found), code=int(not found.passed), dropped=0)
    return answer if only_data else replace(answer, show=partial(_show, found, answer))


def _quiet_line(found: "Gate") -> str:
    """What even a quiet gate reports, because no figure shows it: rows are missing, or bins leave a condition open."""
    missing = [[f"{check.condition}: {check.verdict}"] for check in found.checks if check.kind == "dropped"]
    left_open = [[f"{one.condition}: ", one.reason] for one in found.failed if one.seen is not None and one.reason]
    return Text(*[part for parts in (*missing, *left_open) for part in ("; ", *parts)][1:])


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


def _show(found: "Gate", answer: Answer) -> None:
    answer.show()
    github.annotate(found)


@dataclass(frozen=True)
class _Rival:
    """The baseline as it was typed: a file, or columns beside those of the model."""

    baseline: str | None
    baseline_score: tuple[str, ...]
    baseline_prediction: str | None
    id: str | None

    def __post_init__(self) -> None:
        if self.is_beside and self.baseline is not None:
            raise click.UsageError("--baseline FILE and a baseline column are two baselines; give one.")
        if self.id is not None and self.baseline is None:
            raise click.UsageError("--id joins FILE and --baseline FILE; there is no such file.")

    @property
    def is_beside(self) -> bool:
        """Whether both models are columns of one file."""
        return bool(self.baseline_score) or self.baseline_prediction is not None

    def judge(
        self, files: tuple[str, ...], columns: Arguments, needed: Collection[str]
    ) -> "Evaluation | Comparison | None":
        """The evaluation or the comparison that gives the differences, if there is one."""
        from stakes.engines.files.writing import are_same

        if self.baseline is not None and any(are_same(self.baseline, name) for name in files):
            raise errors.own_baseline()
        if self.is_beside:
            return _compare(files, columns, **self._outputs(columns))
        if self.baseline is None:
            return None
        if self.id is not None:  # each model has a file of its own, of the same cases
            outputs = {"scores": columns["score"], "predictions": columns["prediction"]}
            return _compare((*files, self.baseline), columns, id=self.id, **outputs)
        return _of_other_rows(columns, self.baseline, needed)

    def _outputs(self, columns: Arguments) -> Arguments:
        """The outputs of both models, by their names."""
        score, prediction = options.scores(self.baseline_score), self.baseline_prediction
        outputs = {"scores": (columns["score"], score), "predictions": (columns["prediction"], prediction)}
        for name, pair in outputs.items():
            if (pair[0] is None) != (pair[1] is None):
                option = name.removesuffix("s")
                raise click.UsageError(f"--{option} and --baseline-{option} go together.")
        if all(one == other for one, other in outputs.values()):
            raise errors.own_baseline()
        other = next((name for name in (score, prediction) if isinstance(name, str)), "of the baseline")
        models = ("this model", f"column {other}")
        return {name: dict(zip(models, pair, strict=True)) for name, pair in outputs.items() if pair[0]}


def _compare(files: tuple[str, ...], columns: Arguments, id: str | None = None, **outputs: Value) -> "Comparison":
    from stakes.evaluation.comparing import compare

    if len(files) > (1 if id is None else 2) or "-" in files or any(name.endswith(".tally") for name in files):
        raise click.UsageError("a baseline on the same rows goes with one FILE of rows, which is read twice.")
    shared = {name: value for name, value in columns.items() if name not in ("score", "prediction", "auc_error", "by")}
    return compare(options.one_or_all(files), id=id, **shared, **outputs)


def _of_other_rows(columns: Arguments, baseline: str, needed: Collection[str]) -> "Evaluation":
    """A tally, or a file whose rows cannot be matched."""
    from stakes.evaluation.from_tallies import are_tallies

    if are_tallies(baseline):
        asked = ("costs", "prior", "training_prior", "confidence", "design", "seed", "threshold")
        columns = {name: columns[name] for name in asked}
    return _evaluate(baseline, needed, **columns)


def _evaluate(data: Value, needed: Collection[str], **asked: Value) -> "Evaluation":
    """Evaluate rows as far as conditions ask."""
    from stakes.evaluation import answer
    from stakes.question.question import Question

    return speak(answer(Question.of("evaluate", asked), data, needed=needed), asked.get("lang", "en"))
