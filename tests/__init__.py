"""The tests; docs/testing.md tells what runs where."""
