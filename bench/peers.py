"""Peers side by side: the same task on the same rows, everybody by their own documented call.

A peer that is not installed, or does not work with what is installed, says so in its row.
"""

import importlib.util
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import sklearn.metrics as sk

import alone
import large_files
import scikit
import stakes
from contest import Side, in_turn, is_missing
from samples import two_classes

RESAMPLES, FEW = 2000, 20


@dataclass(frozen=True)
class Row:
    """One row of a task's table."""

    task: str
    who: str
    ran: str
    seconds: float | None
    found: str

    @property
    def missing(self) -> str:
        return f"{self.task}, {self.who}: {self.found}" if is_missing(self.found) else ""

    def shown(self, ours: float | None) -> str:
        took = "" if self.seconds is None else f"{self.seconds:.3f} s"
        times = "" if self.seconds is None or not ours else f"{_three_digits(self.seconds / ours)} ×"
        return f"| {self.who} | {self.ran} | {took} | {times} | {self.found} |"


@dataclass(frozen=True)
class Peer:
    """Somebody who can do the task: which packages it needs, what it runs, and how its answer is put into words."""

    task: str
    who: str
    ran: str
    make: Callable[[], Callable[[], object]]
    said: Callable[[object], str]
    needs: tuple[str, ...] = ()
    part: tuple[int, int] = (1, 1)

    def run(self) -> list[Row]:
        missing = [name for name in self.needs if importlib.util.find_spec(name) is None]
        if missing:
            return [self.left_out(f"not installed: {', '.join(missing)}")]
        answers: list[object] = []
        side = Side(self.ran, self._kept(self.make(), answers), self.part)
        (took,) = in_turn(side)
        return [Row(self.task, self.who, side.shown(took).partition(": ")[2], took, self.said(answers[-1]))]

    @staticmethod
    def _kept(action: Callable[[], object], answers: list[object]) -> Callable[[], None]:
        return lambda: answers.append(action())

    def left_out(self, why: str) -> Row:
        return Row(self.task, self.who, self.ran, None, why)


@dataclass(frozen=True)
class FilePeer:
    """Somebody who reads a file, in a process of its own; the peak of memory is told."""

    task: str
    who: str
    ran: str
    work: str
    arguments: tuple[object, ...]

    def run(self) -> list[Row]:
        found = alone.measured(self.work, *self.arguments, runs=2)
        return [Row(self.task, self.who, self.ran, found.seconds, f"{found.gigabytes:.2f} GB at the peak")]

    def left_out(self, why: str) -> Row:
        return Row(self.task, self.who, self.ran, None, why)


def pieces(n: int) -> Iterator[Peer | FilePeer]:
    y, s, d = two_classes(max(n // 10, 1000))
    yield from _tables(y.astype(np.int64), d.astype(np.int64))
    yield from _auc(y.astype(np.int64), s)
    few = slice(0, max(n // 100, 1000))
    yield from _interval_of_auc(y[few].astype(np.int64), s[few])
    yield from _interval_of_f1(y[few].astype(np.int64), d[few].astype(np.int64))
    yield from _decision_curve(y[few].astype(np.int64), s[few])
    yield from _judge(max(n // 100, 10_000))
    yield from _files(n)


def shown(rows: Iterable[Row]) -> str:
    """A table for each task; times are compared with stakes."""
    tables: dict[str, list[Row]] = {}
    for row in rows:
        tables.setdefault(row.task, []).append(row)
    return "\n\n".join(_table(task, found) for task, found in tables.items())


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(task: str, rows: list[Row]) -> str:
    ours = next((row.seconds for row in rows if row.who == "stakes"), None)
    head = "| who | what was run | time | of stakes' time | what came out |\n|---|---|---|---|---|"
    return "\n".join([f"### {task}", "", head, *(row.shown(ours) for row in rows)])


# ── the tasks ────────────────────────────────────────────────────────────────────────────────────────────────────
def _tables(y: np.ndarray, d: np.ndarray) -> Iterator[Peer]:
    task = f"A table of decisions and its figures: {len(y):,} rows, two classes, int64"

    def theirs() -> float:
        scikit.figures(y, d)
        return sk.f1_score(y, d)

    def pycm() -> Callable[[], float]:
        from pycm import ConfusionMatrix

        return lambda: ConfusionMatrix(actual_vector=y, predict_vector=d).F1[1]

    def torchmetrics() -> Callable[[], float]:
        import torch
        from torchmetrics.functional import classification as of

        truth, decided = torch.from_numpy(y), torch.from_numpy(d)
        figures = (
            of.binary_confusion_matrix,
            of.binary_accuracy,
            of.binary_precision,
            of.binary_recall,
            of.binary_matthews_corrcoef,
            of.binary_cohen_kappa,
            of.binary_f1_score,
        )
        return lambda: [float(figure(decided, truth).sum()) for figure in figures][-1]

    f1 = "f1 {:.4f}".format
    ours = "`evaluate(truth=y, prediction=d).to_rows()`: every figure, each with its interval"
    yield Peer(task, "stakes", ours, lambda: lambda: _f1_of(stakes.evaluate(truth=y, prediction=d)), f1)
    called = "`confusion_matrix` and seven figures, one call each"
    yield Peer(task, "scikit-learn", called, lambda: theirs, f1)
    called = "`ConfusionMatrix(actual_vector=y, predict_vector=d)`: every figure, no intervals"
    yield Peer(task, "PyCM", called, pycm, f1, ("pycm",))
    called = "`binary_confusion_matrix` and six figures, one call each"
    yield Peer(task, "torchmetrics", called, torchmetrics, f1, ("torch", "torchmetrics"))


def _f1_of(evaluation: stakes.Evaluation) -> float:
    evaluation.to_rows()
    return evaluation["f1"].value


def _auc(y: np.ndarray, s: np.ndarray) -> Iterator[Peer]:
    task = f"The auc: {len(y):,} rows, float64 scores"

    def polars_ds() -> Callable[[], float]:
        import polars as pl
        import polars_ds as pds

        frame = pl.DataFrame({"y": y.astype(np.uint32), "s": s})  # the type that it computes with
        return lambda: frame.select(pds.query_roc_auc("y", "s")).item()

    def torchmetrics() -> Callable[[], float]:
        import torch
        from torchmetrics.functional.classification import binary_auroc

        truth, scores = torch.from_numpy(y), torch.from_numpy(s)
        return lambda: float(binary_auroc(scores, truth))

    auc = "auc {:.6f}".format
    yield Peer(task, "stakes", "`metrics.auc(y, s)`", lambda: lambda: stakes.metrics.auc(y, s), auc)
    yield Peer(task, "scikit-learn", "`roc_auc_score(y, s)`", lambda: lambda: sk.roc_auc_score(y, s), auc)
    yield Peer(task, "polars-ds", '`frame.select(query_roc_auc("y", "s"))`', polars_ds, auc, ("polars_ds",))
    yield Peer(task, "scors", "`roc_auc(y, s)`", lambda: partial(_scors, y.astype(np.uint8), s), auc, ("scors",))
    needs = ("torch", "torchmetrics")
    yield Peer(task, "torchmetrics", "`binary_auroc(s, y)`", torchmetrics, auc, needs)


def _scors(y: np.ndarray, s: np.ndarray) -> float:
    import scors

    return scors.roc_auc(y, s)


def _interval_of_auc(y: np.ndarray, s: np.ndarray) -> Iterator[Peer]:
    task = f"A 95 % interval of the auc: {len(y):,} rows"

    def delong() -> Callable[[], object]:
        from confidenceinterval import roc_auc_score

        return lambda: roc_auc_score(y, s)[1]

    def resampled() -> Callable[[], object]:
        from confidenceinterval import roc_auc_score

        return lambda: roc_auc_score(y, s, method="bootstrap_percentile", n_resamples=FEW)[1]

    ours = '`evaluate(truth=y, score=s).interval("auc")`: DeLong\'s standard error'
    yield Peer(
        task, "stakes", ours, lambda: lambda: _ends(stakes.evaluate(truth=y, score=s).interval("auc")), _interval
    )
    called = "`roc_auc_score(y, s)`: DeLong's interval"
    yield Peer(task, "confidenceinterval", called, delong, _interval, ("confidenceinterval",))
    called = f'`roc_auc_score(y, s, method="bootstrap_percentile", n_resamples={RESAMPLES})`'
    yield _resampling(Peer(task, "confidenceinterval", called, resampled, _interval, ("confidenceinterval",)))
    yield _scipy(task, "roc_auc_score", "s", y, s)


def _interval_of_f1(y: np.ndarray, d: np.ndarray) -> Iterator[Peer]:
    task = f"A 95 % interval of f1: {len(y):,} rows"

    def resampled() -> Callable[[], object]:
        from confidenceinterval import f1_score

        return lambda: f1_score(y, d, average="binary", method="bootstrap_percentile", n_resamples=FEW)[1]

    ours = f'`evaluate(truth=y, prediction=d).interval("f1")`: {RESAMPLES:,} tables drawn anew'
    yield Peer(
        task, "stakes", ours, lambda: lambda: _ends(stakes.evaluate(truth=y, prediction=d).interval("f1")), _interval
    )
    called = f'`f1_score(y, d, average="binary", method="bootstrap_percentile", n_resamples={RESAMPLES})`'
    yield _resampling(Peer(task, "confidenceinterval", called, resampled, _interval, ("confidenceinterval",)))
    yield _scipy(task, "f1_score", "d", y, d)


def _decision_curve(y: np.ndarray, s: np.ndarray) -> Iterator[Peer]:
    task = f"Net benefit at 99 thresholds: {len(y):,} rows"
    at = np.arange(1, 100) / 100

    def ours() -> float:
        return stakes.evaluate(truth=y, score=s).curve("decision").y[29]

    def dcurves() -> Callable[[], float]:
        import pandas as pd
        from dcurves import dca

        frame = pd.DataFrame({"y": y, "s": s})

        def drawn() -> float:
            found = dca(frame, "y", ["s"], thresholds=at)
            return float(found.loc[found["model"].eq("s") & found["threshold"].eq(at[29]), "net_benefit"].iloc[0])

        return drawn

    said = "at 0.3: {:.4f}".format
    called = '`evaluate(truth=y, score=s).curve("decision")`'
    yield Peer(task, "stakes", called, lambda: ours, said)
    yield Peer(task, "dcurves", '`dca(frame, "y", ["s"])`', dcurves, said, ("dcurves", "lifelines"))


def _judge(n: int) -> Iterator[Peer]:
    labels = 200
    task = f"The true pass rate, by a judge and {labels} labels of people: {n:,} rows"
    rng = np.random.default_rng(5)
    right = rng.random(n) < 0.7
    judge = np.where(rng.random(n) < 0.85, right, ~right).astype(int)
    rows = rng.choice(n, labels, replace=False)
    people = right[rows].astype(float)
    human = np.full(n, np.nan)
    human[rows] = people

    def truescore() -> Callable[[], object]:
        from truescore import ppi_estimate

        return lambda: _ends(ppi_estimate(judge, people, rows))

    def evalstats() -> Callable[[], object]:
        from evalstats import judge_debias_mean_ci

        def corrected() -> tuple[float, float]:
            found = judge_debias_mean_ci(judge.astype(float), human, rng=np.random.default_rng(0))
            return found.ci_low, found.ci_high

        return corrected

    question = {"truth": human, "prediction": judge, "unlabelled": "estimate"}
    called = '`evaluate(truth=people, prediction=judge, unlabelled="estimate")["prevalence"]`'
    yield Peer(task, "stakes", called, lambda: lambda: _ends(stakes.evaluate(**question)["prevalence"]), _interval)
    yield Peer(task, "truescore", "`ppi_estimate(judge, people, rows)`", truescore, _interval, ("truescore",))
    yield Peer(task, "evalstats", "`judge_debias_mean_ci(judge, people)`", evalstats, _interval, ("evalstats",))


def _scipy(task: str, figure: str, letter: str, y: np.ndarray, column: np.ndarray) -> Peer:
    def make() -> Callable[[], object]:
        from scipy.stats import bootstrap

        options = {"paired": True, "vectorized": False, "n_resamples": FEW, "method": "percentile", "rng": 0}
        return lambda: bootstrap((y, column), getattr(sk, figure), **options).confidence_interval

    called = f'`bootstrap((y, {letter}), {figure}, paired=True, method="percentile", n_resamples={RESAMPLES})`'
    return _resampling(Peer(task, "scipy with scikit-learn", called, make, _interval))


def _resampling(peer: Peer) -> Peer:
    """The same peer with fewer resamples than it says; its ends are then rough."""
    return replace(peer, part=(FEW, RESAMPLES), said=lambda ends: f"{_interval(ends)} (of {FEW} resamples)")


def _ends(figure: object) -> tuple[float, float]:
    return figure.low, figure.high


def _interval(ends: object) -> str:
    low, high = ends
    return f"{low:.4f} – {high:.4f}"


def _files(rows: int) -> Iterator[FilePeer]:
    with tempfile.TemporaryDirectory() as folder:
        parquet = large_files.write(Path(folder), "even", rows)
        for kind, file in (("Parquet", parquet), ("CSV", large_files.as_text(parquet))):
            task = f"Figures of a {kind} file: {rows:,} rows, in a process of its own"
            yield FilePeer(task, "stakes", large_files.EXACT, "large_files.evaluated", (file, True))
            work = "large_files.pandas_and_scikit_learn"
            yield FilePeer(task, "pandas and scikit-learn", large_files.SCIKIT, work, (file,))
