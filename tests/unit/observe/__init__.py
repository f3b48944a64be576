"""Tests of kproxy.observe."""
