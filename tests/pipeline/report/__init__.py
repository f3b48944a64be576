"""Tests of kproxy.pipeline.report on Spark, and of its page in a browser."""
