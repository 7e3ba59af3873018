"""All commands together."""

import click

from stakes import __version__
from stakes.cli.calibrate import calibrate
from stakes.cli.columns import columns
from stakes.cli.compare import compare
from stakes.cli.count import count
from stakes.cli.decide import decide
from stakes.cli.demo import demo
from stakes.cli.doctor import doctor
from stakes.cli.evaluate import evaluate
from stakes.cli.gate import gate
from stakes.cli.label import label
from stakes.cli.metrics import metrics
from stakes.cli.permute import permute
from stakes.cli.plan import plan
from stakes.cli.rank import rank
from stakes.cli.report import report
from stakes.cli.system import system
from stakes.cli.validate import validate
from stakes.cli.watch import watch

_EPILOG = """\b
Completion of commands and options, for the start-up file of your shell:
  bash  eval "$(_STAKES_COMPLETE=bash_source stakes)"
  zsh   eval "$(_STAKES_COMPLETE=zsh_source stakes)"
  fish  _STAKES_COMPLETE=fish_source stakes | source
"""

_DEBUG = "Show where in the code the work could not be done (exit code 3); also after a command."


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


_VERBS = (
    evaluate,
    decide,
    count,
    compare,
    rank,
    calibrate,
    permute,
    plan,
    label,
    system,
    validate,
    gate,
    watch,
    report,
)
for command in (*_VERBS, columns, metrics, demo, doctor):
    cli.add_command(click.option("--debug", is_flag=True, expose_value=False, hidden=True, help=_DEBUG)(command))
