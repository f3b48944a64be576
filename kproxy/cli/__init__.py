"""The command line: parse, call, print. Each command imports its libraries itself, so `kproxy --version` is quick."""

from kproxy.cli.root import main

__all__ = ["main"]
