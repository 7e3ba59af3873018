"""stakes system: what does each model's mistake cost the whole?"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, option
from stakes.cli.words import on_the_command_line, say, wrap
from stakes.errors import InputError, StakesError
from stakes.frozen import dataclass, replace
from stakes.question.options import Value
from stakes.records import Record
from stakes.results import speak

if TYPE_CHECKING:
    from stakes.systems.choices import BestRule, SystemChoice
    from stakes.systems.plans import BestPlan
    from stakes.systems.system import System
    from stakes.systems.thresholds import BestThresholds, SystemThreshold
    from stakes.views.page import Page


@dataclass(frozen=True)
class SystemAnswer(Record, stakes="system", shown="*system thresholds best_rule? best_thresholds? best_plan?"):
    """What each model's mistakes cost a whole system, and what would cost less where that was asked."""

    system: "System"
    thresholds: dict[str, "SystemThreshold"]
    best_rule: "BestRule | None" = None
    best_thresholds: "BestThresholds | None" = None
    best_plan: "BestPlan | None" = None

    @property
    def choices(self) -> "list[SystemChoice]":
        """What was asked for that would cost less."""
        found = (self.best_rule, self.best_thresholds, self.best_plan)
        return [one for one in found if one is not None]


class _System(InputFile):
    """A file of rows, or one that says what a system is; its rows may stand in a file beside it."""

    def places(self, name: str) -> Iterator[tuple[str | int, str]]:
        """Yield the file, and the one that holds its rows."""
        from stakes.engines.files.demo import real_name
        from stakes.tallies.small_files import read_toml

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
@option("columns", "--truth", "What really happened.", metavar="COLUMN")
@option(
    "models",
    "--model",
    "A model's decisions; once for each (NAME=COLUMN).",
    name="models",
    metavar="COLUMN",
    multiple=True,
)
@option("models", "--rule", 'How they are fused, such as "images and history" or "majority(a, b, c)".', metavar="TEXT")
@options.like("costs")
@option("costs", "--miss", "What a missed positive costs.", type=float)
@option("costs", "--false-alarm", "What a false alarm costs.", type=float)
@options.like("positive")
@options.like("alike")
@option("costs", "--prior", "The share of the positive class where the system will be used.", type=float)
@option(
    "models",
    "--price",
    "What it costs to ask a model once, for --best-plan.",
    name="prices",
    metavar="MODEL=NUMBER",
    multiple=True,
)
@options.like("weight")
@options.like("cluster")
@option("columns", "--score", "Where to set a model's threshold.", name="scores", metavar="MODEL=COLUMN", multiple=True)
@option("models", "--best-rule", "Find the rule that costs least, judged on held-out rows.", is_flag=True)
@option("models", "--best-plan", "Find whom to ask, in which order, if asking has a price.", is_flag=True)
@option("models", "--best-thresholds", "Set the thresholds of all models with --score together.", is_flag=True)
@options.report
@options.lang
@output.forms()
def system(
    file: str,
    report: str | None,
    lang: str,
    models: tuple[str, ...],
    scores: tuple[str, ...],
    prices: tuple[str, ...],
    best_rule: bool,
    best_plan: bool,
    best_thresholds: bool,
    **arguments: Value,
) -> Answer:
    """Say what each model's mistakes cost a whole system, written down in a TOML file or in columns of FILE.

    \b
    Examples:
      stakes system system.toml
      stakes system preds.csv --truth y --model images --model history
          --rule "images and history" --miss 5 --false-alarm 1
      stakes system system.toml --best-rule --report out.html

    \b
    A system.toml:
      classes = ["sick", "healthy"]
      decide = "images and history"
      models.images = [[80, 20], [20, 80]]
      models.history = [[50, 50], [100, 100]]
      costs = {miss = 5, false_alarm = 1}
    With rows: data = "preds.csv", truth = "y", models = ["images", "history"].
    Names that are no plain words stand in backticks in a rule.
    """
    from stakes.engines.files.demo import real_name
    from stakes.systems.system import System

    if _is_toml(real_name(file)):
        if models or prices or any(value is not None for value in arguments.values()):
            raise click.UsageError("a .toml file says everything itself; the options are for columns of other files.")
        try:
            found = System.from_toml(file)
        except StakesError as problem:  # in the words of the file, which are not options
            raise InputError(problem.code, str(problem)) from None  # a file has keys, no options
    else:
        found = _system_of_rows(file, models, _pairs("--price", "NUMBER", prices), **arguments)
    speak(found, lang)
    columns = _pairs("--score", "COLUMN", scores)
    if best_thresholds and not columns:
        raise click.UsageError("--best-thresholds needs --score MODEL=COLUMN, once for each model.")
    answer = SystemAnswer(
        found,
        {} if best_thresholds else {model: found.threshold(model, column) for model, column in columns.items()},
        found.best_rule() if best_rule else None,
        found.best_thresholds(columns) if best_thresholds else None,
        found.best_plan() if best_plan else None,
    )

    def page() -> "Page":
        return _page(answer)

    def show() -> None:
        from stakes.views import terminal

        terminal.show_page(page())
        for one in answer.thresholds.values():
            say("\n" + wrap(f"threshold  {one}"))

    return output.of_page(found, lambda: found.advice, report=report, show=show, page=page, data=answer.to_dict)


def _page(answer: SystemAnswer) -> "Page":
    """The page of a system, followed by what would cost less."""
    from stakes.views.pages import page_of

    page = page_of(answer.system)
    for choice in answer.choices:
        more = page_of(choice)
        page = replace(page, answers=[*page.answers, *more.answers], grids=[*page.grids, *more.grids])
    return page.mapped(on_the_command_line)


def _pairs(option: str, value: str, typed: tuple[str, ...]) -> dict[str, str]:
    """Take apart what was typed as MODEL=VALUE."""
    for pair in typed:
        if not all(pair.partition("=")):
            raise click.UsageError(f"{option} {pair} does not work; write {option} MODEL={value}.")
    return {model: found for model, _, found in (pair.partition("=") for pair in typed)}


def _system_of_rows(
    file: str,
    models: tuple[str, ...],
    prices: dict[str, str],
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
    named: dict[str, Value] = {name: column or name for name, _, column in pairs}
    for name, count in Counter(name for name, _, _ in pairs).items():
        if count > 1:
            raise InputError(
                "model-twice", f"model {name!r} is named twice; give each model a name of its own (NAME=COLUMN)"
            )
    for name, price in prices.items():
        try:
            named[name] = {"column": named[name], "price": float(price)}
        except (KeyError, ValueError):
            raise click.UsageError(f"--price {name}={price} does not work; write --price MODEL=NUMBER.") from None
    paid = Costs(miss=miss, false_alarm=false_alarm) if costs is None else Costs.from_file(costs)
    return System(file, models=named, decide=rule, costs=paid, **columns)
