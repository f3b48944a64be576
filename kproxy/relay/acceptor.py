"""Admits a client: waits for its first bytes, dials a broker, then hands both sockets to the pump.

Every listener of a virtual cluster calls `admit` for each client that connects, in a task of its own.

No broker is dialled for a connection that sends nothing or speaks another protocol: load balancers' health checks cost
the brokers nothing.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

import trio

from kproxy.config.address import join_host_port
from kproxy.observe.faults import boundary, note, note_shortage
from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where
from kproxy.protocol.context import Context, VirtualCluster
from kproxy.protocol.fault import Fault
from kproxy.relay.accept_turns import AcceptTurns
from kproxy.relay.connection_quotas import ConnectionQuotas
from kproxy.relay.descriptors import descriptor_limit
from kproxy.relay.dial_slots import DialSlots
from kproxy.relay.proxy_header import MOST, ProxyHeader
from kproxy.relay.record import record
from kproxy.relay.sniff import foreign_protocol, no_hello
from kproxy.upstream.dial import open_tcp, reason, shortage_of
from kproxy.upstream.tls import shake_hands

if TYPE_CHECKING:
    from kproxy.config import Limits, Timeouts
    from kproxy.protocol.api_table import ApiTable
    from kproxy.protocol.network import Networks
    from kproxy.relay.pump import Pump
    from kproxy.upstream.tls import BrokerContext, ServerContext

_PACING: Final = b"bbr"
"""The congestion control that paces what it sends: by timers where no queue (fq) does so, as on the loopback."""
_PLAIN: Final = b"reno"
"""Built into every Linux, and always free for an unprivileged process to choose."""
_NAME_BYTES: Final = 16


def unpace(client: socket.socket) -> None:
    """Have bytes for a client on the same machine, such as a sidecar, go out at once; others keep the system's way.

    Timers took half of what a large Fetch response cost (docs/maintainers/performance-log.md, Pacing). Towards brokers
    pacing stays: without it they receive a large request in more and smaller parts.
    """
    try:
        if not client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _NAME_BYTES).startswith(_PACING):
            return
        if client.getpeername()[0] == client.getsockname()[0]:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _PLAIN)
    except OSError:
        pass  # the client is gone; the next read finds out


_SNIFFED_BYTES: Final = 16
_ALERT: Final = b"\x15\x03"
_HIDDEN_ALERT: Final = b"\x17\x03\x03\x00\x13"
_ESTABLISHED: Final = 1
"""TCP_ESTABLISHED of Linux's tcp_states.h; once the peer has sent its FIN or a reset the state is another."""
_PROBES: Final = 4


class Destination(VirtualCluster, Protocol):
    """A virtual cluster that connections can be made to."""

    table: ApiTable
    retired_table: ApiTable
    """For listeners of a node that is gone."""
    tls: ServerContext | None
    """What clients are shown; None where they speak plaintext."""

    balancers: Networks
    """The networks of load balancers that say whose connections they pass on."""
    max_connections: int | None
    """Its own connections at a time; None for no limit of its own."""

    @property
    def upstream_tls(self) -> BrokerContext | None:
        """For connections to its brokers; None for plaintext."""

    def upstreams(self, node_id: int | None) -> Sequence[tuple[str, int]]:
        """Return the addresses to dial for a node, best first; None is for the bootstrap servers.

        Returns none when the node is unknown, the bootstrap servers when it is gone and its listener is still open.
        """

    def dialled(self, node_id: int | None, address: tuple[str, int], failure: Reason | None, error: str) -> None:
        """Take note of how dialling an address went; `failure` is None when it was reached."""


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
        self._dials = DialSlots()
        self._silent = pump.silent
        self._emptied = trio.Event()

    async def admit(
        self, destination: Destination, node_id: int | None, client: socket.socket, *, retired: bool = False
    ) -> None:
        """Admit a client; its socket belongs to the acceptor from now on. Never raises but for cancellation.

        `retired` when the listener's node is gone: the client reaches any node, by the destination's `retired_table`.
        """
        context: Context | None = None
        counted: Context | None = None  # until the pump has the connection
        destination.counters.connection_opened()
        self.waiting += 1
        try:
            context = Context(destination, node_id, _peer(client), _host(client), retired=retired)
            client.setblocking(False)
            self._check(partial(_check_own_limit, destination))
            if destination.balancers.have(context.host):
                await self._learn_client(context, client)
            self._count(context)
            counted = context
            await self._admit(destination, context, client)
            counted = None
        except Fault as fault:
            self._end(destination, context, client, fault.reason, fault.detail)
        except Exception as error:  # one client's failure is never another's
            note(self._troubles, Where.ADMIT, error)
            self._end(destination, context, client, Reason.INTERNAL_ERROR, repr(error))
        except BaseException:  # cancelled; while dialling, Trio wraps it in a group
            self._end(destination, context, client, Reason.SHUTDOWN, "")
            raise
        finally:
            if counted is not None:
                self._left(counted)
            self.waiting -= 1
            if not self.waiting:
                self._emptied.set()

    async def _learn_client(self, context: Context, client: socket.socket) -> None:
        """Read a load balancer's header, and take the client's own address from it; raises `Fault`."""
        self._check(lambda: self.quotas.check_room(self._others()))
        header = ProxyHeader()
        socket.socket.recv(client, header.feed(await self._first_bytes(client, MOST)))
        with trio.move_on_after(self._timeouts.first_request) as patience:
            while not header.done:
                socket.socket.recv(client, header.feed(await self._first_bytes(client, MOST)))
        if patience.cancelled_caught:
            raise Fault(Reason.PROXY_HEADER, f"no whole PROXY header in {self._timeouts.first_request:g} s")
        if header.source is not None:
            context.client = header.source

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

    def _end(
        self, destination: Destination, context: Context | None, client: socket.socket, reason: Reason, detail: str
    ) -> None:
        """Close a client's socket and record that; without a context only count it. Never raises."""
        with boundary(self._troubles, Where.CLOSE):
            client.close()
        with boundary(self._troubles, Where.CLOSE):
            if context is None:
                destination.counters.connection_closed(reason)
            else:
                record(context, reason, detail)

    def drain(self) -> None:
        """End clients that have sent nothing yet; those that have are still admitted, and then drained."""
        self.draining = True
        self._silent.dismiss()

    async def wait_empty(self) -> None:
        """Wait until every client is admitted or refused."""
        while self.waiting:
            self._emptied = trio.Event()
            await self._emptied.wait()

    async def _admit(self, destination: Destination, context: Context, client: socket.socket) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        keep_alive(client, self._timeouts.tcp_keepalive)
        unpace(client)
        first = await self._first_bytes(client)
        if destination.tls is None:
            if foreign := foreign_protocol(first):
                raise Fault(foreign, "the client does not speak Kafka in plaintext")
            await self._relay(destination, context, client)
            return
        if no_tls := no_hello(first):
            raise no_tls
        try:
            secured = destination.tls.wrap(client)
        except OSError as error:
            raise Fault(Reason.CLIENT_RESET, "gone before the TLS handshake") from error
        try:
            await self._secure(secured)
            await self._relay(destination, context, secured)
        except BaseException:
            secured.close()
            raise

    async def _secure(self, client: ssl.SSLSocket) -> None:
        """Shake hands, then wait for the first request; raises `Fault`."""

        async def readable() -> None:
            if self.draining or not await self._silent.speaks(client):
                raise self._said_nothing()

        with trio.move_on_after(self._timeouts.tls_handshake):
            try:
                await shake_hands(client, readable)
            except OSError as error:
                raise Fault(Reason.TLS_FAILED, reason(error)) from error
            first = _peek(client)
            if first is None:
                await readable()
                first = _peek(client)
            if first is not None and _farewell(first, client):
                raise Fault(Reason.CLIENT_CLOSED, "")
            return
        raise Fault(Reason.TLS_TIMEOUT, f"no handshake and request in {self._timeouts.tls_handshake:g} s")

    async def _relay(self, destination: Destination, context: Context, client: socket.socket) -> None:
        broker, address = await self._dial(destination, context.node_id)
        keep_alive(broker, self._timeouts.tcp_keepalive)
        if context.stale:  # the dialled broker belongs to the topology before
            broker.close()
            raise Fault(Reason.REBOOTSTRAP, f"the topology changed while {address} was dialled")
        table = destination.retired_table if context.retired else destination.table
        connection = self._pump.relay(context, table, self._limits, client, broker, address)
        if self.draining:
            self._pump.drain_one(connection)

    async def _first_bytes(self, client: socket.socket, most: int = _SNIFFED_BYTES) -> bytes:
        """Wait for the client's first bytes, and return them without taking them; raises `Fault` where none come."""
        if self.draining:  # accepted, but not seen here before: treated like a client that connects now
            raise Fault(Reason.DRAINED, "")
        first = _peek(client, most)
        if first is None:
            if not await self._silent.speaks(client):
                raise self._said_nothing()
            first = _peek(client, most)
        if not first:
            raise Fault(Reason.CLIENT_CLOSED, "")
        return first

    def _said_nothing(self) -> Fault:
        if self.draining:
            return Fault(Reason.DRAINED, "")
        return Fault(Reason.IDLE_TIMEOUT, f"no request in {self._timeouts.first_request:g} s")

    async def _dial(self, destination: Destination, node_id: int | None) -> tuple[socket.socket, str]:
        """Connect to the first address that answers; raises `Fault` with the last one's reason."""
        fault = Fault(Reason.CONNECT_FAILED, f"node {node_id} has no known address")
        for host, port in destination.upstreams(node_id):
            failure, error = Reason.CONNECT_TIMEOUT, f"no answer in {self._timeouts.connect:g} s"
            with trio.move_on_after(self._timeouts.connect):
                try:
                    async with self._dials.slot((host, port)):
                        broker = await _connected(host, port, destination.upstream_tls)
                except OSError as refused:
                    failure, error = self._failure(refused, f"{host}:{port}"), reason(refused)
                else:
                    destination.dialled(node_id, (host, port), None, "")
                    return broker, f"{host}:{port}"
            destination.dialled(node_id, (host, port), failure, error)
            fault = Fault(failure, f"{host}:{port}: {error}")
        raise fault

    def _failure(self, error: OSError, where: str) -> Reason:
        if shortage := shortage_of(error):
            note_shortage(self._troubles, shortage, f"connect to {where} for a client")
            return Reason.OUT_OF_DESCRIPTORS
        if isinstance(error, ssl.SSLError):
            return Reason.UPSTREAM_TLS_FAILED
        return Reason.RESOLVE_FAILED if isinstance(error, socket.gaierror) else Reason.CONNECT_FAILED


def _check_own_limit(destination: Destination) -> None:
    most = destination.max_connections
    if most is not None and destination.counters.connections_active > most:
        raise Fault(Reason.CLUSTER_LIMIT, f"the virtual cluster has {most} connections, the most (max_connections)")


def _peek(client: socket.socket, most: int = _SNIFFED_BYTES) -> bytes | None:
    """Return the first bytes without taking them, empty at the end; None when there are none yet."""
    try:
        return socket.socket.recv(client, most, socket.MSG_PEEK)  # of the wire, also where that is TLS
    except BlockingIOError:
        return None
    except OSError as error:
        raise Fault(Reason.CLIENT_RESET, error.strerror or "") from error


def _farewell(first: bytes, client: socket.socket) -> bool:
    """Return True if these bytes after a handshake are the client's end: a FIN, or a close_notify before it goes.

    TLS 1.3 hides which record is an alert, but not its size, for which a request is too large.
    """
    if not first.startswith(_HIDDEN_ALERT):
        return not first or first.startswith(_ALERT)
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED


async def _connected(host: str, port: int, tls: BrokerContext | None) -> socket.socket:
    """Return a non-blocking socket that is connected to a broker; raises OSError."""
    plain = _plain(await open_tcp(host, port))
    if tls is None:
        return plain
    secured = tls.wrap(plain, host)
    try:
        await shake_hands(secured, partial(trio.lowlevel.wait_readable, secured))
    except BaseException:
        secured.close()
        raise
    return secured


def _plain(stream: trio.abc.Stream) -> socket.socket:
    """Take the stream's socket out of Trio's hands; make it non-blocking."""
    assert isinstance(stream, trio.SocketStream)
    sock = socket.socket(fileno=stream.socket.detach())
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def keep_alive(sock: socket.socket, seconds: float) -> None:
    """Have TCP ask a quiet peer whether it is there, and give it up after twice as many seconds.

    A peer that vanished without a word, as behind a firewall, would otherwise hold two descriptors for ever.
    """
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, int(seconds))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, max(1, int(seconds) // _PROBES))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)


def _peer(client: socket.socket) -> str:
    try:
        host, port = client.getpeername()[:2]
    except OSError:  # gone before its address was read
        return "unknown"
    return join_host_port(host, port)


def _host(client: socket.socket) -> str:
    try:
        host: str = client.getsockname()[0]
    except OSError:  # as in `_peer`
        return ""
    return host.removeprefix("::ffff:")
