"""The log of this process behind structlog: which events become lines, sums of the others, and the queue to the stream.

`kproxy.observe.logs` makes one when logging is configured, and asks it about every event.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Final, TextIO, TypeAlias

import structlog

from kproxy.observe.counters import LogCounters
from kproxy.observe.log_queue import LogQueue
from kproxy.observe.log_sampling import FirstOnly, Kind, Sampling, Sum
from kproxy.observe.reasons import EXPLAINED, OF_BROKERS

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
_END: Final = "connection ended"


class SampledLog:
    """This process's log: the lines that clients cause without end are sampled, the others queued for the stream."""

    def __init__(
        self, stream: TextIO | None, counters: LogCounters, renderers: Sequence[structlog.types.Processor]
    ) -> None:
        """`renderers` make a line of an event."""
        self._renderers = renderers
        self._sampling = Sampling()
        self._faults = Sampling(FirstOnly)
        """Of connections that end by a broker's fault."""
        self._lock = threading.RLock()
        self.queue = LogQueue(stream, counters, notice=self._notice, tick=self._write_sums, lock=self._lock)

    def admits(self, method: str, event: Event) -> bool:
        """Return whether to write an event; count it if not."""
        if self.queue.full() and LEVELS.get(method, 0) < logging.ERROR:
            self.queue.drop()
            return False
        level, now = LEVELS.get(method, 0), time.monotonic()
        sampling, kind = self._sampling, _kind(event)
        if kind.reason in OF_BROKERS and event.get("event") == _END:
            sampling, kind = self._faults, kind._replace(node=event.get("node"))
        host, detail = str(event.get("client", "")).rpartition(":")[0], str(event.get("detail", ""))
        with self._lock:
            waiting = sampling.waiting
            admitted = sampling.admits(kind, now, host=host, level=level, detail=detail)
            began = sampling.waiting > waiting
        if began:  # the thread is to write its sum in time
            self.queue.wake()
        return admitted

    def close(self, seconds: float) -> None:
        """Write the sums that are not due yet, and all that is queued; wait at most this long for a reader."""
        self._write_sums(early=True)
        self.queue.close(seconds)

    def _write_sums(self, *, early: bool = False) -> float | None:
        """Write the sums that are due; return when the next one is."""
        now, both = time.monotonic(), (self._sampling, self._faults)
        with self._lock:
            sums = [each for sampling in both for each in sampling.sums(now, early=early)]
            due = min(sampling.due() for sampling in both)
        for each in sums:  # few, and what they count is nowhere else in the log
            self.queue.put(self._line(each.level, "lines left out", _shown(each)), urgent=True)
        return None if due == math.inf else due

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
    of, cluster, reason, node = left_out.kind
    kind = {"of": of, "cluster": cluster, "node": node, "reason": reason}
    found = {"lines": left_out.lines, "seconds": left_out.seconds, "clients": left_out.hosts, "detail": left_out.detail}
    return {key: value for key, value in (kind | found).items() if value not in ("", {}, None)}
