"""Tests of kproxy.wire."""
