"""Files of 10⁸ rows: how long, and in how much memory, against plain scans of the same files.

Every measurement is a process of its own. ``run.py --only files --rows 1e5`` runs this with files of 10⁶ rows.
"""

import functools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

import alone
from contest import Line, Measurement, at_most

_BATCH = 1 << 22
_SEGMENTS = 1_000

EXACT = '`evaluate(file, truth="y", score="p", exact=True).to_rows()`'
BINNED = '`evaluate(file, truth="y", score="p", exact=False).to_rows()`'
SUMS = "Polars sums both columns of the file"
SCIKIT = "pandas reads it, scikit-learn `confusion_matrix`, `roc_auc_score`"
PANDAS_NEEDS = 100  # bytes a row, as measured
BINS_ON_TOP = "the plain scan only adds two columns up; every score has to be put into its bin besides"


def pieces(n: int) -> Iterator[Measurement]:
    rows = 10 * n
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        even = write(folder, "even", rows)
        yield _binned(even, rows, "even scores", 5)
        yield _segments(even, rows)
        yield from _exact(even, rows)
        text = as_text(even)
        Path(even).unlink()
        yield _binned(write(folder, "rare", rows), rows, "rare scores (Beta(0.1, 50))", 3)
        yield from _text(text, rows)


# ── the files ────────────────────────────────────────────────────────────────────────────────────────────────────
def write(folder: Path, name: str, rows: int) -> str:
    """Write "even" or "rare" scores as Parquet."""
    return write_parts(folder / f"{name}.parquet", _parts(name, rows))


def write_parts(file: Path, parts: Iterable[dict[str, np.ndarray]]) -> str:
    """Write columns as Parquet, one part after another."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for part in parts:
        table = pa.table(part)
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    writer.close()  # type: ignore[union-attr]
    return str(file)


def as_text(file: str) -> str:
    """Truth and scores of such a file as CSV."""
    text = file.replace(".parquet", ".csv")
    pl.scan_parquet(file).select("y", "p").sink_csv(text)
    return text


def _parts(name: str, rows: int) -> Iterator[dict[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    for start in range(0, rows, _BATCH):
        n = min(_BATCH, rows - start)
        p = rng.random(n) if name == "even" else rng.beta(0.1, 50, n)
        yield {
            "y": (rng.random(n) < 0.1 + 0.4 * p).astype(np.int8),
            "p": p,
            "said": (rng.random(n) < 0.2).astype(np.int8),
            "segment": rng.integers(0, _SEGMENTS, n).astype(np.int16),
        }


# ── the work, in a process of its own ────────────────────────────────────────────────────────────────────────────
def scan(file: str) -> Callable[[], float]:
    frame = pl.scan_csv(file) if file.endswith(".csv") else pl.scan_parquet(file)
    return lambda: frame.select(pl.col("y").sum(), pl.col("p").sum()).collect(engine="streaming")["p"][0]


def sort(rows: int) -> Callable[[], None]:
    numbers = np.random.default_rng(0).random(rows)

    def work() -> None:
        np.sort(numbers)

    return work


def evaluated(file: str, exact: bool) -> Callable[[], float]:
    """Every figure; what comes out is how far apart the bounds of the auc are."""
    import stakes

    def work() -> float:
        found = stakes.evaluate(file, truth="y", score="p", exact=exact)
        found.to_rows()
        low, high = stakes.metrics.auc_bounds(found.scores)
        return high - low

    return work


def by_segment(file: str) -> Callable[[], int]:
    import stakes

    def work() -> int:
        found = stakes.count(file, truth="y", prediction="said", by="segment")
        tables = stakes.tallies.Confusion.stack([part.confusion for part in found.segments.values()])
        rates = ("recall", "specificity", "precision", "f1", "mcc")
        return sum(len(stakes.metrics.find(name).of(tables)) for name in rates)

    return work


def polars_groups(file: str) -> Callable[[], int]:
    groups = pl.scan_parquet(file).group_by("segment", "y", "said").len()
    return lambda: len(groups.collect(engine="streaming"))


def duckdb_groups(file: str) -> Callable[[], int]:
    import duckdb

    query = "select segment, y, said, count(*) from read_parquet(?) group by all"
    return lambda: len(duckdb.execute(query, [file]).fetchall())


def pandas_and_scikit_learn(file: str) -> Callable[[], float]:
    import pandas as pd
    import sklearn.metrics as sk

    def work() -> float:
        frame = pd.read_csv(file) if file.endswith(".csv") else pd.read_parquet(file, columns=["y", "p"])
        sk.confusion_matrix(frame["y"], frame["p"] >= 0.5)
        return float(sk.roc_auc_score(frame["y"], frame["p"]))

    return work


# ── the lines ────────────────────────────────────────────────────────────────────────────────────────────────────
def _exact(file: str, rows: int) -> Iterator[Measurement]:
    what, wanted = f"Parquet, {rows:,} rows: every figure, exact", at_most(2.5)
    ours = functools.cache(lambda: alone.measured("large_files.evaluated", file, True))

    def lines() -> list[Line]:
        plain = alone.measured("large_files.scan", file, runs=5).seconds
        plain += alone.measured("large_files.sort", rows, runs=2).seconds
        theirs = f"{plain:.2f} s: {SUMS}, plus `numpy.sort` of as many float64"
        shown = f"{ours()}: {EXACT}"
        return [
            Line.of(what, shown, theirs, ours().seconds / plain, wanted),
            _peak(what, ours(), EXACT, 2),
        ]

    yield Measurement(what, lines, wanted)
    yield _beside_pandas(what, rows, file, ours, EXACT)


def _binned(file: str, rows: int, scores: str, most: float) -> Measurement:
    what, wanted = f"Parquet, {rows:,} rows: every figure, {scores} in bins", at_most(most)

    def lines() -> list[Line]:
        plain = alone.measured("large_files.scan", file, runs=5)
        ours = alone.measured("large_files.evaluated", file, False, runs=3)
        shown, theirs = f"{ours}: {BINNED}", f"{plain.seconds:.2f} s: {SUMS}"
        bounds = "`metrics.auc_bounds(…)` of the same evaluation"
        return [
            Line.of(what, shown, theirs, ours.seconds / plain.seconds, wanted, BINS_ON_TOP),
            Line.of(f"{what}: bounds of the auc", bounds, "", ours.found, at_most(2e-5, "apart")),
            _peak(what, ours, BINNED, 0.6),
        ]

    return Measurement(what, lines, wanted)


def _text(file: str, rows: int) -> Iterator[Measurement]:
    what, wanted = f"CSV, {rows:,} rows: every figure, scores in bins", at_most(1.8)
    ours = functools.cache(lambda: alone.measured("large_files.evaluated", file, False, runs=2))

    def lines() -> list[Line]:
        plain = alone.measured("large_files.scan", file, runs=2).seconds
        theirs = f"{plain:.2f} s: {SUMS}"
        return [Line.of(what, f"{ours()}: {BINNED}", theirs, ours().seconds / plain, wanted, BINS_ON_TOP)]

    yield Measurement(what, lines, wanted)
    yield _beside_pandas(what, rows, file, ours, BINNED)


def _segments(file: str, rows: int) -> Measurement:
    what = f"Parquet, {rows:,} rows, {_SEGMENTS:,} segments: tables of decisions and rates"
    wanted = at_most(1)

    def lines() -> list[Line]:
        ours = alone.measured("large_files.by_segment", file, runs=3)
        peers = {
            name: alone.measured(f"large_files.{name.lower()}_groups", file, runs=3) for name in ("Polars", "DuckDB")
        }
        name, theirs = min(peers.items(), key=lambda item: item[1].seconds)
        asked = '`count(file, truth="y", prediction="said", by="segment")`, then five rates of all segments'
        peer = f"{theirs}: {name}, the faster of Polars and DuckDB, counts the same groups"
        return [Line.of(what, f"{ours}: {asked}", peer, ours.seconds / theirs.seconds, wanted)]

    return Measurement(what, lines, wanted)


def _peak(what: str, found: alone.Alone, ran: str, gigabytes: float) -> Line:
    """The peak of memory of the whole process, shown with memory."""
    wanted = at_most(gigabytes, "GB")
    return Line.of(f"{what}: peak of the whole process", ran, "", found.gigabytes, wanted, section="memory")


def _beside_pandas(what: str, rows: int, file: str, ours: Callable[[], alone.Alone], ran: str) -> Measurement:
    """No ratio is wanted here; it is what people do today."""
    what = f"{what}, beside pandas"

    def lines() -> list[Line]:
        if reason := alone.too_large(PANDAS_NEEDS * rows):
            return [Line(what, ran, SCIKIT, reason)]
        theirs = alone.measured("large_files.pandas_and_scikit_learn", file)
        ratio = theirs.seconds / ours().seconds
        return [Line(what, f"{ours()}: {ran}", f"{theirs}: {SCIKIT}", f"{ratio:.1f} ×")]

    return Measurement(what, lines)
