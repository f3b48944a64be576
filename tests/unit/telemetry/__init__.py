"""Tests of kproxy.telemetry."""
