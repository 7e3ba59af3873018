"""Decisions by segment counted in Spark, against Spark's own count of the same groups."""

import os
import shutil
from collections.abc import Iterator

import stakes
from contest import Contest, Side, at_most


def pieces(n: int) -> Iterator[Contest]:
    """One contest; without Java it says so."""
    what = f"Spark in local mode: decisions by segment, {n:,} rows"
    if shutil.which("java") is None:
        raise RuntimeError("Spark needs Java 17")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession, functions

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    quiet = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    session = quiet.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        shares = {"truth": 2, "said": 2, "site": 10}
        columns = [functions.floor(functions.rand(i) * k).alias(name) for i, (name, k) in enumerate(shares.items())]
        frame = session.range(n, numPartitions=4).select(*columns).cache()
        frame.count()
        yield Contest(
            what,
            Side(
                '`count(frame, truth="truth", prediction="said", by="site")`',
                lambda: stakes.count(frame, truth="truth", prediction="said", by="site"),
            ),
            Side(
                'Spark `frame.groupBy("truth", "said", "site").count()`',
                lambda: frame.groupBy(*shares).count().collect(),
            ),
            at_most(1.5),
        )
    finally:
        session.stop()
