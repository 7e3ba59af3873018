"""Text on the command line: arguments by the names of their options, sentences as wide as the terminal."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import NoReturn

import click
from click.core import ParameterSource

from stakes.cli.paths import OutputFile
from stakes.errors import About, Pass, Text, short
from stakes.errors.mentions import in_python
from stakes.planning.rates import RATES
from stakes.question.options import find
from stakes.text import uncommanding, visible

_PLANNED = ("width", "difference", "power", "assurance", "disagreement", "labels")
_OF_COMMANDS = (
    *("column", "min_cell", "lang", "miss", "false_alarm", "baseline_score", "against", "state"),
    *_PLANNED,
    *RATES,
)
"""Arguments that are options of single commands, beside the table of options."""


def as_option(mention: Pass) -> str:
    """Write an argument as it is typed: ``--positive yes``."""
    if isinstance(mention, About):
        return mention.name
    if mention.parts:
        return " ".join(f"--{_dashed(name)} {value}" for name, value in mention.parts.items())
    option = find(mention.name)
    if mention.name not in _OF_COMMANDS and (option is None or not option.typed):
        return in_python(mention)  # there is no such option
    typed = f"--{_dashed((option and option.spelled) or mention.name)}"
    if mention.each:
        return f"{typed} CLASS={mention.each.upper()}"
    if mention.value is ...:
        return typed
    if option is not None and option.form == "switch" and isinstance(mention.value, bool):
        return f"--{option.of[0 if mention.value else -1]}"
    return short(" ".join(f"{typed} {shlex.quote(one)}" for one in _each(mention.value)), 60)


def _each(value: object) -> list[str]:
    """What is typed after an option, once for each of several values."""
    if isinstance(value, Mapping):
        return [f"{name}={one}" for name, one in value.items()]
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    return [f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)]


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def on_the_command_line(text: str) -> str:
    """Return a text with the arguments that it mentions as they are typed."""
    return text.written(as_option) if isinstance(text, Text) else text


def wrap(text: str) -> str:
    """Sentences as wide as the terminal, each beginning a line."""
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    return uncommanding("\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in text.splitlines()))


_SAYS_HOW = ("lang", "as_json", "as_csv", "as_markdown", "as_quiet", "no_progress")
"""Parameters of commands that set the form of the answer."""


def as_asked() -> str:
    """Return the command as it could be typed, but for where its answer goes: what a report is about."""
    name = str(click.get_current_context().info_name)
    return visible(shlex.join(["stakes", name, *typed_words(lambda one: not isinstance(one.type, OutputFile))]))


def typed_words(wanted: Callable[[click.Parameter], bool] = lambda one: True) -> list[str]:
    """Return the arguments and options that were typed, but for the form of the answer."""
    context = click.get_current_context()
    words: dict[bool, list[str]] = {True: [], False: []}
    for parameter in context.command.params:
        name = str(parameter.name)
        given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if given and name not in _SAYS_HOW and wanted(parameter):
            words[isinstance(parameter, click.Argument)] += _as_typed(parameter, context.params.get(name))
    return [*words[True], *words[False]]


def _as_typed(parameter: click.Parameter, value: object) -> list[str]:
    values = list(value) if isinstance(value, list | tuple) else [] if value is None else [value]
    if isinstance(parameter, click.Argument):
        return [str(one) for one in values]
    if isinstance(value, bool):
        return [parameter.opts[0]] if value else parameter.secondary_opts[:1]
    return [word for one in values for word in (parameter.opts[-1], str(one))]


def say(text: str, err: bool = False) -> None:
    """Print to the stream itself: click would take one without Unicode for a mistake, and write UTF-8 to it."""
    click.echo(text, file=sys.stderr if err else sys.stdout)


def complain(words: str) -> None:
    """Print one line to standard error; errors in doing so are ignored."""
    try:
        say(f"stakes: {visible(words)}", err=True)
    except OSError:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - Python would try once more at the end, and fail


def end(words: str, code: int) -> NoReturn:
    """Print one line to standard error, and exit."""
    complain(words)
    sys.exit(code)
