"""Tests of kproxy.telemetry.apis."""
