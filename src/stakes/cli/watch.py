"""stakes watch: does the model go on meeting its conditions?"""

import click

from stakes.cli import options, output
from stakes.cli.options import Arguments
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, OutputFile, option
from stakes.errors import Text


@click.command(cls=Command)
@options.files
@options.asked("watch")
@option(
    "models", "--against", "A tally of reference, than which figures must not be worse.", type=InputFile("reference")
)
@option("files", "--state", "A small file that remembers days: each call brings the new ones.", type=OutputFile("json"))
@options.report
@output.forms()
def watch(
    files: tuple[str, ...], asked: Arguments, against: str | None, state: str | None, report: str | None
) -> Answer:
    """Watch the tallies of days in FILE, in the order of time: exit code 1 on an alarm, 0 without one.

    The chance that there is ever a false alarm is at most --alpha, however often one looks. With --state each call
    brings new days only, and the file remembers those of before; after an alarm start again with --restart DAY.

    \b
    Examples:
      stakes watch day*.tally --require "recall >= 0.9" --require "auc >= 0.8"
      stakes watch today.tally --require "recall >= 0.9" --state watch.json
      stakes watch day*.tally --require auc --against first.tally --margin 0.02
    """
    from stakes.evaluation.watch import watch

    found = watch(list(files), against=against, state=state, **asked)
    shown = [one for one in found.findings if one.answers or one.key in ("watch.waiting", "watch.open_bins")]
    several = len(found.watched) > 1

    def line() -> str:
        parts = [part for one in shown for part in (one.question if several else None, one.words[0]) if part]
        return Text(*[word for part in parts for word in (" ", part)][1:])

    return output.of_page(found, line, more="stakes watch … --csv", report=report, code=int(found.alarmed))
