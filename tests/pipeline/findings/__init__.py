"""Tests of kproxy.pipeline.findings on Spark."""
