"""What is said on the command line: arguments by the names of their options, sentences as wide as the terminal."""

import os
import re
import shlex
import sys
from typing import Any, NoReturn

import click
from click.core import ParameterSource

from stakes.cli.paths import OutputFile
from stakes.errors import StakesError
from stakes.text import uncommanding, visible

ARGUMENTS = (
    *("truth", "score", "prediction", "positive", "alike", "by", "weight", "threshold", "task", "baseline", "class"),
    *("costs", "miss", "false_alarm", "prior", "training_prior", "best"),
    *("metric", "margin", "id", "cluster", "confidence", "design", "seed", "resamples", "permutations"),
    *("require", "no_worse", "allow_dropped", "groups", "feature", "how", "repeats"),
    *("method", "folds", "column", "where", "missing", "exact", "min_cell"),
)
"""Arguments of functions that are options here, by the same name."""


def as_options(words: str) -> str:
    """Name arguments as the command line does: --positive instead of positive=."""
    words = words.replace(", or an array of one column per class with classes=", "")
    words = words.replace("{class: share} with shares", "CLASS=SHARE for each with shares")
    words = words.replace("Costs.from_utilities()", "tables [utilities.CLASS]")
    words = (
        words.replace("score={class: column, …}", "--score CLASS=COLUMN")
        .replace("classes=", "class=")
        .replace("features=", "feature=")
    )
    words = (
        words.replace("scores=", "score=").replace("predictions=", "prediction=").replace("paired=False", "--unpaired")
    )
    named = rf"\b({'|'.join(ARGUMENTS)})="
    words = re.sub(named + r"(?=[\w'\"\[-])", r"--\1 ", re.sub(named + r"(?![\w'\"\[-])", r"--\1", words))
    for name in ("training_prior", "false_alarm", "min_cell", "no_worse", "allow_dropped"):
        words = words.replace(f"--{name}", f"--{name.replace('_', '-')}")
    return words


def advice_as_options(words: str) -> str:
    """Reword only the advice at the end: what comes before it may hold names from the data."""
    seen, mark, advice = words.rpartition("; pass ")
    return f"{seen}{mark}{as_options(advice)}" if mark else words


def wrap(text: str) -> str:
    """Sentences as wide as the terminal, each beginning a line."""
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    return uncommanding("\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in text.splitlines()))


_SAYS_HOW = ("lang", "as_json", "as_csv", "as_markdown", "as_quiet", "no_progress")
"""Parameters of commands that say how the answer is told."""


def as_asked() -> str:
    """Return the command as it could be typed, but for where its answer goes: what a report is about."""
    context = click.get_current_context()
    told: dict[bool, list[str]] = {True: [], False: []}
    for parameter in context.command.params:
        name = str(parameter.name)
        told_elsewhere = name in _SAYS_HOW or isinstance(parameter.type, OutputFile)
        if not told_elsewhere and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            told[isinstance(parameter, click.Argument)] += _as_typed(parameter, context.params.get(name))
    return visible(shlex.join(["stakes", str(context.info_name), *told[True], *told[False]]))


def _as_typed(parameter: click.Parameter, value: Any) -> list[str]:
    values = list(value) if isinstance(value, list | tuple) else [] if value is None else [value]
    if isinstance(parameter, click.Argument):
        return [str(one) for one in values]
    if isinstance(value, bool):
        return [parameter.opts[0]] if value else parameter.secondary_opts[:1]
    return [word for one in values for word in (parameter.opts[-1], str(one))]


class FileError(StakesError):
    """What is wrong with a file that has words of its own, which are no options."""


def say(text: str, err: bool = False, nl: bool = True) -> None:
    """Print to the very stream: left alone, click takes one without Unicode for a mistake, and writes UTF-8 to it."""
    click.echo(text, file=sys.stderr if err else sys.stdout, nl=nl)


def complain(words: str) -> None:
    """Say one line to standard error; where nobody can listen, nothing else changes."""
    try:
        say(f"stakes: {visible(words)}", err=True)
    except OSError:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - Python would try once more at the end, and fail


def end(words: str, code: int) -> NoReturn:
    """Say one line to standard error, and end."""
    complain(words)
    sys.exit(code)
