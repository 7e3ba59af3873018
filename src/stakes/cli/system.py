"""stakes system: what does each model's mistake cost the whole?"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, option
from stakes.cli.words import as_asked, say, wrap
from stakes.errors import InputError, StakesError
from stakes.question.options import Value
from stakes.records import Record
from stakes.results import speak

if TYPE_CHECKING:
    from stakes.systems.system import System
    from stakes.systems.thresholds import SystemThreshold


@dataclass(frozen=True)
class SystemAnswer(Record, stakes="system", form=1, shown="*system thresholds"):
    """What each model's mistakes cost a whole system."""

    system: "System"
    thresholds: dict[str, "SystemThreshold"]


class _System(InputFile):
    """A file of rows, or one that says what a system is; its rows may stand in a file beside it."""

    def places(self, name: str) -> Iterator[tuple[str | int, str]]:
        """Yield the file, and the one that holds its rows."""
        from stakes.engines.files.demo import real_name
        from stakes.tallies.toml_files import read_toml

        name = real_name(name)
        if not _is_toml(name):
            yield from super().places(name)
            return
        yield name, "system"
        with suppress(StakesError):  # the command says what is wrong with it
            data = read_toml(name).get("data")
            if isinstance(data, str):
                yield from super().places(os.path.join(os.path.dirname(name), real_name(data)))


def _is_toml(name: str) -> bool:
    return name.lower().endswith(".toml")


@click.command(cls=Command)
@click.argument("file", type=_System("rows"))
@option("--truth", group="columns", metavar="COLUMN", help="What really happened.")
@option(
    "--model",
    "models",
    group="models",
    metavar="COLUMN",
    multiple=True,
    help="A model's decisions; once for each (NAME=COLUMN).",
)
@option(
    "--rule",
    group="models",
    metavar="TEXT",
    help='How they are fused, such as "images and history" or "majority(a, b, c)".',
)
@options.like("evaluate", "costs")
@option("--miss", group="costs", type=float, help="What a missed positive costs.")
@option("--false-alarm", group="costs", type=float, help="What a false alarm costs.")
@options.like("evaluate", "positive")
@options.like("evaluate", "alike")
@option("--prior", group="costs", type=float, help="The share of the positive class where the system will be used.")
@option(
    "--score",
    "scores",
    group="columns",
    metavar="MODEL=COLUMN",
    multiple=True,
    help="Where to set a model's threshold.",
)
@options.report
@options.lang
@output.forms()
def system(
    file: str, report: str | None, lang: str, models: tuple[str, ...], scores: tuple[str, ...], **arguments: Value
) -> Answer:
    """Say what each model's mistakes cost a whole system, written down in a TOML file or in columns of FILE.

    \b
    Examples:
      stakes system system.toml
      stakes system preds.csv --truth y --model images --model history
          --rule "images and history" --miss 5 --false-alarm 1
      stakes system system.toml --report out.html

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
    from stakes.engines.files.demo import real_name
    from stakes.systems.system import System

    if _is_toml(real_name(file)):
        if models or any(value is not None for value in arguments.values()):
            raise click.UsageError("a .toml file says everything itself; the options are for columns of other files.")
        try:
            found = System.from_toml(file)
        except StakesError as problem:  # in the words of the file, which are not options
            raise InputError(problem.code, str(problem)) from None  # a file has keys, no options
    else:
        found = _system_of_rows(file, models, **arguments)
    speak(found, lang)
    for pair in scores:
        if not all(pair.partition("=")):
            raise click.UsageError(f"--score {pair} does not work; write --score MODEL=COLUMN.")
    if report is not None:
        found.report(report, about=as_asked())
    thresholds = [found.threshold(model, column) for model, _, column in (pair.partition("=") for pair in scores)]

    def show() -> None:
        found.show()
        for one in thresholds:
            say("\n" + wrap(f"threshold  {one}"))

    answer = SystemAnswer(found, {one.model: one for one in thresholds})
    return output.of_page(found, lambda: found.advice, show=show, data=answer.to_dict)


def _system_of_rows(
    file: str,
    models: tuple[str, ...],
    rule: str | None,
    miss: float | None,
    false_alarm: float | None,
    costs: str | None,
    **columns: Value,
) -> "System":
    from stakes.systems.system import System
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
    named = {name: column or name for name, _, column in pairs}
    for name, count in Counter(name for name, _, _ in pairs).items():
        if count > 1:
            raise InputError(
                "model-twice", f"model {name!r} is named twice; give each model a name of its own (NAME=COLUMN)"
            )
    prices = Costs(miss=miss, false_alarm=false_alarm) if costs is None else Costs.from_toml(costs)
    return System(file, models=named, decide=rule, costs=prices, **columns)
