"""Tests of kproxy.demo.fleet."""
