"""Questions that Spark counts, each against the plain group-by or sums that it needs, written by hand."""

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import alone
import stakes
from contest import Line, Measurement, Side, at_most, in_turn, number

WANTED = at_most(1.5)
WARM = 3
"""So often all sides run before they are timed: Java compiles what runs often, and a first run is mostly that."""
HARD = (
    "beside what is counted by hand the table is looked at for what is wrong with it, for how many different scores or "
    "clusters there are, and for what lies around medians"
)

QUESTIONS = {
    "decisions by segment": (
        '`count(frame, truth="truth", prediction="said", by="site")`',
        '`frame.groupBy("truth", "said", "site").count()`',
    ),
    "scores of two classes": (
        '`evaluate(frame, truth="truth", score="score").to_rows()`',
        "`frame.groupBy(bin of the score)`, 2¹⁵ bins in each power of two: rows, positives; "
        '`frame.groupBy("truth")`: sums of both losses and of their squares',
    ),
    "predicted numbers": (
        '`evaluate(frame, truth="value", prediction="guess").to_rows()`',
        "`frame.agg(…)`: 12 sums, 3 ends; `frame.agg(…)`: 58 sums of products that intervals need; "
        "`frame.groupBy(bin).count()` of the error and of the distance from the mean, 2¹¹ bins in each power of two",
    ),
    "two models' decisions compared": (
        '`compare(frame, truth="truth", predictions=["said", "other"]).to_rows()`',
        '`frame.groupBy("truth", "said", "other").count()`',
    ),
    "decisions in a million clusters": (
        '`evaluate(frame, truth="truth", prediction="said", cluster="case").to_rows()`',
        '`frame.agg(count_distinct("case"))`; `frame.groupBy("truth", "said", one of 2,000 groups of cases).count()`',
    ),
}
COARSE = {
    "scores of two classes": "`frame.groupBy(truth, floor(score · 2¹⁵))`: rows, sums of losses and of their squares",
    "predicted numbers": "`frame.agg(…)`: 14 sums; `frame.groupBy(floor(|error| · 2¹⁰)).count()`",
    "decisions in a million clusters": '`frame.groupBy("truth", "said", one of 2,000 groups of cases).count()`',
}
"""Less than the question needs, written by hand: other bins, no intervals, or nobody counts the clusters."""


def pieces(n: int) -> Iterator[Measurement]:
    yield _measured("decisions by segment", n)


def every_question(n: int) -> Iterator[Measurement]:
    yield from (_measured(question, n) for question in QUESTIONS)


def _measured(question: str, n: int) -> Measurement:
    what = f"Spark in local mode, a warm session: {question}, {n:,} rows"
    ours, theirs = QUESTIONS[question]

    def lines() -> list[Line]:
        if shutil.which("java") is None:
            return [Line(what, ours, theirs, "left out: Spark needs Java 17", WANTED)]
        mine, peer, *coarse = alone.measured("spark.both", question, n).found  # a process of its own, to be ended
        shown = f"{mine:.3f} s: {ours}"
        found = [Line.of(what, shown, f"{peer:.3f} s: Spark {theirs}", mine / peer, WANTED, HARD)]
        for less in coarse:
            ratio = f"{number(WANTED.rounded(mine / less))} ×"
            found.append(Line(f"{what}, beside less", shown, f"{less:.3f} s: Spark {COARSE[question]}", ratio))
        return found

    return Measurement(what, lines, WANTED)


# ── the work, in a process of its own ────────────────────────────────────────────────────────────────────────────
def both(question: str, n: int) -> Callable[[], list[float]]:
    """The best times of stakes, of what is written by hand, and of less than that."""
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
    written: dict[str, list[Callable[[], object]]] = {
        "decisions by segment": [lambda: frame.groupBy("truth", "said", "site").count().collect()],
        "scores of two classes": [partial(_bins_by_hand, frame), partial(_coarse_bins, frame)],
        "predicted numbers": [partial(_numbers_by_hand, frame), partial(_coarse_sums, frame)],
        "two models' decisions compared": [lambda: frame.groupBy("truth", "said", "other").count().collect()],
        "decisions in a million clusters": [partial(_clusters_by_hand, frame), partial(_groups_of_cases, frame)],
    }
    sides = [Side("", action) for action in (asked[question], *written[question])]
    for _ in range(WARM):
        for side in sides:
            side.action()
    return lambda: in_turn(*sides)


def _frame(n: int) -> Any:
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


def _lower_edge(size: Any, bits: int, up: Any = None) -> Any:
    """The edge of the bin: a power of two, which is what a sum with something large leaves, and steps of 2^-bits."""
    from pyspark.sql import functions as f

    large = size * float(2**52 + 1)
    near = large - (large - size)
    power = f.when(near > size, near / 2).otherwise(near)
    steps = size / power * 2**bits
    whole = f.floor(steps) if up is None else f.when(up, f.ceil(steps)).otherwise(f.floor(steps))
    return f.when(size > 0, whole / 2**bits * power).otherwise(0.0)


def _losses() -> list[Any]:
    from pyspark.sql import functions as f

    brier, log = (
        f.pow(f.col("truth") - f.col("score"), 2),
        -f.log(f.when(f.col("truth") == 1, f.col("score")).otherwise(1 - f.col("score"))),
    )
    return [f.sum(brier), f.sum(brier * brier), f.sum(log), f.sum(log * log)]


def score_bins(frame: Any) -> Any:
    """The bins of the fixed grid, of which those above ½ mirror those below: rows and positives."""
    from pyspark.sql import functions as f

    score, above = f.col("score"), f.col("score") > 0.5
    size = _lower_edge(f.least(score, 1 - score), 15, above)
    edge = f.when(above, 1 - size).otherwise(size).alias("edge")
    return frame.groupBy(edge).agg(f.count("*").alias("rows"), f.sum("truth").alias("positives")).toPandas()


def size_bins(frame: Any, size: Any) -> Any:
    """The bins of sizes: how many lie in each."""
    return frame.groupBy(_lower_edge(size, 11).alias("edge")).count().toPandas()


def _bins_by_hand(frame: Any) -> object:
    return score_bins(frame), frame.groupBy("truth").agg(*_losses()).collect()


def _coarse_bins(frame: Any) -> object:
    from pyspark.sql import functions as f

    return frame.groupBy("truth", f.floor(f.col("score") * 2**15)).agg(f.count("*"), *_losses()).toPandas()


def _numbers_by_hand(frame: Any) -> object:
    from pyspark.sql import functions as f

    t, p = f.col("value"), f.col("guess")
    size, e, logs = f.abs(t - p), t - p, f.pow(f.log1p(t) - f.log1p(p), 2)
    parts = [f.sum(part) for part in (t, p, t * t, p * p, t * p, size, e, e * e, logs, size / f.abs(t))]
    ends = f.min(t), f.min(p), f.max(size), f.count_if(t == 0)
    (sums,) = frame.agg(f.count("*"), f.avg(t).alias("mean"), *parts, *ends).collect()
    c, away = t - sums["mean"], f.abs(t - sums["mean"])
    terms = [f.lit(1.0), size, e, e * e, c, c * c, c * e, away, logs, size / f.abs(t)]
    more = [f.signum(c), f.pow(f.log1p(t) - f.log1p(f.lit(sums["mean"])), 2), away / f.abs(t)]
    rows = frame.select(*(term.alias(f"x{place}") for place, term in enumerate([*terms, *more])))
    pairs = itertools.combinations_with_replacement([f.col(f"x{place}") for place in range(len(terms))], 2)
    last = [f.sum(f"x{len(terms) + place}") for place in range(len(more))]
    products = rows.agg(*(f.sum(one * other) for one, other in pairs), *last, f.max("x7")).collect()
    return sums, products, size_bins(frame, size), size_bins(frame, away)


def _coarse_sums(frame: Any) -> object:
    from pyspark.sql import functions as f

    t, p = f.col("value"), f.col("guess")
    e = t - p
    parts = (t, p, t * t, p * p, t * p, e, e * e, e * e * e, e * e * e * e, f.abs(e), t * e, p * e, t * t * t)
    sums = frame.agg(f.count("*"), *(f.sum(part) for part in parts)).collect()
    return sums, frame.groupBy(f.floor(f.abs(e) * 2**10)).count().toPandas()


def _clusters_by_hand(frame: Any) -> object:
    from pyspark.sql import functions as f

    return frame.agg(f.count_distinct("case")).collect(), _groups_of_cases(frame)


def _groups_of_cases(frame: Any) -> object:
    from pyspark.sql import functions as f

    return frame.groupBy("truth", "said", f.col("case") % 2000).count().toPandas()
