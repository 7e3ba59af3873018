"""Predicted numbers and class probabilities in files of very many rows, against a scan that adds up the same columns.

Every measurement is a process of its own; ``large.py --only numbers --rows 1e7`` runs this with fewer rows.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

import alone
from contest import Line, Measurement, at_most
from large_files import write_parts

_BATCH = 1 << 20
_HARD = (
    "the plain scan only adds the columns up; here logarithms, shares and products of their terms are added up, and "
    "medians are looked for (or the probabilities of each class are counted in bins, in a second pass)"
)
_SUMS = ["rmse.high <= 2", "mae.high <= 2", "r2.low >= 0.5"]
_CLASSES = 10
_SCORES = {str(k): f"p{k}" for k in range(_CLASSES)}
_QUESTIONS: dict[str, dict] = {
    "numbers": {"truth": "t", "prediction": "p"},
    "classes": {"truth": "y", "score": _SCORES},
}


def pieces(rows: int) -> Iterator[Measurement]:
    """A regression of all rows, and a tenth as many rows of ten class probabilities."""
    with tempfile.TemporaryDirectory() as name:
        for kind, n in (("numbers", rows), ("classes", rows // 10)):
            file = write_parts(Path(name) / f"{kind}.parquet", _parts(kind, n))
            yield _measurement(kind, file, n)
            if kind == "numbers":
                yield _sums_alone(file, n)
            Path(file).unlink()


def _parts(kind: str, rows: int) -> Iterator[dict[str, np.ndarray]]:
    rng = np.random.default_rng(4)
    for start in range(0, rows, _BATCH):
        n = min(_BATCH, rows - start)
        if kind == "numbers":
            truth = rng.normal(10, 3, n)
            yield {"t": truth, "p": truth + rng.normal(size=n)}
            continue
        truth = rng.integers(0, _CLASSES, n)
        shares = np.exp(rng.normal(size=(n, _CLASSES)) + np.eye(_CLASSES)[truth])
        shares /= shares.sum(1, keepdims=True)
        yield {"y": truth.astype(np.int8), **{f"p{k}": shares[:, k] for k in range(_CLASSES)}}


def scan(file: str) -> Callable[[], int]:
    return lambda: pl.scan_parquet(file).select(pl.all().sum()).collect(engine="streaming").width


def evaluated(file: str, kind: str) -> Callable[[], int]:
    import stakes

    return lambda: len(stakes.evaluate(file, **_QUESTIONS[kind], exact=False).to_rows())


def gated(file: str) -> Callable[[], int]:
    """Figures that are sums, with their intervals."""
    import stakes

    return lambda: len(stakes.gate(file, **_QUESTIONS["numbers"], require=_SUMS, exact=False).checks)


def _measurement(kind: str, file: str, rows: int) -> Measurement:
    of = {"numbers": "predicted numbers", "classes": f"probabilities of {_CLASSES} classes"}[kind]
    what, wanted = f"Parquet, {rows:,} rows: every figure of {of} with its interval", at_most(8)

    def lines() -> list[Line]:
        peer = alone.measured("number_files.scan", file, runs=3)
        ours = alone.measured("number_files.evaluated", file, kind, runs=2)
        shown = f"{ours}: `evaluate(file, …, exact=False).to_rows()`"
        theirs = f"{peer}: Polars sums the columns of the file"
        return [Line.of(what, shown, theirs, ours.seconds / peer.seconds, wanted, _HARD)]

    return Measurement(what, lines, wanted)


def _sums_alone(file: str, rows: int) -> Measurement:
    """A gate, which asks for sums with their intervals and for no medians."""
    what, wanted = f"Parquet, {rows:,} rows: predicted numbers, sums alone with their intervals", at_most(3)

    def lines() -> list[Line]:
        peer = alone.measured("number_files.scan", file, runs=5)
        ours = alone.measured("number_files.gated", file, runs=3)
        shown = f"{ours}: `gate(file, …, require={_SUMS})`"
        theirs = f"{peer}: Polars sums the columns of the file"
        return [Line.of(what, shown, theirs, ours.seconds / peer.seconds, wanted, _HARD)]

    return Measurement(what, lines, wanted)
