"""Options of commands, made from the table of options, and what they mean as arguments."""

import functools
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import click

from stakes.cli.paths import InputFile, OptionOfGroup, OutputFile
from stakes.cli.progress import bar
from stakes.cli.words import say, typed_words
from stakes.errors import InputError
from stakes.question import options as table
from stakes.question.options import Option, Value

if TYPE_CHECKING:
    from stakes.tallies.costs import Costs

Command: TypeAlias = Callable[..., object]
Decorator: TypeAlias = Callable[[Command], Command]

Arguments: TypeAlias = dict[str, Value]
"""What was typed, as the arguments of a verb."""

_OF_TALLIES = ("evaluate", "decide", "gate", "report", "count")
"""Verbs that also take tallies, which were counted against their truth; count says why it does not."""


class TypedNumber(click.types.FloatParamType):
    """A number, or a percentage; a decimal comma in any other number is refused with advice."""

    def convert(self, value: Value, param: click.Parameter | None, ctx: click.Context | None) -> Value:
        """Return the number."""
        if isinstance(value, str):
            value = _without_percent(value)
            _refuse_comma(value)
        return super().convert(value, param, ctx)


def asked(verb: str, *without: str) -> Decorator:
    """Give a command the options of a verb but some; the command gets ``asked``, the arguments that they stand for."""
    without = (*without, *table.NOT_TYPED.get(verb, ()))
    rows = {name: option for name, option in table.options(verb).items() if option.typed and name not in without}

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def with_arguments(**given: Value) -> object:
            if given.get("files") and (given.get("table") or given.get("tables")):  # before files are looked at
                raise click.UsageError("give FILE, or --table TEXT; not both.")
            arguments = {name: _argument(option, given, name) for name, option in rows.items()}
            if "truth" in rows and arguments["truth"] is None and verb != "calibrate":
                _refuse_unnamed(verb, given["files"], arguments)
            return command(asked=arguments, **given)

        made: Command = with_arguments
        for name, option in reversed(rows.items()):
            for one in reversed(_click_options(verb, name, option)):
                made = one(made)
        return made

    return decorated


def like(name: str) -> Decorator:
    """Return one option of ``evaluate``, for a command that has its own question."""
    return _click_options("evaluate", name, table.options("evaluate")[name])[0]


# ── as click has them ────────────────────────────────────────────────────────────────────────────────────────────
def _click_options(verb: str, name: str, option: Option) -> list[Decorator]:
    """One option of the table, as one or more of click's."""
    typed, default = f"--{(option.spelled or name).replace('_', '-')}", option.default
    grouped = partial(click.option, cls=OptionOfGroup, group=option.group)
    made = partial(grouped, typed, name, help=option.help, metavar=option.metavar or None)
    if option.form == "costs":
        costs = [("--miss", "a miss"), ("--false-alarm", "a false alarm")]
        words = "What {} costs; a number, or a column."
        prices = [grouped(one, metavar="COST", help=words.format(what)) for one, what in costs]
        return [made(type=InputFile("costs")), *prices]
    if option.form == "switch":
        spelled = "/".join(f"--{word}" for word in option.of)
        return [grouped(spelled, name, is_flag=True, default=default, help=option.help)]
    if name == "truth":
        needed = {
            "calibrate": "[required but with --apply]",
            **dict.fromkeys(_OF_TALLIES, "[required but for tallies]"),
        }
        return [made(help=f"{option.help}  {needed.get(verb, '[required]')}", multiple=True)]
    if option.form in ("columns", "by class", "shares"):
        return [made(multiple=True, required=verb == "calibrate" and name == "score")]
    kinds = {"number": TypedNumber(), "whole": int, "choice": click.Choice(list(option.of))}
    shown = default is not None and option.form in kinds
    return [made(type=kinds.get(option.form), default=default, show_default=shown)]


def _refuse_unnamed(verb: str, files: tuple[str, ...], asked: Arguments) -> None:
    """Files of rows need a truth, and the columns tell which it may be; tallies were counted against theirs."""
    if not files or (verb in _OF_TALLIES and any(file.lower().endswith(".tally") for file in files)):
        return
    from stakes.cli.listing import list_columns, next_command
    from stakes.engines.files.describing import describe
    from stakes.engines.files.text_format import TextFormat, in_format

    found = describe(in_format(list(files), TextFormat.of(asked)))
    command = next_command(found, str(click.get_current_context().info_name), typed_words())
    say(list_columns(found, command), err=True)
    raise InputError("no-truth", "--truth COLUMN says what really happened, and is not given; the columns are above")


# ── as arguments ─────────────────────────────────────────────────────────────────────────────────────────────────
def _argument(option: Option, given: Arguments, name: str) -> Value:
    """What was typed, as the argument of a call."""
    value = given.pop(name)
    if option.form == "columns":
        return (_models(value) if name in ("scores", "predictions") else None) or list(value) or None
    if option.form == "by class":
        return scores(value, option.spelled or name)
    if option.form == "shares":
        return _shares(value)
    return _costs(value, given.pop("miss"), given.pop("false_alarm")) if option.form == "costs" else value


_SIGN, _NUMBER = r"(?P<unit>[$£¥₣₤₦₩₪₫€₱₴₸₹₺₽₿])", r"(?P<number>[\d.,]+)"
_AMOUNTS = (rf"{_SIGN}\s*{_NUMBER}", rf"{_NUMBER}\s*{_SIGN}", rf"{_NUMBER}\s*(?P<unit>[A-Z]{{3}})")


def _costs(file: str | None, miss: str | None, false_alarm: str | None) -> "Costs | None":
    from stakes.tallies.costs import Costs

    if file is not None and (miss is not None or false_alarm is not None):
        raise click.UsageError("give --costs FILE, or --miss and --false-alarm, not both.")
    if (miss is None) != (false_alarm is None):
        raise click.UsageError("--miss and --false-alarm go together.")
    if file is not None:
        return Costs.from_file(file)
    if miss is None or false_alarm is None:
        return None
    (dear, unit), (cheap, other) = _amount(miss), _amount(false_alarm)
    if unit and other and unit != other:
        raise click.UsageError(f"--miss is in {unit}, --false-alarm in {other}; give both in one unit.")
    return Costs(miss=_number_or_name(dear), false_alarm=_number_or_name(cheap), unit=unit or other)


def _amount(text: str) -> tuple[str, str]:
    """A cost without its unit, and the unit: "200 €", "$200" and "200 EUR" are amounts; else it is as it stands."""
    for pattern in _AMOUNTS:
        if found := re.fullmatch(pattern, text.strip()):
            return found["number"], found["unit"]
    return text, ""


def number(text: str) -> float:
    """A number, or a percentage."""
    read = TypedNumber().convert(text, None, None)
    return float(read)


def _number_or_name(text: str) -> float | str:
    """A number, or the name of a column."""
    text = _without_percent(text)
    try:
        return float(text)
    except ValueError:
        _refuse_comma(text)
        return text


def _without_percent(text: str) -> str:
    """The share that a percentage is, "11.7 %" or "11,7 %"; other texts as they stand."""
    found = re.fullmatch(r"\s*(-?\d+(?:[.,]\d+)?)\s*%\s*", text)
    if found is None:
        return text
    from decimal import Decimal

    return str(Decimal(found[1].replace(",", ".")) / 100)


def _refuse_comma(text: str) -> None:
    if re.fullmatch(r"-?\d*,\d+", text):
        raise click.UsageError(f"{text} is no number here; write {text.replace(',', '.')}.") from None


def _shares(typed: Sequence[str]) -> float | str | dict[str, float | str] | None:
    """The share of the positive class, or a dictionary class → share."""
    if not typed:
        return None
    if len(typed) == 1 and "=" not in typed[0]:
        return _number_or_name(typed[0])
    return {name: _number_or_name(share) for name, _, share in (option.rpartition("=") for option in typed)}


def _models(typed: Sequence[str]) -> dict[str, dict[str, str]]:
    """Model → name → column, where every model has several columns: MODEL:NAME=COLUMN."""
    pairs = [one.partition("=") for one in typed]
    if not all(sign and ":" in place for place, sign, _ in pairs):
        return {}
    found: dict[str, dict[str, str]] = {}
    for place, _, column in pairs:
        model, _, name = place.partition(":")
        found.setdefault(model, {})[name] = column
    return found


def scores(typed: Sequence[str], name: str = "score") -> str | dict[str, str] | None:
    """One column, or a dictionary class → column when there are several; quantiles always have their level."""
    if len(typed) < 2 and name != "quantile":
        return typed[0] if typed else None
    pairs = [option.partition("=") for option in typed]
    for option, (_, sign, _) in zip(typed, pairs, strict=True):
        if not sign:
            each = {"score": "CLASS", "quantile": "LEVEL"}.get(name, "NAME")
            raise click.UsageError(f"--{name} {option!r}: with several {name}s write each as {each}=COLUMN.")
    return {name: column for name, _, column in pairs} or None


def file_format(command: Command) -> Command:
    """The options that say how a text file is written, and no others."""
    others = [name for name, option in table.options("evaluate").items() if option.group != "files"]
    return asked("evaluate", *others)(command)


# ── files, and reports ───────────────────────────────────────────────────────────────────────────────────────────
def files(command: Command, required: bool = True) -> Command:
    """The files that are one table, ``required`` unless named elsewhere; how far their reading has come is shown."""

    @functools.wraps(command)
    def with_bar(no_progress: bool, **others: Value) -> object:
        with bar(not (no_progress or others.get("as_quiet"))):
            return command(**others)

    shown, kind = "FILE..." if required else "[FILE...]", InputFile("rows")
    argument = click.argument("files", metavar=shown, type=kind, nargs=-1, required=required, is_eager=True)
    words = "Do not show how far the reading of large files has come."
    return argument(click.option("--no-progress", is_flag=True, help=words)(with_bar))


def one_or_all(files: tuple[str, ...]) -> str | list[str]:
    """One name, or a list of several."""
    return files[0] if len(files) == 1 else list(files)


report = click.option(
    "--report", type=OutputFile("page"), is_eager=True, help="Write an HTML page to explore the result."
)


lang = like("lang")
