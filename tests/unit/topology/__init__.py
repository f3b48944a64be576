"""Tests of kproxy.topology."""
