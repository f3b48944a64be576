"""Attacks on a kproxy process, each with a healthy client beside it: with figures (`make attack`), and as tests."""
