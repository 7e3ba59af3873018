"""stakes report: the page to explore, and nothing else."""

from functools import partial

import click

from stakes.cli import options, output, published
from stakes.cli.options import Arguments
from stakes.cli.output import Answer
from stakes.cli.paths import Command, OutputFile
from stakes.cli.words import as_asked, say
from stakes.frozen import dataclass
from stakes.language import LANGUAGES
from stakes.records import Record
from stakes.text import lines, visible


@dataclass(frozen=True)
class WrittenPage(Record, stakes="report"):
    """The page that was written, and the language in which it opens."""

    written: str
    lang: str


@click.command(cls=Command)
@partial(options.files, required=False)
@options.asked("report")
@published.table
@click.option(
    "-o", "--output", "product", metavar="PAGE.html", type=OutputFile("page"), help="Where to write the page."
)
@output.forms(to_file=False)
def report(files: tuple[str, ...], asked: Arguments, table: str | None, product: str | None) -> Answer:
    """Write an HTML page to explore the predictions in FILE; it needs no network.

    \b
    Example:
      stakes report preds.csv --truth y --score p --positive yes -o page.html
    """
    from stakes.views.report.verb import report

    if product is None:
        raise click.UsageError("a page is written to a file; say where with -o PAGE.html.")
    lang = asked["lang"]
    report(published.rows_or_table(files, table, asked), product, about=as_asked(), **asked)
    page = WrittenPage(visible(product), lang)
    words = f"{page.written}: the page, in {LANGUAGES[lang]}"
    return Answer(lambda: say(lines([words])), page.to_dict, lambda: [page.data()], lambda: words)
