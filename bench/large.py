"""Measure what needs very many rows, apart from `make bench`, and put it at the end of bench/RESULTS.md.

    python bench/large.py             # every case
    python bench/large.py --only figures

A case is a function of the number of rows that yields contests or measurements; new ones are added to ``CASES``.
"""

import argparse
import datetime
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

import contest
import figures
import machine
import number_files
import results
import shared_files
import spark
import stakes
from budget import Group, Piece
from contest import HEAD, Contest, Line, Side, at_most

FILE = Path(__file__).parent / "RESULTS.md"
SECONDS = 900
"""Time that the contests of a case may take."""


def regression(n: int) -> Iterator[Contest]:
    rng = np.random.default_rng(2)
    y = rng.normal(size=n)
    prediction = y + rng.normal(size=n)
    errors = y - prediction
    yield Contest(
        f"every figure of predicted numbers with its interval, {n:,} rows",
        Side(
            "`evaluate(truth=y, prediction=p).to_rows()`",
            lambda: stakes.evaluate(truth=y, prediction=prediction).to_rows(),
        ),
        Side("`numpy.sort` of the errors", lambda: np.sort(errors)),
        at_most(4.3),
        "3 s were wanted where the sort takes 0.7 s, as NumPy's does on processors whose AVX-512 is slow; where it "
        "sorts five times as fast the bound is five times as hard",
    )


CASES: dict[str, tuple[Callable[[int], Iterable[Piece]], int]] = {
    "regression": (regression, 10**7),
    "figures": (figures.one_figure, 10**7),
    "shared": (shared_files.pieces, 10**8),
    "numbers": (number_files.pieces, 10**8),
    "spark": (spark.every_question, 10**7),
}
"""What is measured, and on how many rows."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="CASE,…", help=", ".join(CASES))
    parser.add_argument("--rows", type=float, help="fewer rows, to the terminal")
    asked = parser.parse_args()
    names = asked.only.split(",") if asked.only else list(CASES)
    contest.RUNS = 4
    lines: list[object] = []
    for name in names:
        pieces, rows = CASES[name]
        for line in Group(name, name, pieces, SECONDS, SECONDS).records(int(asked.rows or rows), SECONDS):
            lines.append(line)
            print(line, flush=True)
    if asked.only or asked.rows:
        return
    FILE.write_text(results.with_large(FILE.read_text(encoding="utf-8"), section(lines)), encoding="utf-8")
    print(f"written: {FILE}")


def section(lines: list[Line]) -> str:
    """What is told: when it was measured, what is not met, and the table."""
    today = datetime.datetime.now(datetime.UTC).date()
    told = f"Measured by `make bench-large`, {today:%d %B %Y}, on {machine.described()['processor']}."
    return results.units("\n\n".join([told, results.summary(lines), "\n".join([HEAD, *map(str, lines)])]))


if __name__ == "__main__":
    main()
