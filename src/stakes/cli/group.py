"""All commands together; one is loaded when it is asked for."""

import importlib
from collections import UserDict
from typing import Any

import click

from stakes import __version__

_EPILOG = """\b
Completion of commands and options, for the start-up file of your shell:
  bash  eval "$(_STAKES_COMPLETE=bash_source stakes)"
  zsh   eval "$(_STAKES_COMPLETE=zsh_source stakes)"
  fish  _STAKES_COMPLETE=fish_source stakes | source
"""

_DEBUG = "Show where in the code the work could not be done (exit code 3); also after a command."


_VERBS = (
    "evaluate", "decide", "count", "compare", "rank", "calibrate", "permute", "plan", "label", "system", "validate",
    "gate", "watch", "report",
)  # fmt: skip


class Commands(UserDict[str, click.Command]):
    """Commands by their names, each from the module that is called like it."""

    def __getitem__(self, name: str) -> click.Command:
        """The command, loaded when it is first wanted."""
        if self.data[name] is None:
            command = getattr(importlib.import_module(f"stakes.cli.{name}"), name)
            debug = click.option("--debug", is_flag=True, expose_value=False, hidden=True, help=_DEBUG)
            self.data[name] = debug(command)
        return self.data[name]


class AllCommands(click.Group):
    """All commands; what each does is not cut."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands and the first sentence about each."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(1_000)) for name, one in self.commands.items()])


@click.group(cls=AllCommands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(__version__, prog_name="stakes")
@click.option("--debug", is_flag=True, expose_value=False, help=_DEBUG)
def cli() -> None:
    """What do a model's mistakes cost, how sure are we, and what should be decided?

    \b
    Example:
      stakes evaluate preds.csv --truth y --score p
      stakes demo
    """


_none_yet: dict[str, Any] = dict.fromkeys((*_VERBS, "columns", "metrics", "demo", "doctor"))
cli.commands = Commands(_none_yet)
