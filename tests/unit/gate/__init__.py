"""Unit tests of tests/gate."""
