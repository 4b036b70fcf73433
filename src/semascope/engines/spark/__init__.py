"""Spark engine: executors process shards, the driver runs the loop."""

from semascope.engines.spark.engine import SparkEngine as SparkEngine
