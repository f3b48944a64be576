# This module is pure (no I/O, no clock).
"""Decides which of many alike log lines are written, and sums up those that are left out.

`kproxy.observe.logs` asks it for every line. Clients can cause lines without end: each connection's end is one.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

BURST: Final = 100
"""The lines of one kind that are written at once."""
PER_SECOND: Final = 5.0
"""The lines of one kind that are written a second, when the burst is used up."""
SUM_SECONDS: Final = 5.0
"""How long lines that are left out are added up before their sum is written."""
FAULT_SECONDS: Final = 10.0
"""How long the faults that follow one of their kind are added up before their sum is written."""
MAX_KINDS: Final = 256
"""The kinds that are told apart; lines of further kinds count as one kind."""
MAX_HOSTS: Final = 32
"""The hosts that are counted for a kind: each with more than 1/32 of its lines is among them."""
MAX_DETAIL: Final = 4096
"""The characters of a detail that is kept for a sum. It is not cut: half of a secret could not be hidden."""
_SHOWN_HOSTS: Final = 3


class Kind(NamedTuple):
    """What makes lines alike: the event, its virtual cluster and its reason; empty where a line has none.

    `node` is the node at which connections ended by its fault; None for all other lines.
    """

    event: str
    cluster: str = ""
    reason: str = ""
    node: int | str | None = None


OTHERS: Final = Kind("of further kinds")


class Sum(NamedTuple):
    """Lines that were left out in `seconds`. `hosts`: the most frequent clients with the least number of lines each."""

    kind: Kind
    lines: int
    seconds: float
    hosts: dict[str, int]
    level: int
    """The highest level of these lines."""
    detail: str = ""
    """What the newest of them said."""


class _LeftOut:
    """The lines of one kind that were left out since `since`."""

    __slots__ = ("detail", "hosts", "level", "lines", "since")

    def __init__(self, now: float) -> None:
        self.begin(now)

    def begin(self, now: float) -> None:
        """Begin the next sum."""
        self.since = now
        self.lines = 0
        self.level = 0
        self.hosts: dict[str, int] = {}
        self.detail = ""

    def add(self, host: str, level: int, detail: str) -> None:
        """Count a line."""
        self.lines += 1
        self.level = max(self.level, level)
        self.detail = detail if len(detail) <= MAX_DETAIL else ""
        if host:
            self._count(host)

    def _count(self, host: str) -> None:
        """Count a host as Misra and Gries do: numbers are too small by at most 1/32 of all lines."""
        if host in self.hosts or len(self.hosts) < MAX_HOSTS:
            self.hosts[host] = self.hosts.get(host, 0) + 1
        else:
            self.hosts = {each: count - 1 for each, count in self.hosts.items() if count > 1}


class Burst(_LeftOut):
    """A burst of lines, then a few a second: a token bucket."""

    __slots__ = ("at", "tokens")

    def __init__(self, now: float) -> None:
        super().__init__(now)
        self.tokens = float(BURST)
        self.at = now

    @property
    def due(self) -> float:
        """When the sum is to be written, if lines are left out."""
        return self.since + SUM_SECONDS

    def admits(self, now: float) -> bool:
        """Return True for a line that is to be written."""
        self._fill(now)
        if self.tokens >= 1:
            self.tokens -= 1
            return True
        if not self.lines:
            self.begin(now)
        return False

    def is_quiet(self, now: float) -> bool:
        """Return True when all is as if there had been no line."""
        self._fill(now)
        return self.tokens >= BURST and not self.lines

    def _fill(self, now: float) -> None:
        self.tokens = min(BURST, self.tokens + max(now - self.at, 0.0) * PER_SECOND)
        self.at = now


class FirstOnly(_LeftOut):
    """The first line, and sums of those that follow, until there was none for `FAULT_SECONDS`."""

    __slots__ = ()

    def __init__(self, _: float) -> None:
        super().__init__(-math.inf)

    @property
    def due(self) -> float:
        """As of `Burst`."""
        return self.since + FAULT_SECONDS

    def admits(self, now: float) -> bool:
        """As of `Burst`."""
        quiet = self.is_quiet(now)
        if quiet:
            self.begin(now)
        return quiet

    def is_quiet(self, now: float) -> bool:
        """As of `Burst`."""
        return now >= self.due and not self.lines


class Sampling:
    """Which lines of each kind are written, by a rule for each; the others are summed. `now` is in seconds."""

    def __init__(self, rule: type[Burst | FirstOnly] = Burst) -> None:
        self._rule = rule
        self._buckets: dict[Kind, Burst | FirstOnly] = {}
        self.waiting = 0
        """The kinds with lines that are left out and not in a sum yet."""

    def admits(self, kind: Kind, now: float, *, host: str = "", level: int = 0, detail: str = "") -> bool:
        """Return True for a line that is to be written; count every other one. `host` is the client's."""
        bucket = self._bucket(kind, now)
        if bucket.admits(now):
            return True
        self.waiting += not bucket.lines
        bucket.add(host, level, detail)
        return False

    def due(self) -> float:
        """Return when the next sum is to be written; infinity while no line is left out."""
        return min((bucket.due for bucket in self._buckets.values() if bucket.lines), default=math.inf)

    def sums(self, now: float, *, early: bool = False) -> list[Sum]:
        """Return the sums that are due, or all if `early`; what they count is not counted again."""
        found = []
        for kind, bucket in self._buckets.items():
            if bucket.lines and (early or now >= bucket.due):
                found.append(_sum(kind, bucket, now))
                bucket.begin(now)
        self.waiting -= len(found)
        return found

    def _bucket(self, kind: Kind, now: float) -> Burst | FirstOnly:
        bucket = self._buckets.get(kind)
        if bucket is None:
            if len(self._buckets) >= MAX_KINDS:
                self._forget(now)
            if len(self._buckets) >= MAX_KINDS:
                kind = OTHERS
            bucket = self._buckets.setdefault(kind, self._rule(now))
        return bucket

    def _forget(self, now: float) -> None:
        """Forget the kinds whose lines would all be written again."""
        for kind, bucket in list(self._buckets.items()):
            if bucket.is_quiet(now):
                del self._buckets[kind]


def _sum(kind: Kind, left: _LeftOut, now: float) -> Sum:
    most = sorted(left.hosts.items(), key=lambda each: (-each[1], each[0]))[:_SHOWN_HOSTS]
    return Sum(kind, left.lines, round(now - left.since, 1), dict(most), left.level, left.detail)
