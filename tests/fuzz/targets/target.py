"""The interface of a target, and `run`, which raises what kproxy itself has survived and logged."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping, Sequence
from typing import Any, NoReturn, Protocol

import structlog


class ViolationError(AssertionError):
    """kproxy has done what it must never do, without an exception of its own."""


class Target(Protocol):
    """A part of kproxy, and an oracle for it."""

    kinds: int
    """How many kinds of steps its scripts have, from 0 on."""
    seeds: Sequence[bytes]
    """Valid inputs, from which others are made."""
    most: int
    """The most bytes of an input."""

    def run(self, data: bytes) -> None:
        """Take any bytes; raise for what kproxy must never do. An input does not depend on those before it."""

    def close(self) -> None:
        """End what it has started, and remove its files."""


_logged: list[BaseException] = []


def run(target: Target, data: bytes) -> None:
    """Run an input; raise what the target raises, or else the first exception that kproxy has logged meanwhile.

    kproxy survives its own faults and logs them with their traceback, so a fuzzer would not see them.
    """
    _logged.clear()
    target.run(data)
    if _logged:
        raise _logged[0]


def faults_are_noted() -> None:
    """Have `run` see what kproxy logs; no line is printed."""
    structlog.configure(processors=[_noted], cache_logger_on_first_use=False)


def _noted(_logger: object, method: str, event: MutableMapping[str, Any]) -> NoReturn:
    """Note the logged exception, where there is one; drop the line."""
    given = event.get("exc_info") or method == "exception"
    error = given[1] if isinstance(given, tuple) else sys.exception() if given is True else given
    if isinstance(error, BaseException):
        _logged.append(error)
    raise structlog.DropEvent
