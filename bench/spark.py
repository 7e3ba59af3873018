"""Decisions by segment counted in Spark, against Spark's own count of the same groups."""

import os
import shutil
from collections.abc import Callable, Iterator

import alone
import stakes
from contest import Line, Measurement, Side, at_most, in_turn

WANTED = at_most(1.5)


def pieces(n: int) -> Iterator[Measurement]:
    what = f"Spark in local mode: decisions by segment, {n:,} rows"
    ours = '`count(frame, truth="truth", prediction="said", by="site")`'
    theirs = 'Spark `frame.groupBy("truth", "said", "site").count()`'

    def lines() -> list[Line]:
        if shutil.which("java") is None:
            return [Line(what, ours, theirs, "left out: Spark needs Java 17", WANTED)]
        mine, peer = alone.measured("spark.both", n).found  # a process of its own, which can be ended at any time
        return [Line.of(what, f"{mine:.3f} s: {ours}", f"{peer:.3f} s: {theirs}", mine / peer, WANTED)]

    yield Measurement(what, lines, WANTED)


# ── the work, in a process of its own ────────────────────────────────────────────────────────────────────────────
def both(n: int) -> Callable[[], list[float]]:
    """The best times of stakes and of Spark's own count."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession, functions

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    quiet = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    session = quiet.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    shares = {"truth": 2, "said": 2, "site": 10}
    columns = [functions.floor(functions.rand(i) * k).alias(name) for i, (name, k) in enumerate(shares.items())]
    frame = session.range(n, numPartitions=4).select(*columns).cache()
    frame.count()
    ours = Side("", lambda: stakes.count(frame, truth="truth", prediction="said", by="site"))
    theirs = Side("", lambda: frame.groupBy(*shares).count().collect())
    return lambda: in_turn(ours, theirs)
