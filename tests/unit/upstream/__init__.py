"""Tests of kproxy.upstream: pure parts without sockets, the rest against brokers that follow a script."""
