# This module is pure.
"""Who was told in the present epoch, so that nobody is told twice: what ends a loop before it begins."""

from __future__ import annotations

from typing import Final, NamedTuple

from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.client_capabilities import Capability
from kproxy.rebootstrap.decisions import Place, Standing, booked, decide

CAPACITY: Final = 16_384
"""Clients, of a virtual cluster and epoch; about 100 bytes each."""


class Client(NamedTuple):
    """Whatever tells one client from another across its connections; the port does not, it is another each time.

    Clients that this cannot tell apart share one 129: the others are closed, and KIP-899 covers them.
    """

    host: str
    client_id: str | None = None
    software_name: str | None = None
    software_version: str | None = None


class NotifiedClients:
    """The standing of each client in the present epoch, in bounded memory.

    When it is full, those who were not told are forgotten first, oldest first: they get fresh metadata in place of a
    129, or one 129 too late. Those who were told are never forgotten in their epoch; when the ledger holds nobody else,
    newcomers count as told, so that the bound costs some a 129 and nobody a loop.
    """

    __slots__ = ("_capacity", "_told", "_untold")

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        # By hash: a client id may be 32 KiB long. Two clients of one hash would share a 129, as indistinguishable ones.
        self._told: set[int] = set()
        self._untold: dict[int, Standing] = {}

    def __len__(self) -> int:
        return len(self._told) + len(self._untold)

    def begin(self) -> None:
        """A new epoch: nobody was told of it."""
        self._told.clear()
        self._untold.clear()

    def standing(self, client: Client) -> Standing:
        """What is known of the client."""
        key = hash(client)
        if key in self._told:
            return Standing.TOLD
        full = len(self._told) >= self._capacity
        return Standing.TOLD if full else self._untold.get(key, Standing.UNTOLD)

    def owe(self, client: Client) -> None:
        """The client's connection of an earlier epoch is closed; unless it was told or is back, it is to be told."""
        if self.standing(client) is Standing.UNTOLD:
            self._book(client, Standing.OWED)

    def judge(self, client: Client, place: Place, ask: Trigger, ability: Capability, stale: bool) -> Action:
        """What the client gets; booked at once, so call this once for each request."""
        standing = self.standing(client)
        means = decide(place, ask, ability, standing, stale)
        after = booked(place, ask, standing, means)
        if after is not standing:
            self._book(client, after)
        return means

    def _book(self, client: Client, standing: Standing) -> None:
        key = hash(client)
        self._untold.pop(key, None)  # a new place at the end: the oldest are first
        if len(self) >= self._capacity:
            del self._untold[next(iter(self._untold))]
        if standing is Standing.TOLD:
            self._told.add(key)
        else:
            self._untold[key] = standing
