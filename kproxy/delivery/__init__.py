"""Delivers pushes and events to files or to a topic: bounded queues, retries, drops that are counted."""
