"""Tests of kproxy.pipeline.findings that need no Spark."""
