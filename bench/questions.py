"""Few labels, plans, ranks and watching: seconds of one call, the best of some, each in a new process."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import alone
import stakes
from contest import Line, Measurement, at_most
from large_files import write_parts

MODELS, BATCH = 20, 1 << 20


def pieces(n: int) -> Iterator[Measurement]:
    yield _measured(f"few labels, 200 of {n // 10:,} rows: auc, recall and f1", "few_labels", 1, n // 10)
    yield _measured(f"few labels from a tally of {n // 10:,} rows: recall and f1", "few_labels_counted", 0.3, n // 10)
    yield _measured("a plan of the f1 from a pilot of 400 rows, with simulated studies", "planned", 2)
    yield _measured("ranks of 200 models on 10,000 items", "ranked", 0.5, 200, 10_000)
    for figure, wanted in (("recall >= 0.9", 1), ("auc >= 0.8", 1), ("f1 >= 0.7", 1), ("brier_score <= 0.2", 1)):
        yield _measured(f"a year of days, `{figure}`", "watched", wanted, figure)
    with tempfile.TemporaryDirectory() as name:
        file = write_parts(Path(name) / "items.parquet", _items(n))
        yield _measured(f"Parquet, {n:,} rows: ranks of {MODELS} models", "ranked_file", 10, file)


def _measured(what: str, work: str, most: float, *arguments: object) -> Measurement:
    wanted = at_most(most, "s")

    def lines() -> list[Line]:
        found = alone.measured(f"questions.{work}", *arguments, runs=3)
        ours = f"{found.seconds:.3f} s, {found.extra / 1e6:,.0f} MB on top of the rows"
        return [Line.of(what, ours, "", found.seconds, wanted)]

    return Measurement(what, lines, wanted)


# ── the work, in a process of its own ────────────────────────────────────────────────────────────────────────────
def _partly(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    truth = (rng.random(n) < 0.3).astype(float)
    score = 1 / (1 + np.exp(-(1.5 * rng.normal(1.5 * truth, 1) - 1.97)))
    truth[rng.permutation(n)[200:]] = np.nan
    return {"truth": truth, "score": score}


def few_labels(n: int) -> Callable[[], float]:
    rows = _partly(n)

    def call() -> float:
        found = stakes.evaluate(**rows, unlabelled="estimate")
        return sum(found[name].value for name in ("auc", "recall", "f1"))

    return call


def few_labels_counted(n: int) -> Callable[[], float]:
    tally = stakes.count(**_partly(n), unlabelled="estimate").binned()

    def call() -> float:
        found = stakes.evaluate(tally)
        return sum(found[name].value for name in ("recall", "f1"))

    return call


def planned() -> Callable[[], int]:
    rows = {name: column[:200] for name, column in _partly(400).items()}
    pilot = stakes.count(truth=(rows["score"] > 0.4).astype(int), score=rows["score"][::-1], threshold=0.5)
    return lambda: stakes.plan("f1", pilot, width=0.05).rows


def ranked(models: int, items: int) -> Callable[[], int]:
    rng = np.random.default_rng(0)
    scores = {f"m{i}": (rng.random(items) < 0.5 + i / 1000).astype(float) for i in range(models)}
    return lambda: len(stakes.rank(scores=scores).standings)


def watched(condition: str) -> Callable[[], bool]:
    rng = np.random.default_rng(0)
    days = []
    for _ in range(365):
        truth = (rng.random(200) < 0.4).astype(int)
        score = 1 / (1 + np.exp(-(3 * rng.normal(1.6 * truth, 1) - 1)))
        days.append(stakes.count(truth=truth, score=score, threshold=0.5))
    return lambda: bool(stakes.watch(days, require=condition))


def _items(n: int) -> Iterator[dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    for start in range(0, n, BATCH):
        rows = min(BATCH, n - start)
        yield {f"m{i}": (rng.random(rows, np.float32) < 0.5 + i / 1000).astype(np.int8) for i in range(MODELS)}


def ranked_file(file: str) -> Callable[[], int]:
    return lambda: len(stakes.rank(file, scores=[f"m{i}" for i in range(MODELS)]).standings)
