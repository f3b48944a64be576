"""Tests of kproxy.coordinator.apis."""
