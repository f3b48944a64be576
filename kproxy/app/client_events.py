"""Which clients come, are there and go, as events; nothing that happens while a connection is relayed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import trio

from kproxy.admin.inventory import rebootstrap
from kproxy.observe.events import Name, bounded, iso
from kproxy.protocol.connections import ConnectionInfo, Connections

if TYPE_CHECKING:
    from kproxy.observe.reasons import Reason

LOOK: float = 1.0
"""Seconds between two looks at who has come. Clients say in their first requests who they are; who is older than one
look has done so, or never will."""
_AT_A_TIME: Final = 50
_A_SECOND: Final = 5000
"""How many are told of a second when all are: what a destination writes without its queue becoming long."""

Report = Callable[[Name, ConnectionInfo, dict[str, Any]], None]
"""Takes an event's name, the connection and the event's fields; must not raise nor block."""


class ClientEvents:
    """Looks at the connections that are relayed, by their rising numbers."""

    def __init__(self, connections: Connections, report: Report, interval: float) -> None:
        """Every `interval` seconds all connections are reported as present."""
        self._connections = connections
        self._report = report
        self._interval = interval
        self._seen = 0
        """The highest number that was looked at."""
        self._fresh: set[int] = set()
        """Connections that were seen at the last look and are not reported yet."""

    async def run(self) -> None:
        """Look until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._look)
            nursery.start_soon(self._repeat)

    def ended(self, connection: ConnectionInfo, reason: Reason, detail: str) -> None:
        """A connection is no longer relayed."""
        if connection.id in self._fresh or connection.id > self._seen:
            self._fresh.discard(connection.id)
            self._connected(connection)
        lived = max(0.0, round(time.time() - connection.opened, 3))
        end = {"reason": str(reason), "detail": bounded(detail or None), "seconds": lived}
        self._report(Name.CLIENT_DISCONNECTED, connection, client(connection) | traffic(connection) | end)

    async def _look(self) -> None:
        while True:
            await trio.sleep(LOOK)
            await _in_turn(sorted(self._fresh), self._introduce)
            self._fresh = set(self._connections.numbers(after=self._seen))
            self._seen = max(self._fresh, default=self._seen)

    async def _repeat(self) -> None:
        while True:
            await trio.sleep(self._interval)
            await _in_turn(self._connections.numbers(), self._present)

    def _introduce(self, number: int) -> None:
        if number in self._fresh and (connection := self._connections.info(number)) is not None:
            self._fresh.discard(number)
            self._connected(connection)

    def _present(self, number: int) -> None:
        if number > self._seen or number in self._fresh:
            return
        if (connection := self._connections.info(number)) is not None:
            self._report(Name.CLIENT_PRESENT, connection, client(connection) | traffic(connection))

    def _connected(self, connection: ConnectionInfo) -> None:
        self._report(Name.CLIENT_CONNECTED, connection, client(connection))


def client(connection: ConnectionInfo) -> dict[str, Any]:
    """The fields that all events of clients have."""
    name, version = connection.software or (None, None)
    return {
        "connection": connection.id,
        "since": iso(connection.opened),
        "address": connection.host or None,
        "port": connection.port,
        "node": connection.node_id,
        "broker": connection.upstream,
        "client_id": bounded(connection.client_id),
        "software_name": bounded(name),
        "software_version": bounded(version),
        "principal": bounded(connection.principal),
        "metadata_version": None if connection.metadata_version < 0 else connection.metadata_version,
        "rebootstrap": str(rebootstrap(connection.software, connection.metadata_version)),
    }


def traffic(connection: ConnectionInfo) -> dict[str, int]:
    """What passed so far."""
    return {
        "requests": connection.requests,
        "responses": connection.responses,
        "bytes_in": connection.bytes_in,
        "bytes_out": connection.bytes_out,
    }


async def _in_turn(numbers: Sequence[int], act: Callable[[int], None]) -> None:
    """Not all at once: connections are relayed meanwhile."""
    for done, number in enumerate(numbers, 1):
        act(number)
        if done % _AT_A_TIME == 0:
            await trio.sleep(_AT_A_TIME / _A_SECOND)
