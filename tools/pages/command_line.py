"""The reference of the command line, made from the commands themselves."""

import inspect
import re

import click

from stakes.cli import cli

_INTRODUCTION = """\
# The command line

Every command answers in plain words and tables, as `--json` (schemas in `src/stakes/schema`), as `--csv` or as
`--markdown`, to the terminal or to a file (`-o`). What went wrong is one line: exit code 2 is wrong input, 1 a
gate that is closed, 3 work that could not be done (too little memory, a full disk, a missing part, a fault of stakes
itself; `--debug` shows where in the code), 130 an interruption. `stakes COMMAND --help` says what stands here, which
`make pages` has written from the commands.
"""


def pages() -> dict[str, str]:
    """Return the page of the command line."""
    commands = [_command(cli.commands[name]) for name in sorted(cli.commands)]
    return {"command_line.md": "\n".join([_INTRODUCTION, *commands])}


def _command(command: click.Command) -> str:
    words = inspect.cleandoc(command.help or "").replace("\f", "")
    rows = [_option(p) for p in command.params if isinstance(p, click.Option) and not p.hidden]
    table = ["| option | what it says |", "|---|---|", *rows, ""] if rows else []
    usage = " ".join(["stakes", command.name or "", *command.collect_usage_pieces(click.Context(command))])
    return "\n".join([f"## {command.name}\n", f"```text\n{usage}\n```\n", _prose(words), "", *table])


def _prose(words: str) -> str:
    r"""Paragraphs as they are; those marked ``\b`` keep their lines, as in a terminal."""
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", words):
        kept = paragraph.startswith("\b\n")
        paragraphs.append(f"```text\n{paragraph[2:]}\n```" if kept else _escaped(paragraph))
    return "\n\n".join(paragraphs)


def _option(option: click.Option) -> str:
    names = ", ".join([*option.opts]) + (f" / {', '.join(option.secondary_opts)}" if option.secondary_opts else "")
    kind = "" if option.is_flag else f" {_kind(option)}"
    default = "" if option.is_flag or not option.show_default else f" Default: `{option.default}`."
    return f"| `{names}{kind}` | {_escaped(option.help or '')}{default} |"


def _kind(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return " or ".join(map(str, option.type.choices))
    return option.type.name.upper()


def _escaped(words: str) -> str:
    """Conditions such as a*b and a_b are no emphasis, and < is no tag."""
    return re.sub(r"([*_|<])", r"\\\1", words)
