"""What is said on the command line: arguments by the names of their options, sentences as wide as the terminal."""

import re
import shlex
import sys
from typing import NoReturn

import click

from stakes.errors import StakesError

ARGUMENTS = (
    *("truth", "score", "prediction", "positive", "by", "weight", "threshold", "task", "baseline", "class"),
    *("costs", "miss", "false_alarm", "prior", "training_prior", "best"),
    *("metric", "margin", "id", "cluster", "confidence", "design", "seed", "resamples", "permutations"),
    *("require", "no_worse", "groups", "feature", "how", "repeats"),
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
    words = re.sub(named + r"(?=[\w'\[-])", r"--\1 ", re.sub(named + r"(?![\w'\[-])", r"--\1", words))
    for name in ("training_prior", "false_alarm", "min_cell", "no_worse"):
        words = words.replace(f"--{name}", f"--{name.replace('_', '-')}")
    return words


def wrapped(text: str) -> str:
    """Sentences as wide as the terminal, each beginning a line."""
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in text.splitlines())


_SAYS_WHERE = ("--report", "--lang", "-o", "--output")


def as_asked() -> str:
    """Return the command as it was typed, but for where its answer goes: what a report is about."""
    kept: list[str] = []
    words = iter(sys.argv[1:])
    for word in words:
        if word in _SAYS_WHERE:
            next(words, None)
        elif not word.startswith(tuple(f"{option}=" for option in _SAYS_WHERE)):
            kept.append(word)
    return shlex.join(["stakes", *kept])


class FileError(StakesError):
    """What is wrong with a file that has words of its own, which are no options."""


def stop(words: str, code: int) -> NoReturn:
    """Say one line to standard error, and end."""
    click.echo(f"stakes: {words}", err=True)
    sys.exit(code)
