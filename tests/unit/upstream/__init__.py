"""Tests of kproxy.upstream: pure parts without sockets, the rest against scripted brokers."""
