# This module is pure (no I/O, no clock).
"""Decides which of many alike log lines are written, and sums up those that are left out.

`kproxy.observe.logs` asks it for every line. Clients can cause lines without end: each connection's end is one.
"""

from __future__ import annotations

from typing import Final, NamedTuple

BURST: Final = 100
"""The lines of one kind that are written at once."""
PER_SECOND: Final = 5.0
"""The lines of one kind that are written a second, when the burst is used up."""
SUM_SECONDS: Final = 5.0
"""How long lines that are left out are added up before their sum is written."""
MAX_KINDS: Final = 256
"""The kinds that are told apart; lines of further kinds count as one kind."""
MAX_HOSTS: Final = 32
"""The hosts that are counted for a kind: each with more than 1/32 of its lines is among them."""
_SHOWN_HOSTS: Final = 3


class Kind(NamedTuple):
    """What makes lines alike: the event, its virtual cluster and its reason; empty where a line has none."""

    event: str
    cluster: str = ""
    reason: str = ""


OTHERS: Final = Kind("of further kinds")


class Sum(NamedTuple):
    """Lines that were left out in `seconds`. `hosts`: the most frequent clients with the least number of lines each."""

    kind: Kind
    lines: int
    seconds: float
    hosts: dict[str, int]
    level: int
    """The highest level of these lines."""


class _Bucket:
    """A token bucket of one kind's lines, and what was left out since the last sum."""

    __slots__ = ("at", "hosts", "level", "lines", "since", "tokens")

    def __init__(self, now: float) -> None:
        self.tokens = float(BURST)
        self.at = now
        self.begin(now)

    def begin(self, now: float) -> None:
        """Begin the next sum."""
        self.since = now
        self.lines = 0
        self.level = 0
        self.hosts: dict[str, int] = {}

    def fill(self, now: float) -> None:
        self.tokens = min(BURST, self.tokens + max(now - self.at, 0.0) * PER_SECOND)
        self.at = now

    def leave_out(self, host: str, level: int, now: float) -> None:
        if not self.lines:
            self.begin(now)
        self.lines += 1
        self.level = max(self.level, level)
        if host:
            self._count(host)

    def _count(self, host: str) -> None:
        """Count a host as Misra and Gries do: numbers are too small by at most 1/32 of all lines."""
        if host in self.hosts or len(self.hosts) < MAX_HOSTS:
            self.hosts[host] = self.hosts.get(host, 0) + 1
        else:
            self.hosts = {each: count - 1 for each, count in self.hosts.items() if count > 1}


class Sampling:
    """The lines of each kind: a burst of them, then a few a second; the others are summed. `now` is in seconds."""

    def __init__(self) -> None:
        self._buckets: dict[Kind, _Bucket] = {}
        self.waiting = 0
        """The kinds with lines that are left out and not in a sum yet."""

    def admits(self, kind: Kind, now: float, *, host: str = "", level: int = 0) -> bool:
        """Return True for a line that is to be written; count every other one. `host` is the client's."""
        bucket = self._bucket(kind, now)
        bucket.fill(now)
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return True
        self.waiting += not bucket.lines
        bucket.leave_out(host, level, now)
        return False

    def due(self) -> float | None:
        """Return when the next sum is to be written; None while no line is left out."""
        return min((each.since + SUM_SECONDS for each in self._buckets.values() if each.lines), default=None)

    def sums(self, now: float, *, early: bool = False) -> list[Sum]:
        """Return the sums that are due, or all if `early`; what they count is not counted again."""
        found = []
        for kind, bucket in self._buckets.items():
            if bucket.lines and (early or now >= bucket.since + SUM_SECONDS):
                found.append(_sum(kind, bucket, now))
                bucket.begin(now)
        self.waiting -= len(found)
        return found

    def _bucket(self, kind: Kind, now: float) -> _Bucket:
        bucket = self._buckets.get(kind)
        if bucket is None:
            if len(self._buckets) >= MAX_KINDS:
                self._forget(now)
            if len(self._buckets) >= MAX_KINDS:
                kind = OTHERS
            bucket = self._buckets.setdefault(kind, _Bucket(now))
        return bucket

    def _forget(self, now: float) -> None:
        """Forget the kinds whose lines would all be written again."""
        for kind, bucket in list(self._buckets.items()):
            bucket.fill(now)
            if bucket.tokens >= BURST and not bucket.lines:
                del self._buckets[kind]


def _sum(kind: Kind, bucket: _Bucket, now: float) -> Sum:
    most = sorted(bucket.hosts.items(), key=lambda each: (-each[1], each[0]))[:_SHOWN_HOSTS]
    return Sum(kind, bucket.lines, round(now - bucket.since, 1), dict(most), bucket.level)
