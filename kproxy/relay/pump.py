# This module is compiled (by mypyc).
"""All relayed sockets in one epoll, served by one Trio task: a relayed connection needs no task of its own.

The process has one pump, which runs as long as it does. The acceptor adds each connection once its broker is connected.
"""

from __future__ import annotations

import random
import select
import socket
import ssl
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Final

import trio

from kproxy.errors import MalformedMessageError
from kproxy.observe.counters import Counters
from kproxy.observe.faults import boundary, guarded, note, supervised
from kproxy.observe.loop_lag import BRIEF
from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where, restart_delay
from kproxy.protocol.connections import ConnectionInfo
from kproxy.protocol.fault import Fault
from kproxy.relay.connection import Connection
from kproxy.relay.deadlines import Deadlines, Overdue
from kproxy.relay.deferred_work import SHARE, Asking, DeferredWork, Resting
from kproxy.relay.endpoint import ENDED, Endpoint, EndpointOwner
from kproxy.relay.held_bytes import HeldBytes, Holder
from kproxy.relay.host import Host
from kproxy.relay.lingering_close import PAUSE_SECONDS, LingeringSockets
from kproxy.relay.record import count_end, record_end
from kproxy.relay.renewal import renew
from kproxy.relay.silent_clients import SilentClients
from kproxy.relay.splice import PipePool
from kproxy.relay.throttled import ThrottledClients
from kproxy.relay.tls_endpoint import TlsEndpoint
from kproxy.relay.trio_epoll import Turns, watched

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
# Not Final, as the four below are not: tests change them, and a compiled module would inline their values.
_SWEEP_SECONDS: float = 1.0
HALF_CLOSED_SECONDS: float = 60.0
"""How long a client that has closed its sending side waits for the responses it is owed, and one that has reset for the
broker to take what it sent: without progress.
"""
GONE_SECONDS: float = 2.0
"""How long responses are waited for that nobody reads, where the broker has all that its client sent before a reset."""
_RENEWED_WITHIN: Final = 2
"""Sweeps before the moment in which a connection's login is due again, so that a sweep that comes late sees it."""
_SWEPT: int = 500
"""Connections that a sweep looks at before it lets the others go on: less than a millisecond."""
_CLOSED: int = 10
"""Connections that a sweep closes before that: about as long."""

_LONGEST_PAUSE: Final = 1.0
"""Seconds that the pump rests at most when each of its passes fails: meanwhile nobody is served."""

CLIENT_IS_GONE: Final = frozenset({Reason.CLIENT_CLOSED, Reason.CLIENT_RESET, Reason.SHUTDOWN})

Left = Callable[["Context"], None]
"""Takes the context of a connection that the pump has given up."""
Ended = Callable[[ConnectionInfo, Reason, str], None]
"""Takes the record of a connection that has ended, the reason, and a detail."""


class Pump(Host):
    """Moves bytes for all connections of the process; `run` is its task."""

    def __init__(self, limits: Limits, timeouts: Timeouts, counters: Counters | None = None) -> None:
        """`counters` are the process'; by default they are the pump's own."""
        counters = counters or Counters(time.time())
        self.troubles = counters.troubles
        self._lag = counters.loop_lag
        self.done = 0.0
        self._scratch = memoryview(bytearray(SCRATCH_BYTES))
        self.connections: dict[int, Connection] = {}
        self._deadlines = Deadlines(timeouts)
        self._epoll = select.epoll()
        self._asking: frozenset[int] = frozenset()
        self._asked = False
        self._endpoints: dict[int, Endpoint] = {}
        self.silent = SilentClients(self._epoll, timeouts.first_request)
        self.lingering = LingeringSockets(self._epoll, self.troubles)
        self.deferred_work = DeferredWork()
        self._throttled = ThrottledClients()
        self.held_requests = HeldBytes("limits.held_request_bytes", limits.held_request_bytes)
        self.held_responses = HeldBytes("limits.held_response_bytes", limits.held_response_bytes)
        self._pipes = PipePool()
        self._ids = count(1)
        self.left: Left | None = None
        self.ended: Ended | None = None
        self._emptied = trio.Event()
        self._tasks: trio.Nursery | None = None

    def reconfigure(self, limits: Limits, timeouts: Timeouts) -> None:
        """Apply other limits and timeouts: to the next frames of every connection, and at the next sweep."""
        self._deadlines.reconfigure(timeouts)
        self.silent.patience = timeouts.first_request
        self.held_requests.limit, self.held_responses.limit = limits.held_request_bytes, limits.held_response_bytes
        for connection in self.connections.values():
            connection.limit(limits)

    def next_id(self) -> int:
        """Return a number that no connection has had before."""
        return next(self._ids)

    def receive(self, endpoint: Endpoint) -> memoryview:
        """Read from a socket into the shared buffer, which the next read overwrites; raises as `recv_into`."""
        count = endpoint.receive_into(self._scratch)  # apart: compiled, a call in a slice is made twice
        return self._scratch[:count]

    def endpoint(self, sock: socket.socket, connection: EndpointOwner, is_client: bool) -> Endpoint:
        """Watch a non-blocking socket on behalf of a connection."""
        kind = TlsEndpoint if isinstance(sock, ssl.SSLSocket) else Endpoint
        endpoint = kind(sock, is_client, self._epoll, self._pipes)
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
                self._tasks = nursery
                nursery.start_soon(supervised, self.troubles, Where.SWEEP, self._sweep)
                nursery.start_soon(supervised, self.troubles, Where.LINGERING, self.lingering.run)
                resume = partial(self._throttled.run, self._resume)
                nursery.start_soon(supervised, self.troubles, Where.PUMP, resume)
                await self._serve()
        finally:
            self._lag.busy_since = self._lag.beat_due = inf
            self._close_everything()

    async def _serve(self) -> None:
        failures = 0
        async with watched(self._epoll) as turns:
            self._asking = turns.asking
            while True:
                try:
                    await turns.take()
                    self.silent.next_turn()
                    self._relay(turns)
                    failures = 0
                except Exception as error:  # whatever has failed, the other connections still need the pump
                    failures += 1
                    self.fault(Where.PUMP, error)
                    self._lag.busy_since = inf
                    await trio.sleep(restart_delay(failures, random.random(), longest=_LONGEST_PAUSE))

    def _relay(self, turns: Turns) -> None:
        """Serve events until it is the turn of Trio's tasks."""
        poll, runnable, lag = self._epoll.poll, turns.runnable, self._lag
        waiting, resting = self.deferred_work.waiting, self.deferred_work.resting
        self._asked = False
        now = _clock()
        since = min(now, lag.busy_since)
        ends, brief, spent = now + _TURN, 0, 0.0
        many = True
        while now < ends:
            waits = bool(waiting) or bool(resting)
            asked = self._asked or bool(runnable)
            if asked:
                ends = min(ends, now + _PATIENCE)
            # A reading of the clock costs as much as a small frame, and a connection has just made one.
            busy = (_clock() if many or self.done < since else self.done) - since
            if busy <= BRIEF:
                brief += 1
                spent += busy
            else:
                lag.observe(busy)
            if asked or waits:
                events = poll(0, _EVENTS)
            else:
                lag.busy_since = inf
                events = poll(-1, _EVENTS)
            now = since = lag.busy_since = _clock()
            many = self._round(events, now) or waits
            if waits:
                self._work(now)
            if asked and not events:
                break
        lag.observe_brief(brief, spent)

    def _round(self, events: list[tuple[int, int]], now: float) -> bool:
        """Serve events that epoll reported; return True if they were several."""
        endpoints = self._endpoints
        costly: list[tuple[int, int]] | None = None
        ended = one = several = False
        for event in events:
            fd, mask = event
            several, one = one, True
            endpoint = endpoints.get(fd)
            if endpoint is not None:
                if mask & ENDED:
                    if ended:  # an end costs more than a request: one a round, epoll reports the others again
                        continue
                    ended = True
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
            elif not self.silent.event(fd):
                self.lingering.event(fd)
        if costly is not None:
            self._costly(costly, now)
        return several

    def _costly(self, events: list[tuple[int, int]], now: float) -> None:
        """Serve the first of the endpoints that the proxy itself answers, and one more for each `SHARE`.

        Epoll reports the others again, behind the events that have come meanwhile.
        """
        chosen = events[: 1 + len(events) // SHARE]
        for fd, _ in chosen:
            if (endpoint := self._endpoints.get(fd)) is not None:
                endpoint.costly = False
        self._round(chosen, now)

    def _work(self, now: float) -> None:
        try:
            self.deferred_work.take(now)
        except Exception as error:  # it has been taken out, and is not served again
            self.fault(Where.PUMP, error)
        if not self.deferred_work.waiting and not self.connections:
            self._emptied.set()

    def failed(self, endpoint: Endpoint, error: Exception) -> None:
        """Close the endpoint's connection, for the reason that fits the error. Never raises."""
        connection = endpoint.connection
        with boundary(self.troubles, Where.CLOSE):
            match error:
                case Fault():
                    connection.close(error.reason, error.detail)
                case MalformedMessageError():
                    reason = Reason.MALFORMED_REQUEST if endpoint.is_client else Reason.MALFORMED_RESPONSE
                    connection.close(reason, str(error))
                case _:
                    note(self.troubles, Where.REQUEST, error, connection=connection.id)
                    connection.close(Reason.INTERNAL_ERROR, repr(error))

    def fault(self, where: Where, error: Exception) -> None:
        """Note a fault in kproxy; never raises."""
        note(self.troubles, where, error)

    def holds(self, connection: Holder, requests: int, responses: int) -> bool:
        """Note how many bytes a connection holds of both; returns whether it is counted. May close any connection."""
        counted = self.held_requests.note(connection, requests)
        if responses and connection.id not in self.connections:  # it was closed for its requests
            return False
        return self.held_responses.note(connection, responses) or counted

    def throttle(self, number: int, until: float) -> None:
        """As `Host`."""
        self._throttled.add(number, until)

    def _resume(self, number: int) -> None:
        connection = self.connections.get(number)
        if connection is not None:
            try:
                connection.resume()
            except Exception as error:  # one connection's failure is never another's
                self.failed(connection.client, error)

    def go_on_later(self, connection: Resting) -> None:
        """Have the connection take what it holds back, in its turn."""
        self.deferred_work.go_on_later(connection)

    def work(self, connection: Asking, stepwise: Incremental) -> None:
        """Answer a request of the connection in steps, when there is time."""
        self.deferred_work.add(connection, stepwise)

    def closed(self, number: int, reason: Reason, detail: str) -> None:
        """Take out a closed connection; its client may still read what was sent to it.

        Never raises. A step that fails keeps none of the others from being made: both sockets are given up, and the
        end is counted.
        """
        connection = self.connections.pop(number)
        self._let_go(connection.broker)
        self._let_linger(connection, reason)
        if self.left is not None:
            with boundary(self.troubles, Where.CLOSE):
                self.left(connection.context)
        with boundary(self.troubles, Where.CLOSE):
            count_end(connection.context, reason)
        info: ConnectionInfo | None = None
        with boundary(self.troubles, Where.CLOSE):
            info = connection.info
            record_end(connection.context, info, reason, detail)
        if self.ended is not None and info is not None:
            with boundary(self.troubles, Where.EVENTS):
                self.ended(info, reason, detail)
        if not self.connections:
            self._emptied.set()

    def _let_go(self, endpoint: Endpoint) -> None:
        """Close the endpoint's socket now."""
        self._endpoints.pop(endpoint.fd, None)
        with boundary(self.troubles, Where.CLOSE):
            endpoint.release()
        endpoint.sock.close()  # takes it out of the epoll, too, where `release` has not

    def _let_linger(self, connection: Connection, reason: Reason) -> None:
        """Close the client's socket, gently unless the client has gone."""
        endpoint, quiet = connection.client, time.monotonic() - connection.progress > PAUSE_SECONDS
        if reason not in CLIENT_IS_GONE:
            with boundary(self.troubles, Where.LINGERING):
                self._endpoints.pop(endpoint.fd, None)
                self.lingering.add(endpoint.release(), at_once=quiet or not endpoint.sent)
                return
        self._let_go(endpoint)

    async def wait_empty(self) -> None:
        """Wait until no connection is relayed, and every request answered in steps has taken effect."""
        while self.connections or self.deferred_work.waiting:
            self._emptied = trio.Event()
            await self._emptied.wait()

    async def _sweep(self) -> None:
        while True:
            self._lag.beat_due = time.monotonic() + _SWEEP_SECONDS
            await trio.sleep(_SWEEP_SECONDS)
            self.silent.sweep(_clock())
            self._deadlines.next_sweep()
            looked = closed = 0
            for connection in list(self.connections.values()):
                looked += 1
                if not connection.closed and self._close_overdue(connection):
                    closed += 1
                if looked == _SWEPT or closed == _CLOSED:
                    looked = closed = 0
                    await trio.lowlevel.checkpoint()
            await self.lingering.sweep()

    def _close_overdue(self, connection: Connection) -> bool:
        """Close a connection that has waited too long for a peer; return whether it had. Never raises."""
        try:
            self._check_session(connection)
            overdue = None if connection.closed else self._overdue(connection)
        except Exception as error:  # one connection's failure is never another's
            note(self.troubles, Where.SWEEP, error, connection=connection.id)
            overdue = Reason.INTERNAL_ERROR, repr(error)
        if overdue is None:
            if _clock() + _RENEWED_WITHIN * _SWEEP_SECONDS >= connection.context.renew_at:
                self._renew(connection)
            return connection.closed
        connection.close(*overdue)
        return True

    def _check_session(self, connection: Connection) -> None:
        """Take no more of a client whose session has ended; what it has sent before is answered, as brokers do."""
        if _clock() >= connection.context.session_ends:
            connection.context.session_ends = inf
            self.drain_one(connection, Reason.SESSION_EXPIRED)

    def _renew(self, connection: Connection) -> None:
        """Have kproxy authenticate again to a connection's broker, in a task that waits for the moment."""
        at, connection.context.renew_at = connection.context.renew_at, inf
        if self._tasks is not None and connection.destination is not None:
            self._tasks.start_soon(
                guarded, self.troubles, Where.UPSTREAM, renew, connection, connection.destination, at
            )

    def _overdue(self, connection: Connection) -> Overdue | None:
        now = _clock()
        overdue = self._deadlines.overdue(connection, now)
        gone, quiet = bool(connection.client.gone), now - connection.progress
        if overdue is not None or not (connection.ending or gone):
            return overdue
        if gone and (quiet > HALF_CLOSED_SECONDS or self._is_of_no_use(connection, quiet)):
            return connection.why_it_ends
        if quiet > HALF_CLOSED_SECONDS:
            return connection.why_it_ends[0], "the broker did not answer what was in flight"
        return None

    def _is_of_no_use(self, connection: Connection, quiet: float) -> bool:
        """Return True where the broker has all that a client sent before its reset: nobody reads what it answers."""
        return quiet > GONE_SECONDS and connection.ending and connection.broker.delivered

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
        with boundary(self.troubles, Where.LINGERING):
            self.lingering.close()
        self._pipes.close()
        self._epoll.close()
