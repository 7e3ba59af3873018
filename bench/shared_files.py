"""Two models, and clusters, in files of very many rows: how long, and in how much memory, against simpler questions.

Every measurement is a process of its own; ``large.py --only shared --rows 2.2e7`` runs this with fewer rows.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import alone
from contest import Line, Measurement, at_most
from large_files import BINNED, EXACT, evaluated, write_parts

_BATCH = 1 << 22
_CLUSTERS = 10**6

COMPARED = '`compare(file, truth="y", scores=["p", "q"]).to_rows()`'
CLUSTERED = '`evaluate(file, truth="y", score="p", cluster="c", exact=False).to_rows()`'

__all__ = ["clustered", "compared", "evaluated", "pieces"]


def pieces(rows: int) -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as name:
        file = write_parts(Path(name) / "shared.parquet", _parts(rows))
        yield _measurement(f"Parquet, {rows:,} rows: two scores compared", file, "compared", COMPARED, True, 3)
        what = f"Parquet, {rows:,} rows in {_CLUSTERS:,} clusters: every figure, scores in bins"
        yield _measurement(what, file, "clustered", CLUSTERED, False, 2)


def _parts(rows: int) -> Iterator[dict[str, np.ndarray]]:
    rng = np.random.default_rng(3)
    for start in range(0, rows, _BATCH):
        n = min(_BATCH, rows - start)
        p = rng.random(n)
        yield {
            "y": (rng.random(n) < 0.1 + 0.4 * p).astype(np.int8),
            "p": p,
            "q": np.clip(p + rng.normal(0, 0.05, n), 0, 1),
            "c": rng.integers(0, _CLUSTERS, n).astype(np.int32),
        }


def compared(file: str) -> Callable[[], int]:
    import stakes

    return lambda: len(stakes.compare(file, truth="y", scores=["p", "q"]).to_rows())


def clustered(file: str) -> Callable[[], int]:
    import stakes

    return lambda: len(stakes.evaluate(file, truth="y", score="p", cluster="c", exact=False).to_rows())


def _measurement(what: str, file: str, work: str, shown: str, exact: bool, most: float) -> Measurement:
    wanted = at_most(most)
    hard = "" if exact else "rows are numbered by cluster and counted once more, by cluster, cell and bin"

    def lines() -> list[Line]:
        plain = alone.measured("shared_files.evaluated", file, exact)
        ours = alone.measured(f"shared_files.{work}", file)
        theirs = f"{plain}: {EXACT if exact else BINNED}"
        return [Line.of(what, f"{ours}: {shown}", theirs, ours.seconds / plain.seconds, wanted, hard)]

    return Measurement(what, lines, wanted)
