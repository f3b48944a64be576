# This module is pure (no I/O, no clock).
"""Brokers that turn clients away: they end new connections before they have answered anything, for some time now.

A broker does so beyond `max.connections.per.ip`, which counts all clients as kproxy's one address. It can be reached
all the while, so no probe finds it. Connections and dials note such ends; /readyz warns of them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final, NamedTuple

ENOUGH: Final = 3
"""Ends that make a warning. One or two are an accident."""
LASTING_SECONDS: float = 5.0
"""How far apart the first and the last one are at least. A broker that stops ends many connections, but all at once."""
RECENT_SECONDS: float = 60.0
"""How long a warning stays after the last one. Clients that are turned away come again within seconds."""


class _Ends(NamedTuple):
    """Ends of one broker, each within `RECENT_SECONDS` of the one before: the first, the last, and how many."""

    since: float
    last: float
    number: int


class TurnedAway:
    """The ends of late by broker ("host:port"); `now` is in seconds, monotonic."""

    __slots__ = ("_ends",)

    def __init__(self) -> None:
        self._ends: dict[str, _Ends] = {}

    @property
    def brokers(self) -> Set[str]:
        """The brokers that are remembered: in Kubernetes they get new addresses again and again."""
        return self._ends.keys()

    def note(self, broker: str, now: float) -> None:
        """Note that a broker has ended a connection before it answered anything."""
        self._ends = {each: ends for each, ends in self._ends.items() if now - ends.last < RECENT_SECONDS}
        before = self._ends.get(broker, _Ends(now, now, 0))
        self._ends[broker] = _Ends(before.since, now, before.number + 1)

    def lately(self, now: float) -> Sequence[str]:
        """Return the brokers that do so now, in the order of their addresses."""
        return sorted(broker for broker, ends in self._ends.items() if _is_worth_a_warning(ends, now))


def _is_worth_a_warning(ends: _Ends, now: float) -> bool:
    lasts = ends.last - ends.since >= LASTING_SECONDS
    return lasts and ends.number >= ENOUGH and now - ends.last < RECENT_SECONDS
