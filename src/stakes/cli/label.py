"""stakes label: which rows should get a truth next?"""

from functools import partial
from pathlib import Path

import click

from stakes import errors
from stakes.cli import options, output
from stakes.cli.options import Arguments
from stakes.cli.output import Answer
from stakes.cli.paths import Command, InputFile, OutputFile, option
from stakes.cli.words import say
from stakes.frozen import dataclass
from stakes.question.options import Value
from stakes.records import Count, Record
from stakes.text import visible

_FOR = "The figure whose interval shall become narrower (default: accuracy)."
_DONE = "Rows that were written out before and have a truth now: put it into FILE, and write all of its rows."
_OUTPUT = "Where to write the rows: .csv, .parquet or .jsonl."


@dataclass(frozen=True)
class RowsToLabel(Record, stakes="rows to label"):
    """Which file was written, and what is in it."""

    written: str
    rows: Count
    figure: str


@click.command(cls=Command)
@options.files
@option("aim", "--for", _FOR, "figure", metavar="FIGURE")
@option("aim", "--count", "How many rows.", "many", type=int, default=100, show_default=True)
@option("files", "--done", _DONE, metavar="LABELLED", type=InputFile("labels"))
@options.asked("evaluate", "unlabelled", "missing")
@click.option("-o", "--output", "product", metavar="FILE", required=True, type=OutputFile("table"), help=_OUTPUT)
@output.forms("json", "quiet", to_file=False)
def label(
    files: tuple[str, ...], asked: Arguments, figure: str | None, many: int, done: str | None, product: str
) -> Answer:
    """Choose the rows of FILE whose truth would tell most about a figure, and write them to a file.

    A fifth of them is chosen at random. When they have a truth, --done puts it into FILE by the number of each row,
    and the next round goes on from there.

    \b
    Example:
      stakes label preds.csv --truth y --score p --for recall --count 99 -o do.csv
      stakes label preds.csv --truth y --done do.csv -o preds_2.csv
      stakes evaluate preds_2.csv --truth y --score p --unlabelled estimate
    """
    from stakes.engines.files.reading import read_whole
    from stakes.engines.files.text_format import TextFormat, in_format
    from stakes.engines.files.writing import check_target, write_whole
    from stakes.engines.unlabelled import merge_labels
    from stakes.evaluation import evaluate
    from stakes.language.sentences import metric, words

    if len(files) > 1:
        raise click.UsageError("rows to label are taken from one FILE.")
    if asked["where"] is not None:
        raise click.UsageError("--where means nothing to label: rows are chosen among all of FILE.")
    check_target(product, "table", [(files[0], "rows")])
    file = in_format(files[0], TextFormat.of(asked))
    frame = read_whole(file, missing=False)
    number = "row" if "row" not in frame.columns else "row in the file"
    if done is not None:
        if figure is not None:
            raise click.UsageError("--done puts labels back, and --for chooses rows to label; give one of them.")
        if asked["truth"] not in frame.columns:
            raise errors.no_such_column("truth", str(asked["truth"]), frame.columns)
        found, many = merge_labels(frame, read_whole(file)[asked["truth"]], read_whole(done), number)
        line = partial(
            words, "few.labels_back", n=many, labels=visible(done), rows=visible(files[0]), file=visible(product)
        )
    else:
        estimated: Value = evaluate(files[0], unlabelled="estimate", **{**asked, "exact": True})
        chosen = estimated.next_labels(count=many) if figure is None else estimated.next_labels(figure, many)
        found, many = frame.with_row_index(number, offset=1)[chosen], len(chosen)
        values = {"n": many, "name": metric(figure or "accuracy"), "file": visible(product), "column": number}
        line = partial(words, "few.to_label", **values)
    write_whole(found, Path(product))
    written = RowsToLabel(product, many, figure or "")
    return Answer(lambda: say(line()), written.to_dict, lambda: [written.data()], line, lang=str(asked["lang"]))
