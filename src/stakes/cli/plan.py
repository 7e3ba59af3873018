"""stakes plan: how many rows does a study need?"""

import shlex
from collections.abc import Callable, Sequence

import click

from stakes.cli import options, output
from stakes.cli.options import Arguments, TypedNumber
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, option
from stakes.planning.rates import RATES
from stakes.question.options import Value

_OF_PILOTS = ("truth", "score", "prediction", "weight", "frequency", "cluster", "by", "where", "threshold", "positive")
_PILOT = "Rows of a first study, or its tally; evaluated as its columns say."
_OTHER = "The scores or decisions of another model in the pilot: plan a comparison."

_AIMS: dict[str, tuple[str, Arguments]] = {
    "width": ("How wide the interval may be; of several figures FIGURE=WIDTH.", {"multiple": True, "metavar": "WIDTH"}),
    "require": ('A condition of a gate that shall be met, such as "auc.low >= 0.8".', {"metavar": "CONDITION"}),
    "power": ("How often the study shall succeed.", {"default": 0.8, "show_default": True}),
    "difference": ("The difference that shall be found.", {}),
    "margin": ("The difference that would not matter: plan to show that there is none as large.", {}),
    "assurance": ("In which share of studies the interval shall be that narrow (default: about half).", {}),
    "by_share": ("The share of the smallest segment for which it shall hold as well.", {}),
    "disagreement": ("Of two accuracies: the share of rows on which one model alone is right.", {}),
    "labels": (
        "How many rows have outputs already: plan how many of them to label.",
        {"type": int, "metavar": "ROWS"},
    ),
}
"""What a study shall reach: the meaning of each option, and its settings for click; others are numbers."""


def _expected(command: Callable[..., object]) -> Callable[..., object]:
    """The rates that somebody expects, and what a study shall reach, as options."""
    rates: dict[str, tuple[str, Arguments]] = {name: (meaning, {}) for name, meaning in RATES.items()}
    for group, table in (("expected", rates), ("aim", _AIMS)):
        for name, (meaning, settings) in reversed(table.items()):
            typed, kind = f"--{name.replace('_', '-')}", None if "metavar" in settings else TypedNumber()
            command = option(group, typed, meaning, name, **{"type": kind, **settings})(command)
    return command


@click.command(cls=Command, context_settings={"allow_extra_args": True})
@click.argument("figure", metavar="FIGURE", required=False)
@option("columns", "--pilot", _PILOT, "files", multiple=True, type=InputFile("rows"), metavar="FILE")
@_expected
@option("columns", "--other", _OTHER, metavar="COLUMN")
@options.asked("evaluate")
@output.forms()
def plan(figure: str | None, files: tuple[str, ...], asked: Arguments, **given: Value) -> Answer:
    """Say how many rows a study needs, from a pilot or from rates that you expect.

    \b
    Examples:
      stakes plan recall --width 0.1 --prevalence 0.05 --recall 0.9
      stakes plan auc --pilot pilot.csv --truth y --score p --width 0.05
      stakes plan auc --pilot p.csv --truth y --score p --other q --difference .02
      stakes plan --require "auc.low >= 0.8" --auc 0.85 --prevalence 0.1
      stakes plan --width auc=0.1 --width f1=0.1 --pilot p.csv --truth y --score p
    """
    from stakes.planning.study import plan

    if more := click.get_current_context().args:
        raise click.UsageError(f"a file of a first study goes with --pilot: --pilot {shlex.quote(more[0])}.")
    pilot = _pilot(figure, files, asked, given.pop("other"))
    costs = None if files else asked["costs"]
    width = _width(given.pop("width"))
    expected = {name: value for name in RATES if (value := given.pop(name)) is not None}
    found = plan(
        figure, pilot, width=width, by=given.pop("by_share"), costs=costs, confidence=asked["confidence"],
        seed=asked["seed"], lang=asked["lang"], **given, **expected,
    )  # fmt: skip
    return output.of_page(found, lambda: found.findings[0].words[0])


def _width(typed: Sequence[str]) -> float | dict[str, float] | None:
    """One width, or a dictionary figure → width."""
    if not typed:
        return None
    read = {name: options.number(text) for name, _, text in (one.rpartition("=") for one in typed)}
    if len(read) < len(typed) or ("" in read and len(read) > 1):
        raise click.UsageError("with several widths write each as FIGURE=WIDTH.")
    return read.get("", read)


def _pilot(figure: str | None, files: tuple[str, ...], asked: Arguments, other: str | None) -> Value:
    """The evaluation of a pilot, or its comparison with another model; None without one."""
    if not files:
        beside = [name for name in (*_OF_PILOTS, "other") if {**asked, "other": other}[name] is not None]
        if beside:
            raise click.UsageError(f"--{beside[0]} is a column of a pilot; give --pilot FILE, or leave it out.")
        return None
    from stakes.evaluation import evaluate
    from stakes.evaluation.comparing import compare

    if other is None:
        return evaluate(options.one_or_all(files), **asked)
    role = "score" if asked["score"] is not None else "prediction"
    models: Arguments = {f"{role}s": [asked.pop(role), other]}
    kept = {name: value for name, value in asked.items() if name not in ("score", "prediction", "exact", "unlabelled")}
    return compare(options.one_or_all(files), metric=figure, **models, **kept)
