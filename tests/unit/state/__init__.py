"""Tests of kproxy.state."""
