"""stakes columns: what is in a file, and what to type next."""

import click

from stakes.cli import options, output
from stakes.cli.listing import list_columns, next_command
from stakes.cli.options import Arguments
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, OutputFile
from stakes.cli.words import say, typed_words


@click.command(cls=Command)
@click.argument("file", type=InputFile("rows"))
@options.file_format
@output.forms()
def columns(file: str, asked: Arguments) -> Answer:
    """List the columns of FILE with what they hold, and the command to type next.

    \b
    Example:
      stakes columns preds.csv
    """
    from stakes.engines.files.describing import describe
    from stakes.engines.files.text_format import TextFormat, in_format

    found = describe(in_format(file, TextFormat.of(asked)))
    command = next_command(found, "evaluate", typed_words(lambda one: not isinstance(one.type, OutputFile)))
    return Answer(
        lambda: say(list_columns(found, command)),
        found.to_dict,
        lambda: [one.to_dict() for one in found.columns],
        lambda: command,
    )
