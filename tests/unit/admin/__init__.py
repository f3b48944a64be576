"""Tests of kproxy.admin, on real sockets."""
