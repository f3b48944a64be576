"""Reports each client connection as events: when it connects, at intervals while it lasts, and when it ends.

The event stream runs it while kproxy runs. It looks for new connections once a second; the pump reports ended ones.
Relayed requests cause no events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import trio

from kproxy.admin.inventory import rebootstrap
from kproxy.observe.events import (
    ClientConnected,
    ClientDisconnected,
    ClientEvent,
    ClientPresent,
    bounded,
    iso,
)
from kproxy.observe.faults import boundary, supervised
from kproxy.observe.troubles import Troubles, Where
from kproxy.protocol.connections import ConnectionInfo, Connections

if TYPE_CHECKING:
    from kproxy.observe.reasons import Reason

LOOK: float = 1.0
"""Seconds between two looks for new connections. Clients name themselves in their first requests: a connection older
than one look has done so, or never will."""
_AT_A_TIME: Final = 50
_A_SECOND: Final = 5000
"""The most clients reported in a second when all are: what a destination writes without a long queue."""

ClientFields = tuple[
    int,
    str,
    str | None,
    int | None,
    int | None,
    str,
    str | None,
    str | None,
    str | None,
    str | None,
    int | None,
    str,
    bool | None,
]
Report = Callable[[str, ClientEvent], None]
"""Takes the virtual cluster's name and the event; must neither raise nor block."""


class ClientEvents:
    """Finds the relayed connections by their numbers, which rise, and reports them."""

    def __init__(
        self, connections: Connections, report: Report, interval: float, troubles: Troubles | None = None
    ) -> None:
        """Every `interval` seconds all connections are reported as present.

        `troubles` are the process'; by default they are this object's own.
        """
        self._troubles = troubles or Troubles()
        self._connections = connections
        self._report = report
        self._interval = interval
        self._seen = 0
        """The highest number that a look has found so far."""
        self._fresh: set[int] = set()
        """Numbers of connections that the last look found and that are not reported yet."""

    async def run(self) -> None:
        """Look and report until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervised, self._troubles, Where.EVENTS, self._look)
            nursery.start_soon(supervised, self._troubles, Where.EVENTS, self._repeat)

    def ended(self, connection: ConnectionInfo, reason: Reason, detail: str) -> None:
        """Report a connection that is no longer relayed."""
        if connection.id in self._fresh or connection.id > self._seen:
            self._fresh.discard(connection.id)
            self._connected(connection)
        lived = max(0.0, round(time.time() - connection.opened, 3))
        end = str(reason), bounded(detail or None), lived
        event = ClientDisconnected(*client(connection), *traffic(connection), *end)
        self._report(connection.cluster, event)

    async def _look(self) -> None:
        while True:
            await trio.sleep(LOOK)
            await self._in_turn(sorted(self._fresh), self._introduce)
            self._fresh = set(self._connections.numbers(after=self._seen))
            self._seen = max(self._fresh, default=self._seen)

    async def _repeat(self) -> None:
        while True:
            await trio.sleep(self._interval)
            await self._in_turn(self._connections.numbers(), self._present)

    async def _in_turn(self, numbers: Sequence[int], act: Callable[[int], None]) -> None:
        """Act on each number, with pauses so that connections are relayed meanwhile."""
        for done, number in enumerate(numbers, 1):
            with boundary(self._troubles, Where.EVENTS):  # of one connection, so that the others are reported
                act(number)
            if done % _AT_A_TIME == 0:
                await trio.sleep(_AT_A_TIME / _A_SECOND)

    def _introduce(self, number: int) -> None:
        if number in self._fresh and (connection := self._connections.info(number)) is not None:
            self._fresh.discard(number)
            self._connected(connection)

    def _present(self, number: int) -> None:
        if number > self._seen or number in self._fresh:
            return
        if (connection := self._connections.info(number)) is not None:
            self._report(connection.cluster, ClientPresent(*client(connection), *traffic(connection)))

    def _connected(self, connection: ConnectionInfo) -> None:
        self._report(connection.cluster, ClientConnected(*client(connection)))


def client(connection: ConnectionInfo) -> ClientFields:
    """Return the fields that all client events have, in the order of `ClientConnected`."""
    name, version = connection.software or (None, None)
    return (
        connection.id,
        iso(connection.opened),
        connection.host or None,
        connection.port,
        connection.node_id,
        connection.upstream,
        bounded(connection.client_id),
        bounded(name),
        bounded(version),
        bounded(connection.principal),
        None if connection.metadata_version < 0 else connection.metadata_version,
        str(rebootstrap(connection.software, connection.metadata_version)),
        connection.kip_1242,
    )


def traffic(connection: ConnectionInfo) -> tuple[int, int, int, int]:
    """Return what passed so far, in the order of `ClientPresent`."""
    return connection.requests, connection.responses, connection.bytes_in, connection.bytes_out
