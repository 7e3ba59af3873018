"""Judge models by predictions that lie in a cluster: Spark counts them there, and only the counts come back.

Run it with ``spark-submit spark_job.py predictions.parquet counted.tally``. The counts are kept: those of another day
add to them. Intervals leave out whole patients, two models are compared on the rows that they share, and predicted
amounts are added up; no row comes here for any of it.
"""

import sys

from pyspark.sql import SparkSession

import stakes

if len(sys.argv) != 3:
    sys.exit("usage: spark-submit spark_job.py predictions.parquet counted.tally")
source, target = sys.argv[1:]
spark = SparkSession.builder.appName("stakes").getOrCreate()
predictions = spark.read.parquet(source)

counted = stakes.count(predictions, truth="truth", score="score", by="site")
patients = stakes.evaluate(predictions, truth="truth", score="score", cluster="patient")
models = stakes.compare(predictions, truth="truth", scores=["score", "other_score"])
amounts = stakes.evaluate(predictions, truth="amount", prediction="predicted_amount")
spark.stop()

counted.save(target)
print(stakes.Evaluation(counted))
print(patients["auc"])
print(models.conclusion)
print(amounts["mae"])
