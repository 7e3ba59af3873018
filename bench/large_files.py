"""Files of 10⁸ rows: how long, and in how much memory, against plain scans of the same files.

Every measurement is a process of its own, so that its peak of memory is its own. ``run.py`` runs this; by itself it
takes the number of rows: ``python bench/large_files.py 1e6``.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

_BATCH = 1 << 22
_SEGMENTS = 1_000

_MEASURE = """
import json, resource, sys, time
sys.path.insert(0, {here!r})
import numpy as np, polars as pl, stakes
import large_files
work = getattr(large_files, {name!r})
best = float("inf")
for _ in range({runs}):
    start = time.perf_counter()
    found = work(*{arguments!r})
    best = min(best, time.perf_counter() - start)
print(json.dumps([best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, found]))
"""


def measured(name: str, *arguments: object, runs: int = 2) -> tuple[float, float, object]:
    """Seconds (the best), peak of memory in GB, and what came out, of a function of this file in a new process."""
    import json

    code = _MEASURE.format(here=str(Path(__file__).parent), name=name, arguments=arguments, runs=runs)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return tuple(json.loads(done.stdout.splitlines()[-1]))  # type: ignore[return-value]


# ── the files ────────────────────────────────────────────────────────────────────────────────────────────────────
def write(folder: Path, rows: int) -> None:
    """Write even and rare scores as Parquet, the even ones as CSV too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name in ("even", "rare"):
        writer = None
        for part in _parts(name, rows):
            table = pa.table(part)
            writer = writer or pq.ParquetWriter(folder / f"{name}.parquet", table.schema)
            writer.write_table(table)
        writer.close()  # type: ignore[union-attr]
    pl.scan_parquet(folder / "even.parquet").select("y", "p").sink_csv(folder / "even.csv")


def _parts(name: str, rows: int) -> Iterator[dict[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    for start in range(0, rows, _BATCH):
        n = min(_BATCH, rows - start)
        p = rng.random(n) if name == "even" else rng.beta(0.1, 50, n)
        y = (rng.random(n) < 0.1 + 0.4 * p).astype(np.int8)
        yield {
            "y": y,
            "p": p,
            "said": (rng.random(n) < 0.2).astype(np.int8),
            "segment": rng.integers(0, _SEGMENTS, n).astype(np.int16),
        }


# ── the work, each by its name in a process of its own ───────────────────────────────────────────────────────────
def scan(file: str) -> float:
    frame = pl.scan_csv(file) if file.endswith(".csv") else pl.scan_parquet(file)
    return frame.select(pl.col("y").sum(), pl.col("p").sum()).collect(engine="streaming")["p"][0]


def sort(rows: int) -> None:
    np.sort(np.random.default_rng(0).random(rows))


def evaluated(file: str, exact: bool) -> float:
    import stakes

    found = stakes.evaluate(file, truth="y", score="p", exact=exact)
    found.to_rows()
    low, high = stakes.metrics.auc_bounds(found.scores)
    return high - low


def by_segment(file: str) -> int:
    import stakes

    found = stakes.count(file, truth="y", prediction="said", by="segment")
    tables = stakes.tallies.Confusion.stack([part.confusion for part in found.segments.values()])
    return sum(
        len(stakes.metrics.find(name).of(tables)) for name in ("recall", "specificity", "precision", "f1", "mcc")
    )


def polars_groups(file: str) -> int:
    groups = pl.scan_parquet(file).group_by("segment", "y", "said").len()
    return len(groups.collect(engine="streaming"))


def duckdb_groups(file: str) -> int:
    import duckdb

    query = "select segment, y, said, count(*) from read_parquet(?) group by all"
    return len(duckdb.execute(query, [file]).fetchall())


def pandas_and_scikit_learn(file: str) -> float:
    import pandas as pd
    import sklearn.metrics as sk

    frame = pd.read_csv(file) if file.endswith(".csv") else pd.read_parquet(file, columns=["y", "p"])
    decided = frame["p"] >= 0.5
    sk.confusion_matrix(frame["y"], decided)
    return sk.roc_auc_score(frame["y"], frame["p"])


# ── the lines of the table ───────────────────────────────────────────────────────────────────────────────────────
def lines(rows: int, row: Callable[..., str]) -> Iterator[str]:
    """Measure everything and yield lines as :func:`run.row` makes them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows)
        even, rare, text = (str(folder / file) for file in ("even.parquet", "rare.parquet", "even.csv"))
        yield from _scores(even, rare, rows, row)
        yield from _text(text, rows, row)
        yield _segments(even, rows, row)


def _scores(even: str, rare: str, rows: int, row: Callable[..., str]) -> Iterator[str]:
    what = f"Parquet, {rows:,} rows"
    scanned, _, _ = measured("scan", even, runs=5)
    sorted_, _, _ = measured("sort", rows)
    took, memory, _ = measured("evaluated", even, True, runs=1)  # a second run would add to the peak
    whole = scanned + sorted_
    shown, peer = f"{took:.1f} s, {memory:.2f} GB", "Polars sums both columns, plus np.sort of as many float64"
    met = took <= 2.5 * whole and memory <= 2
    yield row(
        f"{what}: every figure, exact", shown, peer, f"{whole:.2f} s", f"{took / whole:.1f} ×", "≤ 2.5 ×, 2 GB", met
    )
    theirs, their_memory, _ = measured("pandas_and_scikit_learn", even, runs=1)
    shown_theirs = f"{theirs:.1f} s, {their_memory:.2f} GB"
    peer = "pandas + scikit-learn: confusion_matrix and roc_auc_score"
    yield row(f"{what}: every figure, exact", shown, peer, shown_theirs, f"{theirs / took:.1f} ×", "beside it", True)
    for name, file in (("even", even), ("rare (Beta(0.1, 50))", rare)):
        scanned, _, _ = measured("scan", file, runs=5)
        took, memory, bound = measured("evaluated", file, False, runs=3)
        met = took <= 3 * scanned and memory <= 0.6 and bound < 2e-5  # type: ignore[operator]
        shown = f"{took:.2f} s, {memory:.2f} GB, auc within {bound:.1e}"
        wanted = "≤ 3 ×, 0.6 GB, 2e-5"
        what_now = f"{what}: every figure, {name} scores in bins"
        yield row(
            what_now, shown, "Polars sums both columns", f"{scanned:.2f} s", f"{took / scanned:.1f} ×", wanted, met
        )


def _text(file: str, rows: int, row: Callable[..., str]) -> Iterator[str]:
    what = f"CSV, {rows:,} rows: every figure, scores in bins"
    scanned, _, _ = measured("scan", file)
    took, memory, _ = measured("evaluated", file, False)
    shown, peer = f"{took:.1f} s, {memory:.2f} GB", "Polars sums both columns"
    yield row(what, shown, peer, f"{scanned:.1f} s", f"{took / scanned:.1f} ×", "≤ 1.6 ×", took <= 1.6 * scanned)
    theirs, their_memory, _ = measured("pandas_and_scikit_learn", file, runs=1)
    peer, shown_theirs = "pandas + scikit-learn", f"{theirs:.1f} s, {their_memory:.2f} GB"
    yield row(what, shown, peer, shown_theirs, f"{theirs / took:.1f} ×", "beside it", True)


def _segments(file: str, rows: int, row: Callable[..., str]) -> str:
    what = f"Parquet, {rows:,} rows, {_SEGMENTS:,} segments: confusion and rates"
    ours, memory, _ = measured("by_segment", file, runs=3)
    peers = {peer: measured(f"{peer}_groups", file, runs=3)[0] for peer in ("polars", "duckdb")}
    peer, theirs = min(peers.items(), key=lambda item: item[1])
    shown = f"{ours:.2f} s, {memory:.2f} GB"
    return row(
        what, shown, f"{peer} group-by-count", f"{theirs:.2f} s", f"{ours / theirs:.1f} ×", "≤ 1 ×", ours <= theirs
    )


if __name__ == "__main__":
    for line in lines(int(float(sys.argv[1])), lambda *cells: " | ".join(map(str, cells))):
        print(line, flush=True)
