"""Measure stakes against its peers in one run and write bench/RESULTS.md.

Machines are shared and noisy, so only ratios count: every contest runs its two sides in turn, several times, and
compares the best times. ``--quick`` uses a hundredth of the rows, to see that everything runs.
"""

import argparse
import functools
import importlib.metadata
import itertools
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import sklearn.metrics as sk
from scipy.optimize import isotonic_regression

import large_files
import stakes
from stakes.decisions.calibration.isotonic import pooled
from stakes.decisions.thresholds.by_cost import decide_by_cost
from stakes.decisions.thresholds.search import RESAMPLES
from stakes.tallies.pricing import Pricing
from stakes.uncertainty import cells, score_tables
from stakes.uncertainty import draws as drawn_anew
from stakes.uncertainty import intervals as ways
from stakes.uncertainty.interval import none
from stakes.uncertainty.intervals import intervals
from stakes.uncertainty.sampling import USUAL, Sampling

HERE = Path(__file__).parent
LIBRARIES = ("stakes", "numpy", "polars", "narwhals", "scikit-learn")


@dataclass
class Contest:
    """What was run, by whom, and how much better we want to be."""

    what: str
    ours: Callable[[], object]
    peer: str
    theirs: Callable[[], object]
    wanted: str
    at_least: float = 0.0
    at_most: float = float("inf")
    ours_runs: int = 5
    their_runs: int = 2
    their_share: float = 1.0  # of the work; their time is scaled up to the whole

    def run(self) -> str:
        ours, theirs = float("inf"), float("inf")
        for i in range(max(self.ours_runs, self.their_runs)):
            if i < self.ours_runs:
                ours = min(ours, seconds(self.ours))
            if i < self.their_runs:
                theirs = min(theirs, seconds(self.theirs) / self.their_share)
        ratio = theirs / ours
        shown = ratio if self.at_least else 1 / ratio
        met = ratio >= self.at_least and 1 / ratio <= self.at_most
        return row(self.what, f"{ours:.3f} s", self.peer, f"{theirs:.3f} s", f"{shown:.1f} ×", self.wanted, met)


def row(*cells: object) -> str:
    *texts, met = cells
    return "| " + " | ".join(map(str, texts)) + f" | {'yes' if met else '**no**'} |"


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


# ── contests ─────────────────────────────────────────────────────────────────────────────────────────────────────
def contests(n: int) -> list[Contest]:
    rng = np.random.default_rng(0)
    score = rng.random(n)
    truth = rng.random(n) < 0.2 + 0.6 * score
    logits = np.log(score / (1 - score) + 1e-12)
    narrow, decided = score.astype(np.float32), score >= 0.5
    whole, whole_decided = truth.astype(np.int64), decided.astype(np.int64)
    rows = f"{n:,} rows"
    auc, scikit = stakes.metrics.auc, "scikit-learn roc_auc_score"
    tables = "scikit-learn confusion_matrix"

    def confusion(y: np.ndarray, d: np.ndarray) -> Callable[[], object]:
        return lambda: stakes.count(truth=y, prediction=d).confusion

    def everything() -> object:
        return stakes.evaluate(truth=truth, score=score).to_rows()

    def eleven() -> None:
        sk.confusion_matrix(truth, decided)
        for function in (sk.accuracy_score, sk.precision_score, sk.recall_score, sk.f1_score):
            function(truth, decided)
        for function in (sk.balanced_accuracy_score, sk.matthews_corrcoef, sk.cohen_kappa_score):
            function(truth, decided)
        sk.roc_auc_score(truth, score)
        sk.average_precision_score(truth, score)
        sk.log_loss(truth, score)

    return [
        *_many_classes(n),
        *_regression(n),
        *_intervals(min(n, 10**6)),
        *_permutations(min(n, 10**5)),
        *_rising_curve(n),
        *_thresholds(n // 10),
        Contest(
            f"auc, float64, {rows}",
            lambda: auc(truth, score),
            scikit,
            lambda: sk.roc_auc_score(truth, score),
            "≥ 20 ×",
            20,
        ),
        Contest(
            f"auc, float32, {rows}",
            lambda: auc(truth, narrow),
            scikit,
            lambda: sk.roc_auc_score(truth, narrow),
            "≥ 30 ×",
            30,
        ),
        Contest(
            f"auc, logits, {rows}",
            lambda: auc(truth, logits),
            scikit,
            lambda: sk.roc_auc_score(truth, logits),
            "≥ 12 ×",
            12,
        ),
        Contest(
            f"auc, float64, {rows}",
            lambda: auc(truth, score),
            "np.sort of the scores",
            lambda: np.sort(score),
            "≤ 2 ×",
            at_most=2,
            their_runs=5,
        ),
        Contest(
            f"confusion, bool, {rows}",
            confusion(truth, decided),
            tables,
            lambda: sk.confusion_matrix(truth, decided),
            "≥ 60 ×",
            60,
        ),
        Contest(
            f"confusion, int64 0/1, {rows}",
            confusion(whole, whole_decided),
            tables,
            lambda: sk.confusion_matrix(whole, whole_decided),
            "≥ 60 ×",
            60,
        ),
        Contest(
            f"evaluate(), every figure, {rows}",
            everything,
            scikit + " alone",
            lambda: sk.roc_auc_score(truth, score),
            "≥ 6 ×",
            6,
            ours_runs=3,
        ),
        Contest(
            f"evaluate(), every figure, {rows}",
            everything,
            "eleven scikit-learn calls",
            eleven,
            "≥ 30 ×",
            30,
            ours_runs=3,
            their_runs=1,
        ),
    ]


def _many_classes(n: int) -> list[Contest]:
    rng = np.random.default_rng(1)
    k, few = 10, max(n // 10, 10**4)
    truth, decided = rng.integers(0, k, (2, n))
    words = np.array([f"class {c}" for c in range(k)])
    arrow = [pl.Series(words)[column].to_arrow() for column in (truth, decided)]
    categories = [pd.Series(pd.Categorical.from_codes(column[:few], words)) for column in (truth, decided)]
    plain = [words[column[:few]].astype(object) for column in (truth, decided)]
    scores = rng.dirichlet(np.ones(k), few)
    codes = truth[:few]
    peer = "scikit-learn confusion_matrix"

    def counted(columns: list) -> Callable[[], object]:
        return lambda: stakes.count(truth=columns[0], prediction=columns[1], task="classification")

    def ovr() -> object:
        return stakes.metrics.find("macro_auc").of(_tables(codes, scores))

    def _tables(y: np.ndarray, p: np.ndarray) -> stakes.ClassScores:
        return stakes.ClassScores.from_rows(p, y, [str(c) for c in range(k)], parts=("tables",))

    def loss() -> object:
        return stakes.metrics.multiclass_log_loss(codes, scores, classes=range(k))

    return [
        Contest(
            f"confusion, k = 10, int64, {n:,} rows",
            counted([truth, decided]),
            peer,
            lambda: sk.confusion_matrix(truth, decided),
            "≥ 25 ×",
            25,
        ),
        Contest(
            f"confusion, k = 10, Arrow strings, {n:,} rows",
            counted(arrow),
            peer + " on NumPy strings",
            lambda: sk.confusion_matrix(words[truth], words[decided]),
            "≥ 20 ×",
            20,
            their_runs=1,
        ),
        Contest(
            f"confusion, k = 10, categories, {few:,} rows",
            counted(categories),
            peer,
            lambda: sk.confusion_matrix(*categories),
            "≥ 20 ×",
            20,
            their_runs=1,
        ),
        Contest(
            f"confusion, k = 10, Python strings, {few:,} rows",
            counted(plain),
            peer,
            lambda: sk.confusion_matrix(*plain),
            "≥ 5 ×",
            5,
            their_runs=1,
        ),
        Contest(
            f"one-against-rest auc, k = 10, {few:,} rows",
            ovr,
            "scikit-learn roc_auc_score(ovr)",
            lambda: sk.roc_auc_score(codes, scores, multi_class="ovr"),
            "≥ 8 ×",
            8,
            their_runs=1,
        ),
        Contest(
            f"log loss, k = 10, checked, {few:,} rows",
            loss,
            "scikit-learn log_loss",
            lambda: sk.log_loss(codes, scores),
            "≥ 12 ×",
            12,
        ),
    ]


def _regression(n: int) -> list[Contest]:
    rng = np.random.default_rng(2)
    truth = rng.normal(size=n)
    prediction = truth + rng.normal(size=n)
    wanted = [stakes.metrics.find(name) for name in ("mae", "mse", "r2", "max_error", "bias")]

    def ours() -> object:
        return stakes.metrics.measure(wanted, stakes.ErrorSums.from_rows(truth, prediction, parts=()))

    def theirs() -> None:
        for function in (sk.mean_absolute_error, sk.mean_squared_error, sk.r2_score):
            function(truth, prediction)

    what = f"mae + mse + r2 + max + bias, {n:,} rows"
    return [Contest(what, ours, "scikit-learn's mae + mse + r2", theirs, "≥ 2 ×", 2, their_runs=3)]


def _intervals(n: int) -> list[Contest]:
    rng = np.random.default_rng(4)
    score = rng.random(n)
    truth = rng.random(n) < 0.2 + 0.6 * score
    decided = score >= 0.5
    classes = rng.integers(0, 10, n)
    guesses = np.where(rng.random(n) < 0.6, classes, rng.integers(0, 10, n))
    auc, precision = stakes.metrics.auc, stakes.metrics.average_precision
    few, many = 20, 2000

    def without_intervals() -> object:
        made, ways.intervals = ways.intervals, lambda wanted, *_: [none("not asked for")] * len(wanted)
        try:
            return stakes.evaluate(truth=truth, score=score).to_rows()
        finally:
            ways.intervals = made

    counted_ten = stakes.count(truth=classes, prediction=guesses, task="classification")
    two, ten = stakes.count(truth=truth, prediction=decided).confusion, counted_ten.confusion
    metrics = {
        2: [m for m in stakes.metrics.list() if m.tally is stakes.Confusion],
        10: [stakes.metrics.find(name) for name in stakes.Evaluation(counted_ten).figures],
    }

    def replicates(counted: stakes.Confusion, k: int) -> Callable[[], object]:
        return lambda: stakes.metrics.measure(metrics[k], cells.drawn(counted, Sampling(replicates=many)))

    def resampled(y: np.ndarray, d: np.ndarray, average: str) -> Callable[[], object]:
        def one() -> float:
            rows = rng.integers(0, n, n)
            return sk.f1_score(y[rows], d[rows], average=average)

        return lambda: [one() for _ in range(few)]

    def precision_interval() -> object:
        counted = stakes.ScoreTable.from_rows(score, truth)
        return intervals([precision], [precision.of(counted)], counted, USUAL)

    def resampled_precision() -> object:
        def one() -> float:
            rows = rng.integers(0, n, n)
            return sk.average_precision_score(truth[rows], score[rows])

        return [one() for _ in range(few // 4)]

    def auc_of_table() -> object:
        return auc.of(stakes.ScoreTable.from_rows(score, truth))

    def delong_of_table() -> object:
        counted = stakes.ScoreTable.from_rows(score, truth)
        return intervals([auc], [auc.of(counted)], counted, USUAL)

    small, large = (stakes.Confusion.two_class(tp=300 * f, fn=200 * f, fp=100 * f, tn=400 * f) for f in (1, 10**6))
    drawn, of_rows = f"{many:,} replicates of all figures of a table", f"{many:,} row-resampled scikit-learn f1 scores"
    share = few / many
    return [
        Contest(
            f"evaluate() with all intervals, {n:,} rows",
            lambda: stakes.evaluate(truth=truth, score=score).to_rows(),
            "the same without intervals",
            without_intervals,
            "≤ 2 ×",
            at_most=2,
            their_runs=5,
        ),
        Contest(
            f"{drawn}, k = 2, {n:,} rows",
            replicates(two, 2),
            of_rows,
            resampled(truth, decided, "binary"),
            "≥ 10,000 ×",
            10_000,
            their_runs=1,
            their_share=share,
        ),
        Contest(
            f"{drawn}, k = 10, {n:,} rows",
            replicates(ten, 10),
            of_rows,
            resampled(classes, guesses, "macro"),
            "≥ 1,000 ×",
            1000,
            their_runs=1,
            their_share=share,
        ),
        Contest(
            f"{drawn}, 10⁹ rows",
            replicates(large, 2),
            "the same at 10³ rows",
            replicates(small, 2),
            "≤ 1.5 ×",
            at_most=1.5,
            their_runs=5,
        ),
        Contest(
            f"auc with DeLong's interval, {n:,} rows",
            delong_of_table,
            "auc alone",
            auc_of_table,
            "≤ 1.6 ×",
            at_most=1.6,
            ours_runs=9,
            their_runs=9,
        ),
        Contest(
            f"average precision and its interval, {n:,} rows",
            precision_interval,
            f"{many:,} row-resampled scikit-learn scores",
            resampled_precision,
            "≥ 500 ×",
            500,
            their_runs=1,
            their_share=few / 4 / many,
        ),
    ]


def compression(n: int, prevalence: float) -> str:
    """How far the ends of an interval move when the score table is compressed before it is drawn anew.

    Both are made from the same draws: those of a piece are the sums of those of its scores.
    """
    rng = np.random.default_rng(5)
    truth = rng.random(n) < prevalence
    table = stakes.ScoreTable.from_rows(rng.normal(size=n) + 1.5 * truth, truth)
    metric = stakes.metrics.average_precision
    columns, pieces = table.as_columns(), table.compressed().as_columns()
    ends = np.cumsum(pieces.values["positives"] + pieces.values["negatives"])
    starts = np.append(0, ends[:-1])
    found: list[list[float]] = [[], []]
    for _ in range(150):
        draws = np.stack([rng.standard_gamma(columns.values[name]) for name in ("positives", "negatives")])[None]
        summed = np.add.reduceat(draws, starts, axis=-1)
        for values, scores, part in zip(found, (columns.scores, pieces.scores), (draws, summed), strict=True):
            values.append(float(metric.of(score_tables.redrawn(table, scores, part, fixed=False))[0]))
    value = metric.of(table)
    fine, coarse = (drawn_anew.spread_interval(metric, value, np.array(draws), USUAL, "") for draws in found)
    moved = max(abs(fine.low - coarse.low), abs(fine.high - coarse.high)) / np.std(found[0])
    what = (
        f"average precision: ends of the interval, {len(pieces.scores)} pieces of {n:,} rows, prevalence {prevalence}"
    )
    return row(what, f"{moved:.4f} standard errors", "the table uncompressed", "", "", "≤ 0.02", moved <= 0.02)


def _permutations(n: int) -> list[Contest]:
    rng = np.random.default_rng(3)
    score = rng.random(n)
    truth = rng.random(n) < 0.49 + 0.02 * score
    decided = score >= 0.5
    classes, guesses = rng.integers(0, 10, (2, n))
    few, many = 20, 10_000

    def ours(metric: str, **columns: np.ndarray) -> Callable[[], object]:
        return lambda: stakes.permutation_test(**columns, metric=metric, task="classification", permutations=many)

    def accuracies(y: np.ndarray, d: np.ndarray) -> Callable[[], object]:
        return lambda: [np.mean(rng.permutation(y) == d) for _ in range(few)]

    def correlations(y: np.ndarray, d: np.ndarray) -> Callable[[], object]:
        return lambda: [np.corrcoef(rng.permutation(y), d) for _ in range(few)]

    def gorodkin(y: np.ndarray, d: np.ndarray) -> Callable[[], object]:
        def one() -> float:
            table = np.bincount(rng.permutation(y) * 10 + d, minlength=100).reshape(10, 10)
            t, p = table.sum(1), table.sum(0)
            return (table.trace() * n - t @ p) / np.sqrt(float(n**2 - t @ t) * float(n**2 - p @ p))

        return lambda: [one() for _ in range(few)]

    def contest(what: str, mine: Callable, peer: str, theirs: Callable, wanted: int) -> Contest:
        what = f"{many:,} permutations of {what}, {n:,} rows"
        return Contest(what, mine, peer, theirs, f"≥ {wanted:,} ×", wanted, ours_runs=3, their_share=few / many)

    loop = "a NumPy loop that shuffles"
    return [
        contest("accuracy", ours("accuracy", truth=truth, prediction=decided), loop, accuracies(truth, decided), 1000),
        contest("mcc", ours("mcc", truth=truth, prediction=decided), loop, correlations(truth, decided), 1000),
        contest(
            "accuracy, k = 10",
            ours("accuracy", truth=classes, prediction=guesses),
            loop,
            accuracies(classes, guesses),
            40,
        ),
        contest("mcc, k = 10", ours("mcc", truth=classes, prediction=guesses), loop, gorodkin(classes, guesses), 40),
        contest(
            "auc",
            ours("auc", truth=truth, score=score),
            "scikit-learn roc_auc_score",
            lambda: [sk.roc_auc_score(rng.permutation(truth), score) for _ in range(few)],
            30,
        ),
    ]


def _thresholds(n: int) -> list[Contest]:
    rng = np.random.default_rng(12)
    score = rng.beta(1, 6, n)
    truth = rng.random(n) < score
    table = stakes.ScoreTable.from_rows(score, truth)
    pricing = Pricing(stakes.Costs(miss=5, false_alarm=1))
    return [
        Contest(
            f"best threshold with its corrected cost, {n:,} distinct scores, {RESAMPLES:,} resamples",
            lambda: decide_by_cost(table, pricing, USUAL, True),
            "stakes, one exact auc of the same rows",
            lambda: stakes.metrics.auc(truth, score),
            "≤ 15 ×",
            at_most=15,
            their_runs=5,
        )
    ]


def _rising_curve(n: int) -> list[Contest]:
    rng = np.random.default_rng(6)
    labels = rng.random(n) < 0.2 + 0.6 * np.linspace(0, 1, n)  # of rows in the order of their scores
    numbers = labels.astype(np.float64)
    return [
        Contest(
            f"pool adjacent violators, {n:,} sorted scores",
            lambda: pooled(labels).fitted(),
            "scipy isotonic_regression",
            lambda: isotonic_regression(numbers),
            "≤ 1 ×",
            at_most=1,
            their_runs=5,
        )
    ]


# ── memory and start-up ──────────────────────────────────────────────────────────────────────────────────────────
_PEAK = """
import numpy as np, resource, stakes
n = {n}
rng = np.random.default_rng(0)
score = rng.random(n)
truth = rng.random(n) < 0.3
stakes.evaluate(truth=truth[:2_000_000], score=score[:2_000_000]).to_rows()  # everything is loaded now
with open("/proc/self/status") as status:
    now = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")  # forget the peak so far
stakes.evaluate(truth=truth, score=score).to_rows()
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print((peak - now) * 1024 / score.nbytes)
"""


def memory(n: int) -> str:
    done = subprocess.run([sys.executable, "-c", _PEAK.format(n=n)], capture_output=True, text=True, check=True)
    times = float(done.stdout)
    what = f"evaluate(), every figure, {n:,} rows: peak extra memory"
    return row(
        what,
        f"{times * n * 8 / 1e6:.0f} MB",
        "the float64 score column",
        f"{n * 8 / 1e6:.0f} MB",
        f"{times:.1f} ×",
        "≤ 4 ×",
        times <= 4,
    )


_SYSTEM = """
import numpy as np, time, stakes
{made}
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
with open("/proc/self/clear_refs", "w") as forget:
    forget.write("5")
before, start = peak(), time.perf_counter()
system = stakes.System({arguments})
for name in system.models:
    system.component_costs(name).expected_limits
    system.bounds(name)
system.worth()
if system.joint is None:  # by tables, the dependence between all models is open too
    system.bounds()
print(time.perf_counter() - start, (peak() - before) / 1000)
"""

_VOTERS = """
names = [f"m{i}" for i in range(12)]
tables = {name: [[700 + 10 * i, 300 - 10 * i], [250, 750]] for i, name in enumerate(names)}
"""

_ROWS_OF_FIVE = """
n, rng = ROWS, np.random.default_rng(0)
y = rng.integers(0, 5, n)
rows = {"y": y, **{f"m{i}": np.where(rng.random(n) < 0.5 + 0.08 * i, y, rng.integers(0, 5, n)) for i in range(5)}}
prices = np.abs(np.subtract.outer(range(5), range(5))).tolist()
"""


def systems(n: int) -> list[Callable[[], str]]:
    """Component costs, bounds and worth of every model of a large system: seconds, and memory on top of the rows."""
    voters = (
        "classes=['1', '0'], models=tables, decide=f\"majority({', '.join(names)})\", "
        "costs=stakes.Costs(miss=5, false_alarm=1)"
    )
    of_five = (
        "rows, truth='y', models=[f'm{i}' for i in range(5)], decide='majority(m0, m1, m2, m3, m4)', "
        "costs=stakes.Costs(prices, [str(c) for c in range(5)])"
    )
    wanted = {
        "a system of 12 binary models under a majority, by tables": (_VOTERS, voters),
        f"a system of 5 models with 5 classes, {n:,} rows": (_ROWS_OF_FIVE.replace("ROWS", str(n)), of_five),
    }

    def measured(what: str, made: str, arguments: str) -> str:
        code = _SYSTEM.format(made=made, arguments=arguments)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        took, memory = map(float, done.stdout.split())
        shown = f"{took:.1f} s, {memory:.0f} MB on top"
        return row(f"{what}: all component costs, bounds and worth", shown, "", "", "", "≤ 10 s", took <= 10)

    return [functools.partial(measured, what, *parts) for what, parts in wanted.items()]


def in_spark(n: int) -> str:
    """Decisions by segment counted in Spark, against Spark's own count of the same groups."""
    what, wanted = f"Spark in local mode: decisions by segment, {n:,} rows", "≤ 1.5 ×"
    if shutil.which("java") is None:
        return f"| {what} | skipped: Spark needs Java 17 | | | | {wanted} | |"
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession, functions

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    quiet = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    session = quiet.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    shares = {"truth": 2, "said": 2, "site": 10}
    columns = [functions.floor(functions.rand(seed) * k).alias(name) for seed, (name, k) in enumerate(shares.items())]
    frame = session.range(n, numPartitions=4).select(*columns).cache()
    frame.count()
    line = Contest(
        what,
        lambda: stakes.count(frame, truth="truth", prediction="said", by="site"),
        "Spark groupBy().count()",
        lambda: frame.groupBy(*shares).count().collect(),
        wanted,
        at_most=1.5,
        ours_runs=9,
        their_runs=9,
    ).run()
    session.stop()
    return line


def cpu(code: str) -> float:
    """CPU seconds of a fresh interpreter, the best of nine."""
    best = float("inf")
    for _ in range(9):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def start_up() -> str:
    # installed packages have their bytecode; an editable checkout may not
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(Path(stakes.__file__).parent)], check=True)
    ours, theirs = cpu("import stakes; stakes.evaluate"), cpu("import numpy")
    return row(
        "import stakes; stakes.evaluate (CPU time)",
        f"{ours:.3f} s",
        "import numpy",
        f"{theirs:.3f} s",
        f"{ours / theirs:.2f} ×",
        "≤ 1.6 ×",
        ours / theirs <= 1.6,
    )


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES)
    return f"{model or platform.machine()}, Python {platform.python_version()}, {versions}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows; nothing is written")
    quick = parser.parse_args().quick
    n = 10**5 if quick else 10**7
    warm = np.linspace(0, 1, 1 << 20)
    stakes.metrics.auc(warm > 0.5, warm)  # loads what loads on first use
    lines = [
        "# Measured",
        "",
        f"{machine()}. Each contest runs both sides in turn and compares the best times (`make bench`).",
        "",
        "| what | stakes | peer | peer | ratio | wanted | met |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    compressions = [functools.partial(compression, n // 10, prevalence) for prevalence in (0.3, 0.01)]
    others = [*compressions, *systems(n), lambda: memory(max(n, 10**6)), lambda: in_spark(n), start_up]
    measured = (work() for work in [*(contest.run for contest in contests(n)), *others])
    for line in itertools.chain(measured, large_files.lines(10 * n, row)):
        lines.append(line)
        print(line, flush=True)
    if not quick:
        (HERE / "RESULTS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
