"""The libraries that users bring work together in the versions that install today."""

import subprocess
import sys

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

import stakes

DATA = {"y": ["no", "yes", "yes", "no"], "p": [0.1, 0.8, 0.4, 0.3]}


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore")  # pyspark warns that it has not been tried with pandas 3
def test_spark_is_read_through_narwhals(spark):
    frame = spark.createDataFrame(list(zip(*DATA.values(), strict=True)), list(DATA)).repartition(3)
    counted = nw.from_native(frame).group_by("y").agg(nw.len().alias("n")).sort("y").collect()
    assert counted.rows() == [("no", 2), ("yes", 2)]
    ev = stakes.evaluate(frame, truth="y", score="p", positive="yes")
    assert ev.to_dict() == stakes.evaluate(DATA, truth="y", score="p", positive="yes").to_dict()


@pytest.mark.slow
def test_duckdb_is_read_through_narwhals():
    """In a process of its own: DuckDB 2.0 driven through Narwhals reports leaks when the interpreter ends."""
    code = f"""
import duckdb, narwhals as nw, polars as pl, stakes
data = {DATA!r}
relation = duckdb.from_arrow(pl.DataFrame(data).to_arrow())
counted = nw.from_native(relation).group_by("y").agg(nw.col("p").max()).sort("y").collect()
assert counted.rows() == [("no", 0.3), ("yes", 0.8)], counted.rows()
ev = stakes.evaluate(relation, truth="y", score="p", positive="yes")
assert ev.to_dict() == stakes.evaluate(data, truth="y", score="p", positive="yes").to_dict()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_pandas_and_polars_go_through_pyarrow_and_back():
    frame = pd.DataFrame(DATA)
    assert pl.from_pandas(frame).to_pandas().equals(frame)
