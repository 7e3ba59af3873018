"""Questions that Spark counts, each against the plain group-by or sums that it needs, written by hand."""

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial

import alone
import stakes
from contest import Line, Measurement, Side, at_most, in_turn

WANTED = at_most(1.5)
HARD = (
    "the table is looked at several times (checks and sums, bins, what is around the median, rows that can carry a "
    "figure, how many clusters there are), and bins of the fixed grid are many more groups than those written by hand"
)

QUESTIONS = {
    "decisions by segment": (
        '`count(frame, truth="truth", prediction="said", by="site")`',
        '`frame.groupBy("truth", "said", "site").count()`',
    ),
    "scores of two classes": (
        '`evaluate(frame, truth="truth", score="score").to_rows()`',
        "`frame.groupBy(truth, bin of the score)`: rows, sums of both losses and of their squares",
    ),
    "predicted numbers": (
        '`evaluate(frame, truth="value", prediction="guess").to_rows()`',
        "`frame.agg(…)`: 14 sums of powers and products; then `frame.groupBy(bin of the error).count()`",
    ),
    "two models' decisions compared": (
        '`compare(frame, truth="truth", predictions=["said", "other"]).to_rows()`',
        '`frame.groupBy("truth", "said", "other").count()`',
    ),
    "decisions in a million clusters": (
        '`evaluate(frame, truth="truth", prediction="said", cluster="case").to_rows()`',
        '`frame.groupBy("case", "truth", "said").count()`, then by 2,000 groups of cases',
    ),
}


def pieces(n: int) -> Iterator[Measurement]:
    yield _measured("decisions by segment", n)


def every_question(n: int) -> Iterator[Measurement]:
    yield from (_measured(question, n) for question in QUESTIONS)


def _measured(question: str, n: int) -> Measurement:
    what = f"Spark in local mode: {question}, {n:,} rows"
    ours, theirs = QUESTIONS[question]

    def lines() -> list[Line]:
        if shutil.which("java") is None:
            return [Line(what, ours, theirs, "left out: Spark needs Java 17", WANTED)]
        mine, peer = alone.measured("spark.both", question, n).found  # a process of its own, which can be ended
        return [Line.of(what, f"{mine:.3f} s: {ours}", f"{peer:.3f} s: Spark {theirs}", mine / peer, WANTED, HARD)]

    return Measurement(what, lines, WANTED)


# ── the work, in a process of its own ────────────────────────────────────────────────────────────────────────────
def both(question: str, n: int) -> Callable[[], list[float]]:
    """The best times of stakes and of what is written by hand."""
    frame = _frame(n)
    asked: dict[str, Callable[[], object]] = {
        "decisions by segment": partial(stakes.count, frame, truth="truth", prediction="said", by="site"),
        "scores of two classes": lambda: stakes.evaluate(frame, truth="truth", score="score").to_rows(),
        "predicted numbers": lambda: stakes.evaluate(frame, truth="value", prediction="guess").to_rows(),
        "two models' decisions compared": lambda: stakes.compare(
            frame, truth="truth", predictions=["said", "other"]
        ).to_rows(),
        "decisions in a million clusters": lambda: stakes.evaluate(
            frame, truth="truth", prediction="said", cluster="case"
        ).to_rows(),
    }
    written: dict[str, Callable[[], object]] = {
        "decisions by segment": lambda: frame.groupBy("truth", "said", "site").count().collect(),
        "scores of two classes": partial(_bins_by_hand, frame),
        "predicted numbers": partial(_sums_by_hand, frame),
        "two models' decisions compared": lambda: frame.groupBy("truth", "said", "other").count().collect(),
        "decisions in a million clusters": partial(_clusters_by_hand, frame),
    }
    sides = Side("", asked[question]), Side("", written[question])
    return lambda: in_turn(*sides)


def _frame(n: int) -> object:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession, functions

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    quiet = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    session = quiet.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    sizes = {"truth": 2, "said": 2, "other": 2, "site": 10, "case": 10**6}
    columns = [functions.floor(functions.rand(i) * k).alias(name) for i, (name, k) in enumerate(sizes.items())]
    columns += [functions.rand(10).alias("score"), functions.randn(11).alias("value")]
    columns += [(functions.randn(11) + functions.randn(12)).alias("guess")]
    frame = session.range(n, numPartitions=4).select(*columns).cache()
    frame.count()
    return frame


def _bins_by_hand(frame: object) -> object:
    from pyspark.sql import functions as f

    brier, log = (
        f.pow(f.col("truth") - f.col("score"), 2),
        -f.log(f.when(f.col("truth") == 1, f.col("score")).otherwise(1 - f.col("score"))),
    )
    sums = [f.count("*"), f.sum(brier), f.sum(brier * brier), f.sum(log), f.sum(log * log)]
    return frame.groupBy("truth", f.floor(f.col("score") * 2**15)).agg(*sums).toPandas()


def _sums_by_hand(frame: object) -> object:
    from pyspark.sql import functions as f

    t, p = f.col("value"), f.col("guess")
    e = t - p
    parts = (t, p, t * t, p * p, t * p, e, e * e, e * e * e, e * e * e * e, f.abs(e), t * e, p * e, t * t * t)
    sums = frame.agg(f.count("*"), *(f.sum(part) for part in parts)).collect()
    return sums, frame.groupBy(f.floor(f.abs(e) * 2**10)).count().toPandas()


def _clusters_by_hand(frame: object) -> object:
    from pyspark.sql import functions as f

    each = frame.groupBy("case", "truth", "said").count()
    return each.groupBy(f.col("case") % 2000, "truth", "said").agg(f.sum("count")).toPandas()
