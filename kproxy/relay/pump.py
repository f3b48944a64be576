# This module is compiled (by mypyc).
"""All relayed sockets in one epoll, served by one Trio task: a relayed connection needs no task of its own.

The process has one pump, which runs as long as it does. The acceptor adds each connection once its broker is connected.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.connections import ConnectionInfo
from kproxy.protocol.fault import Fault
from kproxy.relay.connection import Connection
from kproxy.relay.deferred_work import SHARE, Asking, DeferredWork
from kproxy.relay.endpoint import Endpoint, EndpointOwner
from kproxy.relay.host import Host
from kproxy.relay.lingering_close import PAUSE_SECONDS, LingeringSockets
from kproxy.relay.record import record_end
from kproxy.relay.splice import PipePool
from kproxy.relay.trio_epoll import watched

if TYPE_CHECKING:
    from kproxy.config import Limits, Timeouts
    from kproxy.protocol.api_table import ApiTable
    from kproxy.protocol.context import Context
    from kproxy.protocol.outcomes import Incremental

SCRATCH_BYTES: Final = 128 << 10
"""The size of the one buffer for every read that is not short. What is not sent on at once is copied out of it."""
_EVENTS: Final = 42
"""The most events of one poll: as many as fit into 512 bytes, which Python's own allocator has at hand."""
_PATIENCE: Final = 0.002
"""Seconds that Trio's tasks wait for their turn while there is something to relay: a pass through its scheduler costs
30 µs and four system calls.
"""
_TURN: Final = 0.05
"""Seconds after which Trio's tasks get a turn unasked: their event may come behind those of thousands of sockets."""
_clock: Final = time.monotonic
# Not Final, as the seconds below are not: tests shorten both, and a compiled module would inline their values.
_SWEEP_SECONDS: float = 1.0
HALF_CLOSED_SECONDS: float = 60.0
"""How long a client that has closed its sending side waits for the responses it is owed."""

CLIENT_IS_GONE: Final = frozenset({Reason.CLIENT_CLOSED, Reason.CLIENT_RESET, Reason.SHUTDOWN})

log = structlog.get_logger("kproxy.relay")


Ended = Callable[[ConnectionInfo, Reason, str], None]
"""Takes the record of a connection that has ended, the reason, and a detail; must not raise."""


class Pump(Host):
    """Moves bytes for all connections of the process; `run` is its task."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._scratch = memoryview(bytearray(SCRATCH_BYTES))
        self.connections: dict[int, Connection] = {}
        self._stalled_after = timeouts.stalled_frame
        self._epoll = select.epoll()
        self._asking: frozenset[int] = frozenset()
        self._asked = False
        self._endpoints: dict[int, Endpoint] = {}
        self.lingering = LingeringSockets(self._epoll)
        self.deferred_work = DeferredWork()
        self._pipes = PipePool()
        self._ids = count(1)
        self.ended: Ended | None = None
        self._emptied = trio.Event()

    def next_id(self) -> int:
        """Return a number that no connection has had before."""
        return next(self._ids)

    def receive(self, endpoint: Endpoint) -> memoryview:
        """Read from a socket into the shared buffer, which the next read overwrites; raises as `recv_into`."""
        count = endpoint.sock.recv_into(self._scratch)  # apart: compiled, a call in a slice is made twice
        return self._scratch[:count]

    def endpoint(self, sock: socket.socket, connection: EndpointOwner, is_client: bool) -> Endpoint:
        """Watch a non-blocking socket on behalf of a connection."""
        endpoint = Endpoint(sock, is_client, self._epoll, self._pipes)
        endpoint.connection = connection
        self._endpoints[endpoint.fd] = endpoint
        return endpoint

    def relay(
        self,
        context: Context,
        table: ApiTable,
        limits: Limits,
        client: socket.socket,
        broker: socket.socket,
        upstream: str,
    ) -> Connection:
        """Relay between two connected, non-blocking sockets, which belong to the pump from now on.

        Raises OSError or ValueError when they cannot be watched, or the pump has stopped; then the broker's socket is
        closed, and the client's is the caller's again.
        """
        try:
            connection = Connection(self, context, table, limits, client, broker, upstream)
        except BaseException:
            broker.close()
            raise
        self.connections[connection.id] = connection
        return connection

    async def run(self) -> None:
        """Serve all sockets until cancelled; then close what is left."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._sweep)
                nursery.start_soon(self.lingering.run)
                await self._serve()
        finally:
            self._close_everything()

    async def _serve(self) -> None:
        poll, waiting = self._epoll.poll, self.deferred_work.waiting
        async with watched(self._epoll) as turns:
            self._asking, runnable = turns.asking, turns.runnable
            while True:
                self._asked = False
                now = _clock()
                ends = now + _TURN
                while now < ends:
                    waits = bool(waiting)
                    asked = self._asked or bool(runnable)
                    if asked:
                        ends = min(ends, now + _PATIENCE)
                    events = poll(0 if asked or waits else -1, _EVENTS)
                    now = _clock()
                    self._round(events, now)
                    if waits:
                        self._work()
                    if asked and not events:
                        break
                await turns.take()

    def _round(self, events: list[tuple[int, int]], now: float) -> None:
        endpoints = self._endpoints
        costly: list[tuple[int, int]] | None = None
        for event in events:
            fd, mask = event
            endpoint = endpoints.get(fd)
            if endpoint is not None:
                if endpoint.costly:
                    costly = costly or []
                    costly.append(event)
                    continue
                try:
                    endpoint.connection.event(endpoint, mask, now)
                except Exception as error:  # one connection's failure is never another's
                    self.failed(endpoint, error)
            elif fd in self._asking:
                self._asked = True
            else:
                self.lingering.event(fd)
        if costly is not None:
            self._costly(costly, now)

    def _costly(self, events: list[tuple[int, int]], now: float) -> None:
        """Serve the first of the endpoints that the proxy itself answers, and one more for each `SHARE`.

        Epoll reports the others again, behind the events that have come meanwhile.
        """
        chosen = events[: 1 + len(events) // SHARE]
        for fd, _ in chosen:
            if (endpoint := self._endpoints.get(fd)) is not None:
                endpoint.costly = False
        self._round(chosen, now)

    def _work(self) -> None:
        self.deferred_work.take()
        if not self.deferred_work.waiting and not self.connections:
            self._emptied.set()

    def failed(self, endpoint: Endpoint, error: Exception) -> None:
        """Close the endpoint's connection, for the reason that fits the error."""
        connection = endpoint.connection
        match error:
            case Fault():
                connection.close(error.reason, error.detail)
            case MalformedMessageError():
                reason = Reason.MALFORMED_REQUEST if endpoint.is_client else Reason.MALFORMED_RESPONSE
                connection.close(reason, str(error))
            case _:
                log.error("internal error", connection=connection.id, exc_info=error)
                connection.close(Reason.INTERNAL_ERROR, repr(error))

    def work(self, connection: Asking, stepwise: Incremental) -> None:
        """Answer a request of the connection in steps, when there is time."""
        self.deferred_work.add(connection, stepwise)

    def closed(self, number: int, reason: Reason, detail: str) -> None:
        """Take out a closed connection; its client may still read what was sent to it."""
        connection = self.connections.pop(number)
        for endpoint in (connection.client, connection.broker):
            del self._endpoints[endpoint.fd]
        connection.broker.release().close()
        client = connection.client.release()
        if reason in CLIENT_IS_GONE:
            client.close()
        else:
            quiet = time.monotonic() - connection.progress > PAUSE_SECONDS
            self.lingering.add(client, at_once=quiet or not connection.client.sent)
        info = connection.info
        record_end(connection.context, info, reason, detail)
        if self.ended is not None:
            self.ended(info, reason, detail)
        if not self.connections:
            self._emptied.set()

    async def wait_empty(self) -> None:
        """Wait until no connection is relayed, and every request answered in steps has taken effect."""
        while self.connections or self.deferred_work.waiting:
            self._emptied = trio.Event()
            await self._emptied.wait()

    async def _sweep(self) -> None:
        while True:
            await trio.sleep(_SWEEP_SECONDS)
            now = time.monotonic()
            for connection in list(self.connections.values()):
                if connection.stalled and now - connection.progress > self._stalled_after:
                    connection.close(Reason.STALLED_FRAME, f"nothing moved for {self._stalled_after:g} s in mid-frame")
                elif connection.ending and now - connection.progress > HALF_CLOSED_SECONDS:
                    connection.close(_reason(connection), "the broker did not answer what was in flight")
            self.lingering.sweep()

    def drain(self) -> None:
        """Have every connection answer what it received, take no more, and close."""
        for connection in list(self.connections.values()):
            self.drain_one(connection)

    def drain_one(self, connection: Connection, reason: Reason = Reason.DRAINED) -> None:
        """Have one connection answer what it received, take no more, and close for the reason."""
        try:
            connection.drain(reason)
        except Exception as error:  # one connection's failure is never another's
            self.failed(connection.client, error)

    def close_all(self, reason: Reason) -> None:
        """Close every connection now."""
        for connection in list(self.connections.values()):
            connection.close(reason)

    def _close_everything(self) -> None:
        self.close_all(Reason.SHUTDOWN)
        self.lingering.close()
        self._pipes.close()
        self._epoll.close()


def _reason(connection: Connection) -> Reason:
    """Return the reason for which a connection is ending."""
    reason = connection.life.reason
    assert reason is not None
    return reason
