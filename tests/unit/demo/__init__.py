"""Tests of kproxy.demo, as far as it needs no Kafka."""
