"""What several test files start once."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def spark():
    """Start a real Spark in this process, with a few small partitions."""
    if shutil.which("java") is None:
        words = "Spark needs Java 17: install openjdk-17-jre-headless"
        if os.environ.get("CI"):
            pytest.fail(words)
        pytest.skip(words)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield session
    session.stop()
