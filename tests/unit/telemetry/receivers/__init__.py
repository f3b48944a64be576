"""Tests of kproxy.telemetry.receivers."""
