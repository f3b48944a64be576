# This module is pure (no I/O, no clock).
"""Remembers which clients were notified in the present epoch: none too often, so no loop can begin.

To notify is to answer 129 (REBOOTSTRAP_REQUIRED). A virtual cluster's epoch rises when its clients must bootstrap
again, for instance at a failover. `RebootstrapService` asks here at each request that can carry the answer.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol
from zlib import crc32

from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.client_capabilities import Capability
from kproxy.rebootstrap.decisions import Place, Standing, decide, standing_after

CAPACITY: Final = 16_384
"""The most clients remembered for a virtual cluster and epoch; about 100 bytes each."""


class Client(NamedTuple):
    """What distinguishes one client from another across its connections; the port differs each time.

    Clients that look alike are notified as often as there may be of them: see `owe`.
    """

    host: str
    client_id: str | None = None
    software_name: str | None = None
    software_version: str | None = None

    @property
    def share(self) -> float:
        """A fixed number in [0, 1): where the client stands in the order in which a drain sends clients away."""
        return crc32(repr(self).encode()) / 2**32


class Described(Protocol):
    """A connection, or a record of one."""

    @property
    def host(self) -> str: ...
    @property
    def client_id(self) -> str | None: ...
    @property
    def software(self) -> tuple[str, str] | None: ...


def identity(connection: Described) -> Client:
    """Return the client of a connection, as far as it can be distinguished from others."""
    name, version = connection.software or (None, None)
    return Client(connection.host, connection.client_id, name, version)


class NotifiedClients:
    """The standing of each client in the present epoch, in bounded memory.

    When it is full, clients that were not notified are forgotten first, oldest first. One that was owed a 129 then gets
    fresh metadata instead; one that had recovered may get a 129 that it does not need. Notified clients are never
    forgotten in their epoch. When there are no others, newcomers count as notified: they go without a 129, but no
    client loops.
    """

    __slots__ = ("_capacity", "_further", "_notified", "_others")

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        # By hash: a client id may be 32 KiB long. Two clients of one hash would share a 129, as if they looked alike.
        self._notified: set[int] = set()
        self._others: dict[int, Standing] = {}
        self._further: dict[int, int] = {}
        """Of clients that look alike, how many 129s there may be beyond the first."""

    def __len__(self) -> int:
        return len(self._notified) + len(self._others)

    def begin_epoch(self) -> None:
        """Forget all clients: none was notified of the new epoch."""
        self._notified.clear()
        self._others.clear()
        self._further.clear()

    def standing(self, client: Client) -> Standing:
        """Return what is known of the client."""
        key = hash(client)
        if key in self._notified:
            return Standing.SHARED if key in self._further else Standing.NOTIFIED
        full = len(self._notified) >= self._capacity
        return Standing.NOTIFIED if full else self._others.get(key, Standing.UNKNOWN)

    def owe(self, client: Client, alike: int = 1) -> None:
        """Note that the client, whose connections are being closed, must be notified when it comes next.

        `alike` is how many clients there may be that look like it: each may get a 129, and all together no more, so
        that none can loop. A client that was notified or has recovered stays as it is.
        """
        if self.standing(client) is Standing.UNKNOWN:
            self._note(client, Standing.OWED)
            if alike > 1:
                self._further[hash(client)] = alike - 1

    def decide(self, client: Client, place: Place, trigger: Trigger, capability: Capability, stale: bool) -> Action:
        """Return what the client gets, and note it: call this once for each request."""
        standing = self.standing(client)
        action = decide(place, trigger, capability, standing, stale)
        if standing is Standing.SHARED and action is Action.NOTIFY:
            self._spend(hash(client))
        after = standing_after(place, trigger, standing, action)
        if after is not standing:
            self._note(client, after)
        return action

    def _spend(self, key: int) -> None:
        self._further[key] -= 1
        if not self._further[key]:
            del self._further[key]

    def _note(self, client: Client, standing: Standing) -> None:
        key = hash(client)
        if key in self._notified:  # one that looks alike got another 129
            return
        self._others.pop(key, None)  # moved to the end: the oldest are first
        if len(self) >= self._capacity:
            oldest = next(iter(self._others))
            del self._others[oldest]
            self._further.pop(oldest, None)
        if standing is Standing.NOTIFIED:
            self._notified.add(key)
        else:
            self._others[key] = standing
