"""Tests of kproxy.delivery."""
