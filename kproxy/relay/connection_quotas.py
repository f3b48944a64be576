# This module is pure (no I/O, no clock).
"""Decides whether a client may connect: by the connections there are, in all and of its address, and by their rate.

The acceptor asks it for each client that is accepted, and notifies it of each connection's end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.protocol.network import network
from kproxy.relay.token_bucket import TokenBuckets

if TYPE_CHECKING:
    from kproxy.config import Limits

_DESCRIPTORS: Final = 2
"""File descriptors of a connection: the client's socket and the broker's."""
_KEPT_BACK: Final = 1024
"""Descriptors that are for no client, or a quarter of all if there are fewer: the admin port and its probes, kproxy's
own connections, listeners, files, and the pipes of spliced bodies.
"""
MOST: Final = 50_000
"""Connections without a setting, however many descriptors there are: what this process can serve and sweep."""
BURST_SECONDS: Final = 20
"""The burst of an address in seconds of its rate: a fleet behind one address comes back after a failover at once."""
_OTHERS_SHARE: Final = 10
"""The part of all connections, one of so many, that is left to other addresses."""


def connections_possible(descriptors: int) -> int:
    """Return how many connections so many file descriptors are enough for, at least 1."""
    kept_back = min(_KEPT_BACK, descriptors // 4)
    return max(1, (descriptors - kept_back) // _DESCRIPTORS)


class ConnectionQuotas:
    """The connections by address, and the limits; `most` is the one for all."""

    def __init__(self, limits: Limits, descriptors: int) -> None:
        """`descriptors` is the process's limit of file descriptors."""
        self._by_address: dict[str, int] = {}
        self._rate = 0
        self.limit(limits, descriptors)

    def limit(self, limits: Limits, descriptors: int) -> None:
        """Decide by other limits from now on. Connections that there are stay, and count."""
        self.most = min(limits.max_connections or MOST, connections_possible(descriptors))
        self._most_per_address = limits.max_connections_per_address or self.most - self.most // _OTHERS_SHARE
        if limits.connections_per_second_per_address != self._rate:  # else addresses would get another burst
            self._rate = limits.connections_per_second_per_address
            self._buckets = TokenBuckets(self._rate, self._rate * BURST_SECONDS)

    def __len__(self) -> int:
        """Return how many addresses have a connection."""
        return len(self._by_address)

    def open(self, host: str, others: int, now: float) -> None:
        """Count a connection of this host beside `others`; raises `Fault`, and counts nothing, at a limit.

        Each connection that is counted is to be ended by `closed`.
        """
        self.check_room(others)
        key = network(host)
        count = self._by_address.get(key, 0)
        if count >= self._most_per_address:
            detail = f"its address has {count} connections, the most (limits.max_connections_per_address)"
            raise Fault(Reason.ADDRESS_LIMIT, detail)
        if not self._buckets.take(key, now):
            detail = f"more than {self._rate} a second (limits.connections_per_second_per_address)"
            raise Fault(Reason.ADDRESS_RATE, detail)
        self._by_address[key] = count + 1

    def check_room(self, others: int) -> None:
        """Raise `Fault` where there is room for no connection beside `others`, whatever its address."""
        if others >= self.most:
            raise Fault(Reason.CLIENT_LIMIT, f"there are {self.most} connections, the most (limits.max_connections)")

    def closed(self, host: str) -> None:
        """Count the end of a connection of this host; never raises, since a connection's end must go through."""
        key = network(host)
        count = self._by_address.get(key, 0)
        if count > 1:
            self._by_address[key] = count - 1
        else:
            self._by_address.pop(key, None)
