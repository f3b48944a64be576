"""Tests of kproxy.pipeline.ingest that need no Spark."""
