"""stakes count: keep of the rows what an evaluation needs, in a file that can be sent."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from stakes.cli import options, output
from stakes.cli.output import Answer
from stakes.cli.paths import Command, OutputFile, option
from stakes.cli.words import say
from stakes.frozen import dataclass
from stakes.question.options import Asked
from stakes.records import Count, Finite, Record, RowCount, Says
from stakes.text import lines, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stakes.tallies import ScoreTable


@dataclass(frozen=True)
class TallyFacts(Record, stakes="count"):
    """What is in the tally that was written."""

    written: str
    bytes: Count
    task: Literal["classification", "regression", "counts", "labels", "outputs", "quantiles", "few labels"]
    tallies: list[str]
    rows: RowCount
    dropped: Count
    segments: list[str]
    threshold: Finite | None
    min_cell: int | None
    scores: Count
    smallest_cell: Annotated[Finite | None, Says("The fewest rows of a class in a bin that has any.")]
    rows_without_segment: Annotated[Finite, Says("Rows of segments too small to be sent by themselves.")]
    put_together: Count

    @classmethod
    def of(cls, counted: Any, path: Path, min_cell: int | None) -> "TallyFacts":
        """Look at what is in the file."""
        total = next(iter(counted.tallies.values())).total
        tables = [counted.scores] if counted.scores else getattr(counted.class_scores, "tables", ())
        return cls(
            written=visible(str(path)),
            bytes=path.stat().st_size,
            task=counted.task,
            tallies=list(counted.tallies),
            rows=total if isinstance(total, int) else float(total),
            dropped=counted.dropped,
            segments=[name for name in counted.kinds_by_segment() if name],
            threshold=counted.threshold,
            min_cell=min_cell,
            scores=sum(len(table.as_columns().scores) for table in tables),
            smallest_cell=_smallest_cell(tables),
            rows_without_segment=counted.rows_without_segment,
            put_together=sum(len(table.grid.ranges) for table in tables if table.grid is not None),
        )

    def to_row(self) -> dict[str, object]:
        """Return the facts in one flat row; of many segments only their number."""
        return self.data() | {"tallies": ", ".join(self.tallies), "segments": len(self.segments)}

    def in_words(self) -> list[str]:
        """One line about the rows, and one about the scores."""
        rows = f"{self.rows:,} rows" if isinstance(self.rows, int) else f"rows of weight {self.rows:,.6g}"
        parts = [rows, *([f"{self.dropped:,} left out"] if self.dropped else [])]
        parts += [f"{len(self.segments):,} segments"] if self.segments else []
        if self.rows_without_segment:
            parts.append(f"{self.rows_without_segment:,.6g} rows in segments too small to be sent by themselves")
        parts += [f"decisions at {self.threshold:g}"] if self.threshold is not None else []
        line = f"{self.written}: {', '.join(parts)}; {self.bytes:,} bytes"
        if not self.scores:
            return [line]
        if self.min_cell is None:
            return [line, f"{self.scores:,} distinct scores, as they are"]
        bins = f"scores in {self.scores:,} bins, {self.put_together:,} of them put together from smaller ones"
        return [line, f"{bins} (the smallest with {self.smallest_cell:g} rows of a class)"]


@click.command(cls=Command)
@options.files
@options.asked("count", "exact")
@click.option(
    "-o", "--output", "product", metavar="OUT.tally", type=OutputFile("tally"), help="Where to write the tally."
)
@option(
    "rows",
    "--exact/--bins",
    "Keep every distinct score, which is as good as giving away the rows, or put scores into bins (the default).",
    default=False,
)
@option(
    "rows",
    "--min-cell",
    "How many rows a bin of scores or a segment holds at least.",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
)
@output.forms(to_file=False)
def count(files: tuple[str, ...], asked: Asked, product: str | None, exact: bool, min_cell: int) -> Answer:
    """Count the rows in FILE once, and keep only what evaluations need: a tally, to be sent and added up.

    Scores are put into bins of at least --min-cell positive and negative rows (or none), and small segments into one.
    Decisions are kept as they are, however few were wrong: that is what an evaluation is about. Give the --threshold
    that matters, and the decisions at it stay exact.

    \b
    Examples:
      stakes count monday.csv --truth y --score p --threshold 0.3 -o monday.tally
      stakes evaluate monday.tally tuesday.tally
    """
    from stakes.engines.plan import load
    from stakes.evaluation import count

    if product is None:
        raise click.UsageError("a tally is written to a file; say where with -o OUT.tally.")
    asked["exact"] = exact or None
    counted = count(options.one_or_all(files), **asked)
    counted.save(product, exact=exact, min_cell=min_cell)
    facts = TallyFacts.of(load(product), Path(product), None if exact else min_cell)
    return Answer(lambda: say(lines(facts.in_words())), facts.to_dict, lambda: [facts.to_row()], lambda: "")


def _smallest_cell(tables: "Iterable[ScoreTable]") -> float | None:
    """The fewest rows of a class in a bin that has any: too few only where a class is small on one side."""
    cells = [table.as_columns().values[name] for table in tables for name in ("positives", "negatives")]
    return min((float(cell[cell > 0].min()) for cell in cells if (cell > 0).any()), default=None)
