"""Injected faults, for tests of applications: errors, delays and ended connections in place of what a broker does."""
