"""The commands: parse, call, print. Each imports what it needs itself, so that `kproxy --version` stays quick."""

from kproxy.cli.root import main

__all__ = ["main"]
