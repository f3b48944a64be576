"""Admits a client: waits for its first bytes, dials a broker, then hands both sockets to the pump.

Every listener of a virtual cluster calls `admit` for each client that connects, in a task of its own.

No broker is dialled for a connection that sends nothing or speaks another protocol: load balancers' health checks cost
the brokers nothing.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from kproxy.observe.faults import boundary, note
from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where
from kproxy.protocol.fault import Fault
from kproxy.relay.accept_turns import AcceptTurns
from kproxy.relay.arrival import Arrival
from kproxy.relay.broker_dial import BrokerDial
from kproxy.relay.connection_quotas import ConnectionQuotas
from kproxy.relay.descriptors import descriptor_limit
from kproxy.relay.entrance import asked_name, no_way
from kproxy.relay.handshakes import Handshakes
from kproxy.relay.logins import Logins
from kproxy.relay.peek import SNIFFED_BYTES, has_ended, peek
from kproxy.relay.proxy_header import MOST, ProxyHeader
from kproxy.relay.sniff import no_hello, no_plaintext
from kproxy.relay.socket_options import keep_alive, unpace

if TYPE_CHECKING:
    from kproxy.authentication.authenticator import Authenticator
    from kproxy.config import Limits, Timeouts
    from kproxy.protocol.context import Context
    from kproxy.protocol.network import Networks
    from kproxy.relay.destination import Destination
    from kproxy.relay.entrance import Entrance
    from kproxy.relay.pump import Pump
    from kproxy.upstream.tls import ServerContext

_ALERT: Final = b"\x15\x03"
_HIDDEN_ALERT: Final = b"\x17\x03\x03\x00\x13"
_CHECKED: Final = "reset before its first request, as load balancers end their health checks"


class Acceptor:
    """Admits clients to the pump."""

    def __init__(self, pump: Pump, limits: Limits, timeouts: Timeouts) -> None:
        self._pump = pump
        self._troubles = pump.troubles
        self._limits = limits
        self._timeouts = timeouts
        self.waiting = 0
        """How many clients are not admitted yet."""
        self.draining = False
        self.turns = AcceptTurns(limits.connections_per_second)
        """The turns in which listeners accept."""
        self.quotas = ConnectionQuotas(limits, descriptor_limit())
        pump.left = self._left
        self.handshakes = Handshakes(limits.max_handshakes, limits.handshakes_per_second, self._refuse)
        """The TLS handshakes of clients."""
        self.logins = Logins(limits.max_unauthenticated)
        """The clients that authenticate to kproxy."""
        self._dial = BrokerDial(pump.troubles)
        self._silent = pump.silent
        self._emptied = trio.Event()

    async def admit(
        self, destination: Destination, node_id: int | None, client: socket.socket, *, retired: bool = False
    ) -> None:
        """Admit a client; its socket belongs to the acceptor from now on. Never raises but for cancellation.

        `retired` when the listener's node is gone: the client reaches any node, by the destination's `retired_table`.
        """
        arrival = Arrival(destination, client)
        arrival.open()
        await self._bring_in(arrival, None, node_id, retired=retired)

    async def admit_by_name(self, entrance: Entrance, client: socket.socket) -> None:
        """As `admit`, at a port that names share: the name that the client asks for says whom it means."""
        await self._bring_in(Arrival(entrance.home, client), entrance, None, retired=False)

    async def _bring_in(
        self, arrival: Arrival, entrance: Entrance | None, node_id: int | None, *, retired: bool
    ) -> None:
        counted: Context | None = None  # until the pump has the connection
        self.waiting += 1
        try:
            context = arrival.enter(node_id, retired=retired)
            arrival.client.setblocking(False)
            if arrival.is_led:
                self._check(partial(_check_own_limit, arrival.destination))
            if arrival.destination.balancers:
                await self._learn_client(arrival.destination.balancers, context, arrival.client)
            self._count(context)
            counted = context
            await self._admit(arrival, entrance)
            counted = None
        except Fault as fault:
            self._end(arrival, *_ending(arrival, fault))
        except Exception as error:  # one client's failure is never another's
            note(self._troubles, Where.ADMIT, error)
            self._end(arrival, Reason.INTERNAL_ERROR, repr(error))
        except BaseException:  # cancelled; while dialling, Trio wraps it in a group
            self._end(arrival, Reason.SHUTDOWN, "")
            raise
        finally:
            if counted is not None:
                self._left(counted)
            self.waiting -= 1
            if not self.waiting:
                self._emptied.set()

    async def _learn_client(self, balancers: Networks, context: Context, client: socket.socket) -> None:
        """Take the client's own address from the header, if a load balancer is the peer; raises `Fault`."""
        if not context.host:  # reset before its address was read, so nobody knows whose it was
            raise Fault(Reason.CLIENT_CLOSED, _CHECKED)
        if balancers.have(context.host):
            context.client = await self._header(client) or context.client

    async def _header(self, client: socket.socket) -> str | None:
        """Read a load balancer's header; return the client's "host:port", None for a connection of its own."""
        self._check(lambda: self.quotas.check_room(self._others()))
        header = ProxyHeader()
        socket.socket.recv(client, header.feed(await self._first_bytes(client, MOST)))
        with trio.move_on_after(self._timeouts.first_request) as patience:
            while not header.done:
                socket.socket.recv(client, header.feed(await self._first_bytes(client, MOST)))
        if patience.cancelled_caught:
            raise Fault(Reason.PROXY_HEADER, f"no whole PROXY header in {self._timeouts.first_request:g} s")
        return header.source

    def _count(self, context: Context) -> None:
        """Count the client's connection; raises `Fault` where there are too many."""
        self._check(lambda: self.quotas.open(context.host, self._others(), time.monotonic()))

    def _others(self) -> int:
        """Return how many connections there are beside the one that is admitted. A socket that lingers is one, too."""
        return len(self._pump.connections) + len(self._pump.lingering) + self.waiting - 1

    def _check(self, check: Callable[[], None]) -> None:
        """Have another client accepted in place of one that is refused."""
        try:
            check()
        except Fault:
            self.turns.give_back()
            raise

    def _left(self, context: Context) -> None:
        """Note the end of a connection that was counted."""
        self.quotas.closed(context.host)

    def _end(self, arrival: Arrival, reason: Reason, detail: str) -> None:
        """Close a client's socket and record that. Never raises."""
        with boundary(self._troubles, Where.CLOSE):
            arrival.client.close()
        with boundary(self._troubles, Where.CLOSE):
            arrival.end(reason, detail)

    def reconfigure(self, limits: Limits, timeouts: Timeouts) -> None:
        """Admit clients by other limits and timeouts from now on."""
        self._limits, self._timeouts = limits, timeouts
        self.turns.pace(limits.connections_per_second)
        self.quotas.limit(limits, descriptor_limit())
        self.handshakes = self.handshakes.followed_by(limits.max_handshakes, limits.handshakes_per_second)
        self.logins = self.logins.followed_by(limits.max_unauthenticated)

    def drain(self) -> None:
        """End clients that have sent nothing yet; those that have are still admitted, and then drained."""
        self.draining = True
        self.handshakes.drain()
        self.logins.drain()
        self._silent.dismiss()

    async def wait_empty(self) -> None:
        """Wait until every client is admitted or refused."""
        while self.waiting:
            self._emptied = trio.Event()
            await self._emptied.wait()

    async def _admit(self, arrival: Arrival, entrance: Entrance | None) -> None:
        client = arrival.client
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        keep_alive(client, self._timeouts.tcp_keepalive)
        unpace(client)
        first = await self._first_bytes(client)
        deadline = trio.current_time() + self._timeouts.tls_handshake
        if entrance is not None:
            if no_tls := no_hello(first):
                raise no_tls
            await self._lead(arrival, entrance, deadline)
        tls, by = arrival.destination.tls, arrival.destination.authenticator
        if tls is None:
            if foreign := no_plaintext(first):
                raise foreign
            await self._relay(arrival, client, by)
            return
        if no_tls := no_hello(first):
            raise no_tls
        secured = await self._shake_hands(arrival, tls, deadline)
        try:
            await self._first_request(secured, deadline)
            await self._relay(arrival, secured, by)
        except BaseException:
            secured.close()
            raise

    async def _lead(self, arrival: Arrival, entrance: Entrance, deadline: float) -> None:
        """Find whom the client means by the name that it asks for; raises `Fault` where it is nobody."""
        client = arrival.client
        with trio.move_on_at(deadline):
            name = await asked_name(client, partial(self._readable, client))
            way = None if name is None else entrance.way(name)
            if name is None or way is None:
                raise no_way(client, name)
            arrival.lead(way)
            way.check_open(name)
            self._check(partial(_check_own_limit, way.destination))
            return
        raise self._said_no_hello()

    async def _readable(self, client: socket.socket) -> None:
        """Wait until a client in its handshake has sent something more; raises `Fault` where it does not."""
        if self.draining or not await self._silent.speaks(client):
            raise self._said_nothing()

    async def _shake_hands(self, arrival: Arrival, tls: ServerContext, deadline: float) -> ssl.SSLSocket:
        """Wait for the client's whole hello, and shake hands in its turn; raises `Fault`."""
        client, host = arrival.client, arrival.context.host
        with trio.move_on_at(deadline) as patience:
            await asked_name(client, partial(self._readable, client))
        if patience.cancelled_caught:
            raise self._said_no_hello()
        secured = await self.handshakes.complete(client, host, tls.wrap, self._readable, deadline)
        if secured is None:
            raise self._said_no_hello()
        return secured

    async def _first_request(self, client: ssl.SSLSocket, deadline: float) -> None:
        """Wait for the first request; raises `Fault`."""
        with trio.move_on_at(deadline):
            first = peek(client)
            if first is None:
                await self._readable(client)
                first = peek(client)
            if first is not None and _farewell(first, client):
                raise Fault(Reason.CLIENT_CLOSED, "")
            return
        raise self._said_no_hello()

    def _refuse(self, client: socket.socket) -> None:
        """Let a client read the alert that ended its handshake; a reset, for what it has sent since, could hide that.

        Strangers cause this at will: they get no more descriptors for it than handshakes may have.
        """
        if len(self._pump.lingering) < self._limits.max_handshakes:
            with boundary(self._troubles, Where.LINGERING):
                self._pump.lingering.add(_taken_from(client), at_once=True)
        client.close()

    def _said_no_hello(self) -> Fault:
        return Fault(Reason.TLS_TIMEOUT, f"no handshake and request in {self._timeouts.tls_handshake:g} s")

    async def _relay(self, arrival: Arrival, client: socket.socket, by: Authenticator | None) -> None:
        """`by` is what authenticated clients before the handshake: a reload may have come since.

        A certificate counts by the rules that were there when it was asked for, a password by the present users.
        """
        if by is None or by.certificates is None:
            by = arrival.destination.authenticator
        if by is not None:
            await self._authenticate(arrival, client, by)
        broker, address = await self._dial.connected(arrival, self._timeouts)
        connection = self._pump.relay(arrival.context, arrival.table, self._limits, client, broker, address)
        connection.destination = arrival.destination
        if self.draining:
            self._pump.drain_one(connection)

    async def _authenticate(self, arrival: Arrival, client: socket.socket, by: Authenticator) -> None:
        """Have the client authenticate to kproxy; raises `Fault`. One that is refused can read why before its end."""
        try:
            await self.logins.authenticate(arrival, client, by, self._timeouts)
        except Fault as fault:
            if fault.reason is Reason.AUTHENTICATION_FAILED:
                with boundary(self._troubles, Where.LINGERING):
                    self._pump.lingering.add(_taken_from(client), at_once=False)
            raise

    async def _first_bytes(self, client: socket.socket, most: int = SNIFFED_BYTES) -> bytes:
        """Wait for the client's first bytes, and return them without taking them; raises `Fault` where none come."""
        if self.draining:  # accepted, but not seen here before: treated like a client that connects now
            raise Fault(Reason.DRAINED, "")
        first = peek(client, most)
        if first is None:
            if not await self._silent.speaks(client):
                raise self._said_nothing()
            first = peek(client, most)
        if not first:
            raise Fault(Reason.CLIENT_CLOSED, "")
        return first

    def _said_nothing(self) -> Fault:
        if self.draining:
            return Fault(Reason.DRAINED, "")
        return Fault(Reason.IDLE_TIMEOUT, f"no request in {self._timeouts.first_request:g} s")


def _taken_from(client: socket.socket) -> socket.socket:
    """Return the client's connection; to close its former socket does nothing any more."""
    taken = socket.socket(fileno=client.detach())
    taken.setblocking(False)
    return taken


def _check_own_limit(destination: Destination) -> None:
    most = destination.max_connections
    if most is not None and destination.counters.connections_active > most:
        raise Fault(Reason.CLUSTER_LIMIT, f"the virtual cluster has {most} connections, the most (max_connections)")


def _ending(arrival: Arrival, fault: Fault) -> tuple[Reason, str]:
    """Return reason and detail, but no reset where a load balancer's own connection ends so. HAProxy's checks do.

    No fault is returned: kept in a variable of the frames that it has passed, it would keep them, and all the client
    had, until the next collection.
    """
    if fault.reason is Reason.CLIENT_RESET and arrival.is_of(arrival.destination.balancers):
        return Reason.CLIENT_CLOSED, _CHECKED
    return fault.reason, fault.detail


def _farewell(first: bytes, client: socket.socket) -> bool:
    """Return True if these bytes after a handshake are the client's end: a FIN, or a close_notify before it goes.

    TLS 1.3 hides which record is an alert, but not its size, for which a request is too large.
    """
    if not first.startswith(_HIDDEN_ALERT):
        return not first or first.startswith(_ALERT)
    return has_ended(client)
