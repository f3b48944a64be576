"""Tests of kproxy.pipeline that need no Spark; tests/pipeline has the others."""
