"""Measure stakes against its peers in one run and write bench/RESULTS.md with its picture growth.svg.

    python bench/run.py            # everything, within 20 minutes
    python bench/run.py --quick    # a hundredth of the rows, within two minutes, to the terminal

Every group of measurements has a budget of time; what does not fit is named in the results as left out.
"""

import argparse
import datetime
import time
from pathlib import Path

import numpy as np

import contest
import decisions
import figures
import growth
import intervals
import kinds
import large_files
import machine
import memory
import peers
import questions
import report_pages
import results
import spark
import stakes
import systems
from budget import Group

HERE = Path(__file__).parent

GROUPS = (  # in the order of the page; seconds of the whole, and of the quick form
    Group("peers", "Peers side by side", peers.pieces, 90, 11),
    Group("growth", "Growth with the number of rows", growth.pieces, 150, 15),
    Group("memory", "Memory and start-up", memory.pieces, 15, 8),
    Group("figures", "Figures", figures.pieces, 200, 8),
    Group("kinds", "Several labels and quantiles", kinds.pieces, 60, 4),
    Group("intervals", "Intervals and permutation tests", intervals.pieces, 170, 8),
    Group("decisions", "Decisions and calibration", decisions.pieces, 15, 3),
    Group("systems", "Systems of several models", systems.pieces, 30, 9),
    Group("questions", "Few labels, plans, ranks and watching", questions.pieces, 75, 8),
    Group("pages", "Pages of the report", report_pages.pieces, 30, 9),
    Group("files", "Large files", large_files.pieces, 260, 10),
    Group("spark", "Spark", spark.pieces, 45, 12),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes and short budgets; to the terminal")
    parser.add_argument("--rows", type=float, help="rows of the contests; files have ten times as many")
    parser.add_argument("--only", metavar="GROUP,…", help=", ".join(group.name for group in GROUPS))
    parser.add_argument("--output", type=Path, help="file to write; the picture lies beside it")
    asked = parser.parse_args()
    names = asked.only.split(",") if asked.only else [group.name for group in GROUPS]
    groups = [group for group in GROUPS if group.name in names]
    if len(groups) < len(names):
        parser.error(f"--only takes some of {', '.join(group.name for group in GROUPS)}")
    rows = int(asked.rows or (1e5 if asked.quick else 1e7))
    whole = not (asked.quick or asked.rows or asked.only)
    if asked.quick:
        contest.ENOUGH = 0.5

    start, described = time.monotonic(), machine.described()
    today = datetime.datetime.now(datetime.UTC).date()
    warm = np.linspace(0, 1, 1 << 20)
    stakes.metrics.auc(warm > 0.5, warm)  # loads what loads on first use
    records, took = {}, {}
    for group in groups:
        began, records[group.name] = time.monotonic(), []
        for record in group.records(rows, group.quick if asked.quick else group.budget):
            records[group.name].append(record)
            print(f"{time.monotonic() - start:6.0f} s  {record}", flush=True)
        took[group.name] = time.monotonic() - began
    run = {
        "date": f"{today:%d %B %Y}",
        "took": f"{(time.monotonic() - start) / 60:.1f} minutes: "
        + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in took.items()),
    }
    page = results.written(_form(asked), groups, records, {**run, **described})
    file = asked.output or (HERE / "RESULTS.md" if whole else None)
    if file is None:
        print("\n" + page)
        return
    earlier = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(results.with_large(page, earlier.partition(results.LARGE)[2]), encoding="utf-8")
    if "growth" in records:
        points = [record for record in records["growth"] if isinstance(record, growth.Point)]
        growth.draw(points, file.with_name("growth.svg"))
    print(f"written: {file}")


def _form(asked: argparse.Namespace) -> str:
    """What was run, in words."""
    if asked.quick or asked.rows:
        return "A small form with few rows, to see that everything runs: what is wanted is meant for the whole."
    return f"A part of the whole: {asked.only}." if asked.only else "The whole, as `make bench` runs it."


if __name__ == "__main__":
    main()
