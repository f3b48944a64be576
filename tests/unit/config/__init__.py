"""Tests of kproxy.config."""
