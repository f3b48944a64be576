"""Runs kproxy with a configuration until it ends, and returns the exit code.

`kproxy serve` calls `run` once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import trio

from kproxy.app.process import Process
from kproxy.config.secret import secrets_of
from kproxy.errors import ConfigError
from kproxy.observe.counters import LogCounters
from kproxy.observe.logs import hide, logging_to_stderr

if TYPE_CHECKING:
    from kproxy.app.reloader import Read
    from kproxy.config import Config, Log

CONFIGURATION_ERROR = 2
SWITCH_INTERVAL = 0.0005
"""Seconds until a thread must let the relay have the interpreter. A scrape is rendered in a thread: with Python's own 5
ms, each of the relay's wake-ups meanwhile would be that late."""


def run(config: Config, reload: Read | None = None) -> int:
    """Serve until a signal; exit code 0 after a drain, 1 when a second signal cut it short, 2 for a bad setting.

    `reload` reads the configuration again, at SIGHUP.
    """
    hide(secrets_of(config.with_secrets))
    log = LogCounters()
    with logging_to_stderr(config.log.level, _format(config.log), log):
        sys.setswitchinterval(SWITCH_INTERVAL)
        return _run(Process(config, reload, log))


def _run(process: Process) -> int:
    try:
        return trio.run(process.live)
    except BaseExceptionGroup as group:
        mistakes, others = group.split(ConfigError)
        if mistakes is None or others is not None:
            raise
        for error in _leaves(mistakes):
            print(f"kproxy: {error}", file=sys.stderr)  # noqa: T201 - the CLI's form of an error, not a log line
        return CONFIGURATION_ERROR


def _format(log: Log) -> Literal["json", "console"]:
    if log.format == "auto":
        return "console" if sys.stderr is not None and sys.stderr.isatty() else "json"
    return log.format


def _leaves(group: BaseExceptionGroup[ConfigError]) -> Iterator[ConfigError]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
