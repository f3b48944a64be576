# This module is pure (no I/O, no clock).
"""kproxy's own troubles: faults in its code, by place, and what the system refused it. Which count, which are logged.

Every room notes them through `kproxy.observe.faults`. /metrics and /readyz show them, and probes ask whether a failure
was kproxy's own.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import inf
from types import MappingProxyType
from typing import Final

LOG_SECONDS: float = 60.0
"""The shortest time between two log lines about one place. A fault that repeats would fill the disk with tracebacks."""
RECENT_SECONDS: float = 60.0
"""How long a fault degrades readiness. No restart waits longer, so what fails again and again stays degraded."""
SHORT_SECONDS: float = 15.0
"""How long a shortage counts as lasting after it was last met. Listeners and watchers meet it more often than that."""


class Where(StrEnum):
    """A place with a boundary: no fault inside it goes beyond. The values of the label `where`."""

    REQUEST = "request"
    """A connection's frames. The connection ends with the reason `internal_error`."""
    CLOSE = "close"
    """The end of a connection."""
    ADMIT = "admit"
    """The start of a connection."""
    ACCEPT = "accept"
    """A listener."""
    PUMP = "pump"
    """The loop that serves all connections."""
    SWEEP = "sweep"
    """The search for connections that stand still."""
    LINGERING = "lingering"
    """Client sockets that are being closed."""
    WATCHER = "watcher"
    """The watch over an upstream cluster."""
    UPSTREAM = "upstream"
    """A connection of kproxy's own to a broker."""
    TOPOLOGY = "topology"
    """A new epoch, which waits for the floor."""
    REBOOTSTRAP = "rebootstrap"
    """The drain of connections of an earlier epoch."""
    FAILOVER = "failover"
    """The look whether a failover is due."""
    AGREEMENT = "agreement"
    """The orders that replicas give each other."""
    RETIRED_NODES = "retired_nodes"
    """The end of listeners whose node is gone."""
    GROUPS = "groups"
    """The timers of hosted groups."""
    TOKEN_KEYS = "token_keys"
    """The keys of clients' tokens."""
    UNMAPPED_NODES = "unmapped_nodes"
    """The search for ports of nodes without one."""
    STATE = "state"
    """What is stored for the next start."""
    TELEMETRY = "telemetry"
    """Client instances, and changes of subscriptions."""
    DELIVERY = "delivery"
    """A receiver of telemetry, or a destination of events."""
    EVENTS = "events"
    """The event stream."""
    ADMIN = "admin"
    """The admin port."""
    RELOAD = "reload"
    """A reload at SIGHUP."""
    DRAIN = "drain"
    """The end of the process."""


CONTAINED: Final = frozenset({Where.REQUEST})
"""Places whose fault a client's bytes may cause, and only its connection feels: readiness is not its to change."""

DESCRIPTORS: Final = "out of descriptors: raise ulimit -n"
_MEMORY: Final = "the system has no memory for sockets: free some, or raise net.ipv4.tcp_mem"
SHORTAGES: Final[Mapping[int, tuple[str, str]]] = MappingProxyType(
    {
        errno.EMFILE: ("EMFILE", DESCRIPTORS),
        errno.ENFILE: ("ENFILE", "the system is out of descriptors: raise fs.file-max"),
        errno.ENOBUFS: ("ENOBUFS", _MEMORY),
        errno.ENOMEM: ("ENOMEM", _MEMORY),
    }
)
"""The errors by which the system refuses kproxy a descriptor or memory: their names, and what to do."""

_BASE_SECONDS: Final = 0.1
_LONGEST_SECONDS: Final = 30.0
_MAX_DOUBLINGS: Final = 16


def restart_delay(failures: int, rand: float, *, longest: float = _LONGEST_SECONDS) -> float:
    """Return the seconds until what failed so often in a row is started again; `rand` is in [0, 1).

    From half of a span that doubles up to all of it: never at once, since what just failed would fail again.
    """
    span = min(longest, float(_BASE_SECONDS * 2 ** min(failures - 1, _MAX_DOUBLINGS)))
    return span * (1 + rand) / 2


class LogLimit:
    """At most one log line in `LOG_SECONDS` about one subject; the next line says how many were left out."""

    __slots__ = ("_left_out", "_logged_at")

    def __init__(self) -> None:
        self._logged_at: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def due(self, about: str, now: float) -> int | None:
        """Return how many lines about the subject were left out before this one; None if this one is left out too."""
        if now - self._logged_at.get(about, -inf) < LOG_SECONDS:
            self._left_out[about] = self._left_out.get(about, 0) + 1
            return None
        self._logged_at[about] = now
        return self._left_out.pop(about, 0)


class Troubles:
    """The process' own troubles since its start; `now` is in seconds, monotonic."""

    __slots__ = ("_failed_at", "_limit", "_short_at", "_short_of", "errors", "shortages")

    def __init__(self) -> None:
        self.errors: dict[str, int] = {where.value: 0 for where in Where}
        """Faults by place, from 0, so that Prometheus sees the first one."""
        self.shortages: dict[str, int] = {name: 0 for name, _ in SHORTAGES.values()}
        """How often the system refused kproxy a descriptor or memory, by the error's name."""
        self._failed_at: dict[Where, float] = {}
        self._short_at = -inf
        self._short_of = 0
        self._limit = LogLimit()

    def fault(self, where: Where, now: float) -> int | None:
        """Count a fault; return as `LogLimit.due`."""
        self.errors[where.value] += 1
        self._failed_at[where] = now
        return self._limit.due(where.value, now)

    def failing(self, now: float) -> Sequence[Where]:
        """Return the places that degrade readiness now, in the enum's order."""
        recent = {where for where, at in self._failed_at.items() if now - at < RECENT_SECONDS}
        return [where for where in Where if where in recent - CONTAINED]

    def short(self, number: int, now: float) -> int | None:
        """Count a shortage by its errno, a key of `SHORTAGES`; return as `LogLimit.due`."""
        name, _ = SHORTAGES[number]
        self.shortages[name] += 1
        self._short_at, self._short_of = now, number
        return self._limit.due(name, now)

    def shortage(self, now: float) -> str | None:
        """Return what kproxy is short of and what to do, while the shortage lasts; else None."""
        return SHORTAGES[self._short_of][1] if now - self._short_at < SHORT_SECONDS else None
