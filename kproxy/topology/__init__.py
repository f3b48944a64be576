"""Finds the upstream cluster's nodes, which of them are reachable, and what changed: pure, with a watcher around it."""
