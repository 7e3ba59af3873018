"""Judge a model by predictions that lie in a cluster: Spark counts them there, and only the counts come back.

Run it with ``spark-submit spark_job.py predictions.parquet counted.tally``. The counts are kept: those of another day
add to them.
"""

import sys

from pyspark.sql import SparkSession

import stakes

source, target = sys.argv[1:]
spark = SparkSession.builder.appName("stakes").getOrCreate()
counted = stakes.count(spark.read.parquet(source), truth="truth", score="score", by="site")
spark.stop()

counted.save(target)
print(stakes.Evaluation(counted))
