"""Tests of the demo's pure parts, and of what needs no Kafka."""
