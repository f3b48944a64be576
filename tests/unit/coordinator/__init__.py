"""Tests of kproxy.coordinator."""
