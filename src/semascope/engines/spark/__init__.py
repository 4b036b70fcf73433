"""Spark: executors work on shards, the driver runs the loop."""

from semascope.engines.spark.engine import SparkEngine as SparkEngine
