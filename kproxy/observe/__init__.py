"""Counters, metrics, events and logs: the hot path adds to plain integers, a scrape turns them into metrics."""
