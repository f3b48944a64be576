"""What the fuzzer runs: each target takes any bytes, and raises when kproxy does what it must never do."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from tests.fuzz.targets.target import Target

IN_PROCESS = ("frames", "otlp", "http", "config", "state")
"""The targets that run code of kproxy directly, by their names, which are those of their modules."""
LIVING = "process"
"""The target that sends its inputs to a whole process over sockets."""


def target(name: str) -> Target:
    """Return a target by its name; only its own part of kproxy is imported."""
    made: Callable[[], Target] = import_module(f"tests.fuzz.targets.{name}").make
    return made()
