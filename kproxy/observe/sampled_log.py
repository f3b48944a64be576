"""The log of this process behind structlog: which events become lines, sums of the others, and the queue to the stream.

`kproxy.observe.logs` makes one when logging is configured, and asks it about every event.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Final, TextIO, TypeAlias

import structlog

from kproxy.observe.counters import LogCounters
from kproxy.observe.log_queue import LogQueue
from kproxy.observe.log_sampling import Kind, Sampling, Sum
from kproxy.observe.reasons import EXPLAINED

Event: TypeAlias = MutableMapping[str, Any]

LEVELS: Final[dict[str, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
_NAMES: Final = {number: name for name, number in LEVELS.items()}
_REASONS: Final = frozenset(map(str, EXPLAINED))


class SampledLog:
    """This process's log: the lines that clients cause without end are sampled, the others queued for the stream."""

    def __init__(
        self, stream: TextIO | None, counters: LogCounters, renderers: Sequence[structlog.types.Processor]
    ) -> None:
        """`renderers` make a line of an event."""
        self._renderers = renderers
        self._sampling = Sampling()
        self._lock = threading.RLock()
        self.queue = LogQueue(stream, counters, notice=self._notice, tick=self._write_sums, lock=self._lock)

    def admits(self, method: str, event: Event) -> bool:
        """Return whether to write an event; count it if not."""
        if self.queue.full() and LEVELS.get(method, 0) < logging.ERROR:
            self.queue.drop()
            return False
        kind, host = _kind(event), str(event.get("client", "")).rpartition(":")[0]
        with self._lock:
            waiting = self._sampling.waiting
            admitted = self._sampling.admits(kind, time.monotonic(), host=host, level=LEVELS.get(method, 0))
            first = self._sampling.waiting == 1 and not waiting
        if first:  # the thread is to write its sum in time
            self.queue.wake()
        return admitted

    def close(self, seconds: float) -> None:
        """Write the sums that are not due yet, and all that is queued; wait at most this long for a reader."""
        self._write_sums(early=True)
        self.queue.close(seconds)

    def _write_sums(self, *, early: bool = False) -> float | None:
        """Write the sums that are due; return when the next one is."""
        with self._lock:
            sums = self._sampling.sums(time.monotonic(), early=early)
            due = self._sampling.due()
        for each in sums:
            self.queue.put(self._line(each.level, "lines left out", _shown(each)))
        return due

    def _notice(self, lost: int) -> str:
        why = {"lines": lost, "reason": "they were written faster than they were read"}
        return self._line(logging.WARNING, "lines were dropped", why)

    def _line(self, level: int, event: str, fields: Mapping[str, object]) -> str:
        rendered: Any = {"event": event, **fields}
        for renderer in self._renderers:
            rendered = renderer(None, _NAMES[level], rendered)
        return f"{rendered}\n"


def _kind(event: Event) -> Kind:
    """Return what the event's lines have in common: never a text that a client chooses."""
    reason = str(event.get("reason", ""))
    return Kind(
        str(event.get("logger") or event.get("event", "")),
        str(event.get("cluster", "")),
        reason if reason in _REASONS else "",
    )


def _shown(left_out: Sum) -> dict[str, object]:
    kind = {"of": left_out.kind.event, "cluster": left_out.kind.cluster, "reason": left_out.kind.reason}
    found = {"lines": left_out.lines, "seconds": left_out.seconds, "clients": left_out.hosts}
    return {key: value for key, value in (kind | found).items() if value}
