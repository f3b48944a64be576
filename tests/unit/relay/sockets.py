"""Real sockets around a real pump: a client, a broker, the bytes they exchange, and checks that nothing leaks."""

from __future__ import annotations

import gc
import math
import os
import random
import resource
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import trio

from kproxy.authentication.authenticator import Authenticator
from kproxy.cluster.error_reports import ErrorReports
from kproxy.cluster.policies import composed, composed_retired
from kproxy.config import Limits, Timeouts
from kproxy.observe.counters import ClusterCounters
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.context import Context
from kproxy.protocol.network import Networks
from kproxy.quotas.connections import PrincipalConnections
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.relay.apis import RETIRED_KEYS
from kproxy.relay.connection import Connection
from kproxy.relay.pump import Pump
from kproxy.upstream.authentication import Asked
from kproxy.upstream.tls import BrokerContext, ServerContext
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.primitives import frame
from tests.support.wait import GENEROUS

HOST = "127.0.0.1"
KIB, MIB = 1 << 10, 1 << 20
FETCH, HEARTBEAT, API_VERSIONS = 1, 12, 18
PASSING = 4
"""A version of Fetch whose responses pass unseen, so that a body can be any bytes."""
RESET = struct.pack("ii", 1, 0)


def request(correlation_id: int, body: bytes = b"", key: int = FETCH, version: int = PASSING) -> bytes:
    """A request that the relay passes after reading its head."""
    return frame(struct.pack(">hhi", key, version, correlation_id), body)


def response(correlation_id: int, body: bytes = b"") -> bytes:
    """A response that the relay passes after reading its head."""
    return frame(struct.pack(">i", correlation_id), body)


def noise(size: int, seed: int = 1) -> bytes:
    """Bytes in which every cut and every exchange shows."""
    return random.Random(seed).randbytes(size)


class Backend:
    """A virtual cluster for the relay; `servers` are the addresses to dial, `means` its decision."""

    def __init__(self, *servers: tuple[str, int]) -> None:
        self.epoch = 0
        self.errors = ErrorReports(lambda: False, lambda _: None)
        self.own: tuple[tuple[int, int, int], ...] = ()
        self.counters = ClusterCounters("test")
        self.cluster_id: str | None = None
        self.table = ApiTable(self.counters, composed(self, {}, None))
        self.retired_table = ApiTable(self.counters, composed_retired(self), only=RETIRED_KEYS)
        self.tls: ServerContext | None = None
        self.upstream_tls: BrokerContext | None = None
        self.balancers = Networks()
        self.max_connections: int | None = None
        self.removed = False
        self.authenticator: Authenticator | None = None
        self.served_by_brokers: ApiVersionsResponse | None = None
        self.session_seconds = math.inf
        self.connections = PrincipalConnections(None)
        self.means = Action.SERVE
        self.served = self.table.served()
        self.servers = servers
        self.audited: list[tuple[str | None, str, str | None]] = []
        self.refused: list[tuple[Reason, str]] = []
        self.asked: list[int | None] = []
        self.own_ports: set[int] = set()
        self.slow: list[tuple[tuple[str, int], str]] = []
        self.dials: list[tuple[int | None, tuple[str, int], Reason | None, str]] = []

    def audit(self, context: Context, mechanism: str, refused: str | None) -> None:
        """As `kproxy.relay.destination.Destination` says."""
        self.audited.append((context.principal, mechanism, refused))

    def not_admitted(self, context: Context, reason: Reason, detail: str) -> None:
        """As `kproxy.relay.destination.Destination` says."""
        self.refused.append((reason, detail))

    def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """As `kproxy.relay.apis.reauthentication.Authenticating` says."""
        trio.lowlevel.spawn_system_task(work)

    def authenticated(self, context: Context) -> None:
        """As `kproxy.relay.destination.Destination` says."""
        self.connections.note(context)

    async def identify(self, broker: Asked, where: str) -> float:
        """As `kproxy.relay.destination.Destination` says, without an identity."""
        del broker, where
        return self.session_seconds

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        return local_host, 19092 + node_id

    def decide(self, context: Context, trigger: Trigger) -> Action:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del context, trigger
        return self.means

    def answers_in_flight(self, context: Context) -> bool:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        return self.decide(context, Trigger.COORDINATOR) is Action.NOT_COORDINATOR

    @property
    def may_know_another(self) -> bool:
        """As `kproxy.rebootstrap.answers.Rebootstrap` says."""
        return self.epoch > 0

    def keeps_leader_epochs(self, context: Context) -> bool:
        """As `kproxy.rebootstrap.answers.Rebootstrap` says."""
        del context
        return False

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del context, cluster_id
        return False

    def hides_topic_ids(self, context: Context) -> bool:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del context
        return False

    def brokers(self, local_host: str) -> Sequence[tuple[int, str, int, str | None]]:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        return [(5, local_host, 19097, None)]

    def learn(self, cluster_id: str | None, nodes: Sequence[tuple[int, str, int]]) -> None:
        pass

    def upstreams(self, node_id: int | None) -> Sequence[tuple[str, int]]:
        self.asked.append(node_id)
        return self.servers

    def hello(self, node_id: int | None) -> ApiVersionsResponse | None:
        """As `kproxy.relay.destination.Destination` says."""
        del node_id
        return self.served_by_brokers

    def leads_back(self, node_id: int | None, host: str, port: int, name: str) -> bool:
        """As `kproxy.relay.destination.Destination` says."""
        return port in self.own_ports

    def dialled(self, node_id: int | None, address: tuple[str, int], failure: Reason | None, error: str) -> None:
        self.dials.append((node_id, address, failure, error))

    def overtaken(self, address: tuple[str, int], why: str) -> None:
        """As `kproxy.relay.destination.Destination` says."""
        self.slow.append((address, why))

    @property
    def ended(self) -> dict[str, int]:
        """Connections that ended, by reason."""
        return dict(self.counters.closed)


def pair(*, receive: int | None = None, send: int | None = None) -> tuple[socket.socket, socket.socket]:
    """Both ends of a TCP connection, the far one and the pump's, with buffers of so many bytes."""
    with socket.create_server((HOST, 0)) as listener:
        far = socket.socket()
        if receive is not None:
            far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        far.connect(listener.getsockname())
        near, _ = listener.accept()
    if send is not None:
        near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send)
    for end in (far, near):
        end.setblocking(False)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return far, near


class Peer:
    """The far end of a relayed socket; every wait of it has the test's deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.stream = trio.SocketStream(trio.socket.from_stdlib_socket(sock))

    async def send(self, *chunks: bytes) -> None:
        """Send in one piece, as far as the kernel takes it."""
        await self.stream.send_all(b"".join(chunks))

    async def send_cut(self, data: bytes, seed: int = 1) -> None:
        """Send in pieces of any size from one byte to 200 KiB, so that reads end anywhere."""
        dice, pos = random.Random(seed), 0
        while pos < len(data):
            size = dice.choice((1, 3, 11, 700, 5000, 70_000, 200 * KIB))
            await self.stream.send_all(data[pos : pos + size])
            pos += size

    async def receive(self, size: int) -> bytes:
        """Exactly so many bytes."""
        data = bytearray()
        while len(data) < size:
            part = await self.stream.receive_some(min(size - len(data), MIB))
            assert part, f"closed after {len(data)} of {size} bytes"
            data += part
        return bytes(data)

    async def receive_all(self) -> bytes:
        """Return what arrives until the other side closes."""
        return b"".join([part async for part in self.stream])

    def half_close(self) -> None:
        """Close the sending side; still read."""
        self.stream.socket.shutdown(socket.SHUT_WR)

    async def close(self) -> None:
        """FIN."""
        await self.stream.aclose()

    async def reset(self) -> None:
        """RST instead of FIN."""
        self.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        await self.stream.aclose()


@dataclass
class Relayed:
    """One connection in a pump."""

    pump: Pump
    backend: Backend
    connection: Connection
    client: Peer
    broker: Peer

    async def exchange(self, correlation_id: int, asked: bytes = b"asked", answered: bytes = b"answered") -> None:
        """Exchange one request and its response; both must arrive as they were sent."""
        there, back = request(correlation_id, asked), response(correlation_id, answered)
        await self.client.send(there)
        assert await self.broker.receive(len(there)) == there
        await self.broker.send(back)
        assert await self.client.receive(len(back)) == back

    def close_client(self) -> None:
        """FIN, without waiting."""
        self.client.stream.socket.close()

    def reset_client(self) -> None:
        """RST, without waiting."""
        self.client.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.client.stream.socket.close()

    async def ended(self, *reasons: Reason) -> None:
        """Wait for the connection's end, for one of these reasons; nothing of it may be left in the pump."""
        await eventually(lambda: self.connection.closed, "the connection's end")
        assert set(self.backend.ended) <= set(reasons)
        assert self.connection.id not in self.pump.connections
        assert self.backend.counters.connections_active == len(self.pump.connections)


@dataclass
class Stage:
    """A running pump and the connections that it relays."""

    pump: Pump
    backend: Backend = field(default_factory=Backend)
    limits: Limits = field(default_factory=Limits)
    _peers: list[Peer] = field(default_factory=list)

    def relay(self, *, buffer: int | None = None, limits: Limits | None = None, node_id: int | None = None) -> Relayed:
        """Relay one more connection; the sockets' buffers hold about `buffer` bytes."""
        client, inner_client = pair(receive=buffer, send=buffer)
        broker, inner_broker = pair(receive=buffer, send=buffer)
        context = Context(self.backend, node_id, "client:1", HOST)
        self.backend.counters.connection_opened()
        connection = self.pump.relay(
            context, self.backend.table, limits or self.limits, inner_client, inner_broker, "broker:9092"
        )
        relayed = Relayed(self.pump, self.backend, connection, Peer(client), Peer(broker))
        self._peers += (relayed.client, relayed.broker)
        return relayed

    def quiet(self) -> bool:
        """True if no socket is ready: one that is ready and not handled would be reported again at once, for ever."""
        return all(fd in self.pump._asking for fd, _ in self.pump._epoll.poll(0))  # Trio's events come at any time

    async def close(self) -> None:
        """Close what the tests have left open."""
        for peer in self._peers:
            await peer.close()


@asynccontextmanager
async def stage(*, limits: Limits | None = None, seconds: float = 60, **timeouts: Any) -> AsyncIterator[Stage]:
    """A running pump. At the end it has closed everything, and does not spin."""
    before = descriptors()
    with trio.fail_after(seconds):
        async with trio.open_nursery() as nursery:
            running = Stage(Pump(limits or Limits(), Timeouts(**timeouts)), limits=limits or Limits())
            nursery.start_soon(running.pump.run)
            try:
                await at_work(running.pump)
                yield running
                await eventually(running.quiet, "a quiet epoll")
            finally:
                await running.close()
                nursery.cancel_scope.cancel()
    assert running.backend.counters.connections_active == 0
    assert not descriptors() - before, "descriptors are left open"


async def at_work(pump: Pump) -> None:
    """Wait until it serves: that is when it has its last descriptor."""
    await eventually(lambda: bool(pump._asking), "a pump at work")


@asynccontextmanager
async def black_hole() -> AsyncIterator[tuple[str, int]]:
    """An address that does not answer: a listener whose backlog is full."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        await trio.sleep(0.05)
        try:
            yield listener.getsockname()
        finally:
            for filler in fillers:
                filler.close()


def open_files() -> int:
    """The number of descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))


def descriptors() -> frozenset[tuple[int, str]]:
    """The descriptors of this process and what they are.

    Compare them as sets, not by number: the garbage collector closes what an earlier test has left (a pump that never
    ran has an epoll) whenever it runs, and it runs where much is allocated, as for a traceback.
    """
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the listing's own
            found.add((int(number), os.readlink(f"/proc/self/fd/{number}")))
    return frozenset(found)


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Allow no new descriptor inside."""
    gc.collect()  # an event loop of an earlier test may have one, which must not become free inside
    gc.disable()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        gc.enable()


async def eventually(true: Callable[[], bool], what: str, seconds: float = 10) -> None:
    """Wait until `true()`; AssertionError names `what` at the deadline."""
    seconds *= GENEROUS
    with trio.move_on_after(seconds):
        while not true():  # noqa: ASYNC110  (what is waited for has no event)
            await trio.sleep(0.005)
    assert true(), f"not within {seconds} s: {what}"


async def stays(true: Callable[[], bool], what: str, seconds: float) -> None:
    """Assert that `true()` holds for a while."""
    with trio.move_on_after(seconds):
        while True:
            assert true(), what
            await trio.sleep(0.01)
