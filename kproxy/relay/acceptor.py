"""Admits a client: waits for its first bytes, dials a broker, then hands both sockets to the pump.

Every listener of a virtual cluster calls `admit` for each client that connects, in a task of its own.

No broker is dialled for a connection that sends nothing or speaks another protocol: load balancers' health checks cost
the brokers nothing.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

import structlog
import trio

from kproxy.config.address import join_host_port
from kproxy.observe.reasons import Reason
from kproxy.protocol.context import Context, VirtualCluster
from kproxy.protocol.fault import Fault
from kproxy.relay.record import record
from kproxy.relay.sniff import foreign_protocol
from kproxy.upstream.dial import open_tcp, reason

if TYPE_CHECKING:
    from kproxy.config import Limits, Timeouts
    from kproxy.protocol.api_table import ApiTable
    from kproxy.relay.pump import Pump

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

log = structlog.get_logger("kproxy.relay")


class Destination(VirtualCluster, Protocol):
    """A virtual cluster that connections can be made to."""

    table: ApiTable
    retired_table: ApiTable
    """For listeners of a node that is gone."""

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
        self._limits = limits
        self._timeouts = timeouts
        self.waiting = 0
        """How many clients are not admitted yet."""
        self.draining = False
        self._silent: set[trio.CancelScope] = set()
        self._emptied = trio.Event()

    async def admit(
        self, destination: Destination, node_id: int | None, client: socket.socket, *, retired: bool = False
    ) -> None:
        """Admit a client; its socket belongs to the acceptor from now on. Never raises but for cancellation.

        `retired` when the listener's node is gone: the client reaches any node, by the destination's `retired_table`.
        """
        context = Context(destination, node_id, _peer(client), _host(client), retired=retired)
        destination.counters.connection_opened()
        self.waiting += 1
        try:
            await self._admit(destination, context, client)
        except Fault as fault:
            client.close()
            record(context, fault.reason, fault.detail)
        except Exception as error:  # one client's failure is never another's
            client.close()
            log.error("internal error", client=context.client, exc_info=error)
            record(context, Reason.INTERNAL_ERROR, repr(error))
        except BaseException:  # cancelled; while dialling, Trio wraps it in a group
            client.close()
            record(context, Reason.SHUTDOWN, "")
            raise
        finally:
            self.waiting -= 1
            if not self.waiting:
                self._emptied.set()

    def drain(self) -> None:
        """End clients that have sent nothing yet; those that have are still admitted, and then drained."""
        self.draining = True
        for scope in self._silent:
            scope.cancel()

    async def wait_empty(self) -> None:
        """Wait until every client is admitted or refused."""
        while self.waiting:
            self._emptied = trio.Event()
            await self._emptied.wait()

    async def _admit(self, destination: Destination, context: Context, client: socket.socket) -> None:
        most = self._limits.max_connections
        if most is not None and len(self._pump.connections) + self.waiting > most:
            raise Fault(Reason.CLIENT_LIMIT, f"limits.max_connections is {most}")
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        unpace(client)
        await self._first_bytes(client)
        broker, address = await self._dial(destination, context.node_id)
        if context.stale:  # the dialled broker belongs to the topology before
            broker.close()
            raise Fault(Reason.REBOOTSTRAP, f"the topology changed while {address} was dialled")
        table = destination.retired_table if context.retired else destination.table
        connection = self._pump.relay(context, table, self._limits, client, broker, address)
        if self.draining:
            self._pump.drain_one(connection)

    async def _first_bytes(self, client: socket.socket) -> None:
        # Accepted, but not seen here before the drain began: treated like a client that connects now.
        with trio.move_on_after(0 if self.draining else self._timeouts.first_request) as scope:
            self._silent.add(scope)
            try:
                await trio.lowlevel.wait_readable(client)
            finally:
                self._silent.discard(scope)
        if self.draining and scope.cancelled_caught:
            raise Fault(Reason.DRAINED, "")
        if scope.cancelled_caught:
            raise Fault(Reason.IDLE_TIMEOUT, f"no request in {self._timeouts.first_request:g} s")
        try:
            first = client.recv(_SNIFFED_BYTES, socket.MSG_PEEK)
        except OSError as error:
            raise Fault(Reason.CLIENT_RESET, error.strerror or "") from error
        if not first:
            raise Fault(Reason.CLIENT_CLOSED, "")
        foreign = foreign_protocol(first)
        if foreign is not None:
            raise Fault(foreign, "the client does not speak Kafka in plaintext")

    async def _dial(self, destination: Destination, node_id: int | None) -> tuple[socket.socket, str]:
        """Connect to the first address that answers; raises `Fault` with the last one's reason."""
        fault = Fault(Reason.CONNECT_FAILED, f"node {node_id} has no known address")
        for host, port in destination.upstreams(node_id):
            failure, error = Reason.CONNECT_TIMEOUT, f"no answer in {self._timeouts.connect:g} s"
            with trio.move_on_after(self._timeouts.connect):
                try:
                    stream = await open_tcp(host, port)
                except OSError as refused:
                    failure, error = _failure(refused), reason(refused)
                else:
                    destination.dialled(node_id, (host, port), None, "")
                    return _plain(stream), f"{host}:{port}"
            destination.dialled(node_id, (host, port), failure, error)
            fault = Fault(failure, f"{host}:{port}: {error}")
        raise fault


def _failure(error: OSError) -> Reason:
    if isinstance(error, socket.gaierror):
        return Reason.RESOLVE_FAILED
    causes = error.__cause__.exceptions if isinstance(error.__cause__, ExceptionGroup) else (error,)
    if any(isinstance(cause, OSError) and cause.errno in (errno.EMFILE, errno.ENFILE) for cause in causes):
        return Reason.OUT_OF_DESCRIPTORS
    return Reason.CONNECT_FAILED


def _plain(stream: trio.abc.Stream) -> socket.socket:
    """Take the stream's socket out of Trio's hands; make it non-blocking."""
    assert isinstance(stream, trio.SocketStream)
    sock = socket.socket(fileno=stream.socket.detach())
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _peer(client: socket.socket) -> str:
    try:
        host, port = client.getpeername()[:2]
    except OSError:  # gone before its address was read
        return "unknown"
    return join_host_port(host, port)


def _host(client: socket.socket) -> str:
    host: str = client.getsockname()[0]
    return host.removeprefix("::ffff:")
