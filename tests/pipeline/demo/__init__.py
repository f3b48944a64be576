"""Tests of `kproxy pipeline demo` on Spark."""
