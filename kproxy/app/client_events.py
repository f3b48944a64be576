"""Which clients come, are there and go, as events; nothing that happens while a connection is relayed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import trio

from kproxy.admin.inventory import rebootstrap
from kproxy.observe.events import Name, bounded, iso

if TYPE_CHECKING:
    from kproxy.observe.reasons import Reason
    from kproxy.relay.connection import Connection

LOOK: float = 1.0
"""Seconds between two looks at who has come. Clients say in their first requests who they are; who is older than one
look has done so, or never will."""
_AT_A_TIME: Final = 50
_A_SECOND: Final = 5000
"""How many are told of a second when all are: what a destination writes without its queue becoming long."""

Tell = Callable[[Name, "Connection", dict[str, Any]], None]


class ClientEvents:
    """`connections` are those that are relayed, by their rising numbers; `tell` must not raise nor block."""

    def __init__(self, connections: dict[int, Connection], tell: Tell, interval: float) -> None:
        """All who are there are told of every `interval` seconds."""
        self._connections = connections
        self._tell = tell
        self._interval = interval
        self._seen = 0  # the highest number that was looked at
        self._fresh: dict[int, Connection] = {}  # seen at the last look, not told of yet

    async def run(self) -> None:
        """Look until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._look)
            nursery.start_soon(self._repeat)

    def ended(self, connection: Connection, reason: Reason, detail: str) -> None:
        """A connection is no longer relayed."""
        if self._fresh.pop(connection.id, None) is not None or connection.id > self._seen:
            self._connected(connection)
        lived = max(0.0, round(time.time() - connection.opened, 3))
        end = {"reason": str(reason), "detail": bounded(detail or None), "seconds": lived}
        self._tell(Name.CLIENT_DISCONNECTED, connection, client(connection) | traffic(connection) | end)

    async def _look(self) -> None:
        while True:
            await trio.sleep(LOOK)
            await _in_turn(tuple(self._fresh), self._introduce)
            self._fresh = self._come()

    async def _repeat(self) -> None:
        while True:
            await trio.sleep(self._interval)
            await _in_turn(tuple(self._connections), self._present)

    def _come(self) -> dict[int, Connection]:
        """Those who came since the last look, the oldest first."""
        numbers = list(takewhile(lambda number: number > self._seen, reversed(self._connections)))
        self._seen = max(numbers, default=self._seen)
        return {number: self._connections[number] for number in reversed(numbers)}

    def _introduce(self, number: int) -> None:
        if (connection := self._fresh.pop(number, None)) is not None:
            self._connected(connection)

    def _present(self, number: int) -> None:
        connection = self._connections.get(number)
        if connection is not None and number <= self._seen and number not in self._fresh:
            self._tell(Name.CLIENT_PRESENT, connection, client(connection) | traffic(connection))

    def _connected(self, connection: Connection) -> None:
        self._tell(Name.CLIENT_CONNECTED, connection, client(connection))


def client(connection: Connection) -> dict[str, Any]:
    """The fields that all events of clients have."""
    context = connection.context
    name, version = context.software or (None, None)
    return {
        "connection": connection.id,
        "since": iso(connection.opened),
        "address": context.host or None,
        "port": context.port,
        "node": context.node_id,
        "broker": connection.upstream,
        "client_id": bounded(context.client_id),
        "software_name": bounded(name),
        "software_version": bounded(version),
        "principal": bounded(context.principal),
        "metadata_version": None if context.metadata_version < 0 else context.metadata_version,
        "rebootstrap": str(rebootstrap(context.software, context.metadata_version)),
    }


def traffic(connection: Connection) -> dict[str, int]:
    """What passed so far."""
    return {
        "requests": connection.requests.count,
        "responses": connection.answered,
        "bytes_in": connection.received,
        "bytes_out": connection.client.sent,
    }


async def _in_turn(numbers: Sequence[int], act: Callable[[int], None]) -> None:
    """Not all at once: connections are relayed meanwhile."""
    for done, number in enumerate(numbers, 1):
        act(number)
        if done % _AT_A_TIME == 0:
            await trio.sleep(_AT_A_TIME / _A_SECOND)
