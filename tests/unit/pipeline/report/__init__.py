"""Tests of kproxy.pipeline.report without Spark."""
