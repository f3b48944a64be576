"""Admitting clients: which get a broker connection, which do not and why, and what a drain does to both."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
import trio

from kproxy.config import Limits, Timeouts
from kproxy.observe.reasons import Reason
from kproxy.protocol.network import Networks
from kproxy.relay import broker_dial
from kproxy.relay.acceptor import Acceptor
from kproxy.relay.entrance import Entrance
from kproxy.relay.pump import Pump
from tests.unit.relay import frames
from tests.unit.relay.sockets import (
    HOST,
    RESET,
    Backend,
    Peer,
    black_hole,
    eventually,
    open_files,
    pair,
    request,
    response,
    stays,
)

UNANSWERED = frames.produce(7, 1, acks=0)
"""A first request that no broker owes an answer."""


class Broker:
    """A listening socket in place of a broker."""

    def __init__(self) -> None:
        self.listener = socket.create_server((HOST, 0))
        self.listener.setblocking(False)
        self.address: tuple[str, int] = self.listener.getsockname()
        self.peers: list[Peer] = []

    async def accept(self) -> Peer:
        """Return the next connection."""
        await trio.lowlevel.wait_readable(self.listener)
        sock, _ = self.listener.accept()
        sock.setblocking(False)
        self.peers.append(Peer(sock))
        return self.peers[-1]

    def nobody_came(self) -> bool:
        try:
            self.listener.accept()[0].close()
        except BlockingIOError:
            return True
        return False

    async def close(self) -> None:
        self.listener.close()
        for peer in self.peers:
            await peer.close()


@dataclass
class Listener:
    """An acceptor, the pump behind it, and the broker that it dials."""

    nursery: trio.Nursery
    pump: Pump
    acceptor: Acceptor
    backend: Backend
    broker: Broker
    _clients: list[Peer] = field(default_factory=list)

    def come(self, node_id: int | None = None, *, retired: bool = False, entrance: Entrance | None = None) -> Peer:
        """Connect a client, and hand it to the acceptor; at an entrance, if there is one."""
        far, near = pair()
        near.setblocking(True)
        if entrance is None:
            self.nursery.start_soon(partial(self.acceptor.admit, self.backend, node_id, near, retired=retired))
        else:
            self.nursery.start_soon(self.acceptor.admit_by_name, entrance, near)
        self._clients.append(Peer(far))
        return self._clients[-1]

    async def ended(self, *reasons: Reason) -> None:
        """Wait until as many connections have ended, for these reasons."""
        expected: dict[str, int] = {}
        for reason in reasons:
            expected[reason] = expected.get(reason, 0) + 1
        await eventually(lambda: sum(self.backend.ended.values()) >= len(reasons), f"ends: {reasons}")
        assert self.backend.ended == expected

    async def close(self) -> None:
        for peer in self._clients:
            await peer.close()
        await self.broker.close()


@asynccontextmanager
async def open_acceptor(
    *, limits: Limits | None = None, servers: list[tuple[str, int]] | None = None, **timeouts: Any
) -> AsyncIterator[Listener]:
    """An acceptor that takes clients; at the end none is left in it, and no descriptor."""
    before = open_files()
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            waits = Timeouts(**timeouts)
            pump, broker = Pump(Limits(), waits), Broker()
            backend = Backend(*(servers if servers is not None else [broker.address]))
            made = Listener(nursery, pump, Acceptor(pump, limits or Limits(), waits), backend, broker)
            nursery.start_soon(pump.run)
            try:
                yield made
            finally:
                if not nursery.cancel_scope.cancel_called:
                    await made.close()
                nursery.cancel_scope.cancel()
        await made.close()
    assert made.acceptor.waiting == 0
    assert len(made.acceptor.quotas) == 0, "connections are still counted by address"
    assert len(pump.silent) == 0
    assert backend.counters.connections_active == 0
    assert sum(backend.ended.values()) == backend.counters.connections_opened
    assert open_files() <= before, "descriptors are left open"


async def closed(peer: Peer) -> bytes:
    """What arrives until the end, by FIN or RST."""
    try:
        return await peer.receive_all()
    except trio.BrokenResourceError:
        return b""


async def test_a_client_that_speaks_is_let_in() -> None:
    """Its first request reaches the broker, and the response the client; the cluster is notified of the dial."""
    async with open_acceptor() as opened:
        client = opened.come(7)
        await client.send(request(1))
        broker = await opened.broker.accept()
        assert await broker.receive(len(request(1))) == request(1)
        await broker.send(response(1))
        assert await client.receive(len(response(1))) == response(1)
        assert opened.backend.dials == [(7, opened.broker.address, None, "")]
        (connection,) = opened.pump.connections.values()
        assert connection.context.node_id == 7
        assert connection.context.client == "{}:{}".format(*client.sock.getsockname())
        assert connection.context.local_host == HOST
        assert connection.upstream == "{}:{}".format(*opened.broker.address)


async def test_a_silent_client_dials_nobody_and_is_closed() -> None:
    """It costs the brokers nothing, and is closed at the timeout."""
    async with open_acceptor(first_request=0.2) as opened:
        client = opened.come()
        assert await closed(client) == b""
        await opened.ended(Reason.IDLE_TIMEOUT)
        assert opened.broker.nobody_came()


async def test_health_checks_dial_nobody() -> None:
    """They connect and close, or connect and reset, as load balancers do."""
    async with open_acceptor() as opened:
        await opened.come().close()
        await opened.ended(Reason.CLIENT_CLOSED)
        client = opened.come()
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        await client.close()
        await opened.ended(Reason.CLIENT_CLOSED, Reason.CLIENT_RESET)
        assert opened.broker.nobody_came()
        assert opened.backend.dials == []


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", Reason.TLS_ON_PLAINTEXT),
        (b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n", Reason.HTTP_ON_KAFKA_PORT),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Reason.HTTP_ON_KAFKA_PORT),
        (b"PROXY TCP4 192.0.2.9 10.0.0.1 1234 9092\r\n", Reason.UNEXPECTED_PROXY_HEADER),
        (b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", Reason.UNEXPECTED_PROXY_HEADER),
    ],
)
async def test_other_protocols_dial_nobody(first: bytes, reason: Reason) -> None:
    """Each is refused under its own name, and counted as a protocol error."""
    async with open_acceptor() as opened:
        client = opened.come()
        await client.send(first)
        await closed(client)
        await opened.ended(reason)
        assert opened.broker.nobody_came()
        assert opened.backend.counters.protocol_errors == {reason: 1}


async def test_http_that_comes_byte_by_byte() -> None:
    """If the first byte is not enough, the next ones show the protocol."""
    async with open_acceptor() as opened:
        client = opened.come()
        await client.send(b"G")
        await opened.broker.accept()
        await client.send(b"ET / HTTP/1.1\r\n\r\n")
        await closed(client)
        await opened.ended(Reason.HTTP_ON_KAFKA_PORT)


async def test_a_broker_that_refuses() -> None:
    """The client is closed, and the failed dial is reported with the kernel's message."""
    with socket.create_server((HOST, 0)) as gone:
        address = gone.getsockname()
    async with open_acceptor(servers=[address]) as opened:
        client = opened.come()
        await client.send(request(1))
        await closed(client)
        await opened.ended(Reason.CONNECT_FAILED)
        assert opened.backend.dials == [(None, address, Reason.CONNECT_FAILED, "connection refused")]


async def test_a_broker_that_does_not_answer() -> None:
    """It gets `timeouts.connect`, then the client is closed."""
    async with black_hole() as address, open_acceptor(servers=[address], connect=0.3) as opened:
        client = opened.come()
        await client.send(request(1))
        began = trio.current_time()
        await closed(client)
        assert trio.current_time() - began > 0.2
        await opened.ended(Reason.CONNECT_TIMEOUT)
        assert opened.backend.dials == [(None, address, Reason.CONNECT_TIMEOUT, "no answer in 0.3 s")]


async def test_bootstrap_servers_are_tried_in_turn() -> None:
    """A name without an address, a silent host and a closed port do not matter while one server answers."""
    with socket.create_server((HOST, 0)) as gone:
        refusing = gone.getsockname()
    unknown = ("no-such-host.invalid", 9092)
    async with black_hole() as silent, open_acceptor(connect=0.5) as opened:
        opened.backend.servers = (unknown, silent, refusing, opened.broker.address)
        client = opened.come()
        await client.send(request(1))
        broker = await opened.broker.accept()
        assert await broker.receive(len(request(1))) == request(1)
        assert [(address, failure) for _, address, failure, _ in opened.backend.dials[1:]] == [
            (silent, Reason.CONNECT_TIMEOUT),
            (refusing, Reason.CONNECT_FAILED),
            (opened.broker.address, None),
        ]
        assert opened.backend.dials[0][2] in (Reason.RESOLVE_FAILED, Reason.CONNECT_TIMEOUT)


async def test_a_silent_bootstrap_server_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one is dialled beside it, and wins; the silent one has not failed, but it is no longer the first."""
    monkeypatch.setattr(broker_dial, "OVERLAP", 0.4)
    async with black_hole() as silent, open_acceptor(connect=60) as opened:
        opened.backend.servers = (silent, opened.broker.address)
        client = opened.come()
        await client.send(request(1))
        broker = await opened.broker.accept()
        assert await broker.receive(len(request(1))) == request(1)
        assert opened.backend.slow == [(silent, "no answer in 0.4 s")]
        assert opened.backend.dials == [(None, opened.broker.address, None, "")]


async def test_a_server_that_is_named_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes may have one address for a while, and both dials of it end."""
    monkeypatch.setattr(broker_dial, "OVERLAP", 0.05)
    async with black_hole() as silent, open_acceptor(connect=0.3) as opened:
        opened.backend.servers = (silent, silent)
        await opened.come().send(request(1))
        await opened.ended(Reason.CONNECT_TIMEOUT)


async def test_a_name_without_an_address() -> None:
    """It has another reason than a host that refuses."""
    async with open_acceptor(servers=[("no-such-host.invalid", 9092)]) as opened:
        await opened.come().send(request(1))
        await opened.ended(Reason.RESOLVE_FAILED)


async def test_a_node_without_a_known_address() -> None:
    """There is no address to dial."""
    async with open_acceptor(servers=[]) as opened:
        await opened.come(5).send(request(1))
        await opened.ended(Reason.CONNECT_FAILED)
        assert opened.backend.dials == []


async def test_the_limit_of_connections() -> None:
    """Clients not admitted yet count, too; one that goes makes room."""
    async with open_acceptor(limits=Limits(max_connections=2)) as opened:
        first, _second = opened.come(), opened.come()
        await first.send(UNANSWERED)
        await opened.broker.accept()
        await eventually(lambda: len(opened.pump.connections) == 1 == opened.acceptor.waiting, "one in, one waiting")
        assert await closed(opened.come()) == b""
        await opened.ended(Reason.CLIENT_LIMIT)
        assert opened.backend.refused == [
            (Reason.CLIENT_LIMIT, "there are 2 connections, the most (limits.max_connections)")
        ]
        await first.reset()
        await opened.ended(Reason.CLIENT_LIMIT, Reason.CLIENT_RESET)
        assert len(opened.backend.refused) == 1  # one that was relayed has another event
        await opened.come().send(request(1))
        await opened.broker.accept()


async def test_the_limit_of_an_address() -> None:
    """Beyond it a client is closed at once; one that goes makes room, whether it was relayed or not."""
    async with open_acceptor(limits=Limits(max_connections_per_address=2)) as opened:
        first, second = opened.come(), opened.come()
        await first.send(UNANSWERED)
        await opened.broker.accept()
        await eventually(lambda: len(opened.pump.connections) == 1 == opened.acceptor.waiting, "one in, one waiting")
        assert await closed(opened.come()) == b""
        await opened.ended(Reason.ADDRESS_LIMIT)
        await first.reset()
        await opened.ended(Reason.ADDRESS_LIMIT, Reason.CLIENT_RESET)
        await second.close()
        await opened.ended(Reason.ADDRESS_LIMIT, Reason.CLIENT_RESET, Reason.CLIENT_CLOSED)
        for _ in range(2):
            await opened.come().send(request(1))
            await opened.broker.accept()
        assert await closed(opened.come()) == b""


async def test_the_rate_of_an_address() -> None:
    """A client beyond the burst is closed at once, and costs the others nothing of the rate of all."""
    limits = Limits(connections_per_second_per_address=1, connections_per_second=1)
    async with open_acceptor(limits=limits) as opened:
        for _ in range(20):
            opened.come()
        await eventually(lambda: len(opened.acceptor._silent) == 20, "the burst of 20 seconds")
        assert await opened.acceptor.turns.begin() == 1
        opened.acceptor.turns.end(1)
        assert await closed(opened.come()) == b""
        await opened.ended(Reason.ADDRESS_RATE)
        with trio.fail_after(0.5):
            assert await opened.acceptor.turns.begin() == 1
        opened.acceptor.turns.end(0)


async def test_a_socket_that_lingers_counts() -> None:
    """It has a descriptor until its client has read what was sent to it."""
    async with open_acceptor(limits=Limits(max_connections=1, max_connections_per_address=5)) as opened:
        client = opened.come()
        await client.send(request(1))
        broker = await opened.broker.accept()
        await broker.receive(len(request(1)))
        await broker.send(response(1))
        await client.receive(len(response(1)))
        (connection,) = opened.pump.connections.values()
        connection.close(Reason.DRAINED)
        assert (len(opened.pump.lingering), len(opened.pump.connections)) == (1, 0)
        assert await closed(opened.come()) == b""
        await opened.ended(Reason.DRAINED, Reason.CLIENT_LIMIT)


async def test_peers_that_vanish_are_noticed() -> None:
    """TCP asks quiet clients and brokers whether they are there, from the configured time on."""
    async with open_acceptor(tcp_keepalive=20) as opened:
        await opened.come().send(request(1))
        await opened.broker.accept()
        await eventually(lambda: len(opened.pump.connections) == 1, "a connection")
        (connection,) = opened.pump.connections.values()
        for sock in (connection.client.sock, connection.broker.sock):
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
            assert [sock.getsockopt(socket.IPPROTO_TCP, option) for option in options] == [20, 5, 4]


async def test_an_unexpected_exception_ends_one_client() -> None:
    """A bug in the cluster's own code ends one client's connection; it is logged, and counted as internal."""
    async with open_acceptor() as opened:
        upstreams = opened.backend.upstreams

        def fail(node_id: int | None) -> list[tuple[str, int]]:
            raise ZeroDivisionError("a bug")

        opened.backend.upstreams = fail  # type: ignore[method-assign]
        client = opened.come()
        await client.send(request(1))
        await closed(client)
        await opened.ended(Reason.INTERNAL_ERROR)
        opened.backend.upstreams = upstreams  # type: ignore[method-assign]
        await opened.come().send(request(1))
        await opened.broker.accept()


async def test_ipv6_clients_are_named_with_brackets() -> None:
    """A client that came over IPv4 to `::` reached an IPv4 address."""
    async with open_acceptor() as opened:
        with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
            for host, shown, local in (("::1", "[::1]:", "::1"), (HOST, "[::ffff:127.0.0.1]:", HOST)):
                with socket.create_connection((host, listener.getsockname()[1])) as client:
                    near, _ = listener.accept()
                    opened.nursery.start_soon(opened.acceptor.admit, opened.backend, None, near)
                    client.send(request(1))
                    await opened.broker.accept()
                    await eventually(lambda: len(opened.pump.connections) == 1, "a connection")
                    (connection,) = opened.pump.connections.values()
                    assert connection.context.client.startswith(shown)
                    assert connection.context.local_host == local
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                await eventually(lambda: not opened.pump.connections, "its end")


async def test_drain_closes_silent_clients() -> None:
    """Silent clients are closed at once, as drained; so is one that comes later."""
    async with open_acceptor() as opened:
        silent = [opened.come() for _ in range(3)]
        await eventually(lambda: len(opened.acceptor._silent) == 3, "three silent clients")
        assert opened.acceptor.waiting == 3
        opened.acceptor.drain()
        with trio.fail_after(8):
            await opened.acceptor.wait_empty()
            for client in silent:
                assert await closed(client) == b""
            assert await closed(opened.come()) == b""
        await opened.ended(*[Reason.DRAINED] * 4)
        assert opened.broker.nobody_came()


async def test_a_client_that_resets_while_its_broker_is_dialled() -> None:
    """What it has sent reaches the broker all the same."""
    async with black_hole() as silent, open_acceptor(connect=0.4) as opened:
        opened.backend.servers = (silent, opened.broker.address)
        client = opened.come()
        await client.send(UNANSWERED, UNANSWERED)
        await eventually(lambda: bool(opened.backend.asked), "a dial")
        await client.reset()
        assert await (await opened.broker.accept()).receive_all() == 2 * UNANSWERED
        await opened.ended(Reason.CLIENT_RESET)


async def test_drain_admits_a_client_while_its_broker_is_dialled() -> None:
    """A client that has sent a request is admitted, answered, and then closed."""
    async with black_hole() as silent, open_acceptor(connect=0.4) as opened:
        opened.backend.servers = (silent, opened.broker.address)
        client = opened.come()
        await client.send(request(1))
        await eventually(lambda: not opened.acceptor._silent and opened.acceptor.waiting == 1, "dialling")
        opened.acceptor.drain()
        broker = await opened.broker.accept()
        assert await broker.receive(len(request(1))) == request(1)
        with trio.fail_after(8):
            await opened.acceptor.wait_empty()
        await broker.send(response(1))
        assert await client.receive_all() == response(1)
        await opened.ended(Reason.DRAINED)


async def test_drain_of_a_client_that_sent_garbage() -> None:
    """It ends for its own reason, once, and the drain does not wait for it."""
    async with black_hole() as silent, open_acceptor(connect=0.3) as opened:
        opened.backend.servers = (silent, opened.broker.address)
        client = opened.come()
        await client.send(b"\xff" * 64)
        await eventually(lambda: not opened.acceptor._silent and opened.acceptor.waiting == 1, "dialling")
        opened.acceptor.drain()
        await closed(client)
        with trio.fail_after(8):
            await opened.acceptor.wait_empty()
            await opened.pump.wait_empty()
        await opened.ended(Reason.INVALID_FRAME_SIZE)


async def test_cancellation_while_waiting_and_while_dialling() -> None:
    """Both clients are closed, and counted as ended by the shutdown."""
    async with black_hole() as silent, open_acceptor(servers=[silent]) as opened:
        opened.come()
        await opened.come().send(request(1))
        acceptor = opened.acceptor
        await eventually(lambda: len(acceptor._silent) == 1 and acceptor.waiting == 2, "both on their way")
        await stays(lambda: not opened.backend.ended, "an end too soon", 0.05)
        opened.nursery.cancel_scope.cancel()
        await trio.lowlevel.checkpoint_if_cancelled()
    assert opened.backend.ended == {Reason.SHUTDOWN: 2}


NO_DESCRIPTOR_FOR_THE_BROKER = """
import os, resource, socket
import trio
from kproxy.config import Limits, Timeouts
from kproxy.relay import broker_dial
from kproxy.relay.acceptor import Acceptor
from kproxy.relay.pump import Pump
from tests.unit.relay.sockets import Backend, at_work, pair, request

async def main():
    with socket.create_server(("127.0.0.1", 0)) as broker:
        backend, pump = Backend(broker.getsockname()), Pump(Limits(), Timeouts())
        far, near = pair()
        far.send(request(1))
        acceptor = Acceptor(pump, Limits(), Timeouts())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pump.run)
            await at_work(pump)
            lowest_free = os.dup(0)
            os.close(lowest_free)
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, 4096))
            await acceptor.admit(backend, None, near)
            print(backend.ended, flush=True)
            nursery.cancel_scope.cancel()

trio.run(main)
"""


def test_no_descriptor_for_the_broker() -> None:
    """A lack of descriptors has its own reason: it is the limit that must be raised, not the broker's fault."""
    done = subprocess.run(
        [sys.executable, "-c", NO_DESCRIPTOR_FOR_THE_BROKER], capture_output=True, text=True, timeout=60, check=False
    )
    assert "OUT_OF_DESCRIPTORS: 'out_of_descriptors'>: 1" in done.stdout, done.stdout + done.stderr


async def test_a_retired_listener_leads_to_where_the_destination_says() -> None:
    """The destination knows which nodes are gone; the table used is the one for retired listeners."""
    async with open_acceptor() as opened:
        client = opened.come(7, retired=True)
        await client.send(request(1))
        await opened.broker.accept()
        assert await closed(client) == b""
        assert opened.backend.dials == [(7, opened.broker.address, None, "")]
        assert opened.backend.asked == [7]
        await opened.ended(Reason.RETIRED_NODE)
        client = opened.come(7, retired=True)
        hello = request(1, b"\xff\xff", key=18, version=0)
        await client.send(hello)
        broker = await opened.broker.accept()
        assert await broker.receive(len(hello)) == hello
        (connection,) = opened.pump.connections.values()
        assert (connection.context.retired, connection.context.node_id) == (True, 7)


async def test_a_topology_that_changes_while_its_broker_is_dialled() -> None:
    """The dialled broker belongs to the earlier topology: the client is closed, and so is the broker's socket."""
    async with black_hole() as silent, open_acceptor(connect=0.4) as opened:
        opened.backend.servers = (silent, opened.broker.address)
        client = opened.come(7)
        await client.send(request(1))
        await eventually(lambda: not opened.acceptor._silent and opened.acceptor.waiting == 1, "dialling")
        opened.backend.epoch += 1
        broker = await opened.broker.accept()
        assert await closed(client) == b""
        assert await closed(broker) == b""
        await opened.ended(Reason.REBOOTSTRAP)


HEADER = b"PROXY TCP4 192.0.2.9 10.0.0.1 1234 9092\r\n"


@asynccontextmanager
async def behind_a_balancer(**settings: Any) -> AsyncIterator[Listener]:
    """An acceptor whose clients come from a load balancer."""
    async with open_acceptor(**settings) as opened:
        opened.backend.balancers = Networks([f"{HOST}/32"])
        yield opened


@pytest.mark.parametrize("cut", [0, 7, len(HEADER)])
async def test_a_balancer_says_whose_connection_it_is(cut: int) -> None:
    """The address is the client's own, however the bytes come; the broker gets what is behind the header."""
    async with behind_a_balancer() as opened:
        client = opened.come()
        await client.send(HEADER[:cut] or HEADER + request(1))
        if cut:
            await eventually(lambda: len(opened.pump.silent) == 1, "it waits for more")
            await client.send(HEADER[cut:] + request(1))
        broker = await opened.broker.accept()
        assert await broker.receive(len(request(1))) == request(1)
        (connection,) = opened.pump.connections.values()
        assert (connection.context.client, connection.context.host) == ("192.0.2.9:1234", "192.0.2.9")


async def test_limits_of_clients_behind_a_balancer() -> None:
    """Each has its own address's; together they may be as many as the process' limit says."""
    async with behind_a_balancer(limits=Limits(max_connections=3, max_connections_per_address=1)) as opened:
        for number in (1, 2, 2):
            await opened.come().send(HEADER.replace(b"192.0.2.9", b"192.0.2.%d" % number) + request(1))
        await opened.ended(Reason.ADDRESS_LIMIT)
        await eventually(lambda: len(opened.pump.connections) == 2, "two are let in")
        opened.come()  # it takes the third place, and says nothing
        await eventually(lambda: len(opened.pump.silent) == 1, "the third waits")
        opened.come()
        await opened.ended(Reason.ADDRESS_LIMIT, Reason.CLIENT_LIMIT)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (request(1), Reason.PROXY_HEADER),
        (b"GET / HTTP/1.1\r\n\r\n", Reason.PROXY_HEADER),
        (HEADER[:9], Reason.PROXY_HEADER),
        (b"PROXY UNKNOWN " + b"x" * 100_000, Reason.PROXY_HEADER),
        (b"", Reason.IDLE_TIMEOUT),
    ],
    ids=["kafka", "http", "half and silence", "100 kB", "nothing"],
)
async def test_no_header_from_a_balancer(sent: bytes, reason: Reason) -> None:
    """No broker is dialled; half a header has no longer than the first request has."""
    async with behind_a_balancer(first_request=0.3) as opened:
        client = opened.come()
        with suppress(trio.BrokenResourceError):  # it is refused before all of it is sent
            await client.send(sent)
        assert await closed(client) == b""
        await opened.ended(reason)
        assert opened.broker.nobody_came()


async def test_a_header_from_a_stranger() -> None:
    """Nobody gets another address by saying so."""
    async with open_acceptor() as opened:
        client = opened.come()
        await client.send(HEADER + request(1))
        assert await closed(client) == b""
        await opened.ended(Reason.UNEXPECTED_PROXY_HEADER)
        assert opened.broker.nobody_came()


@pytest.mark.parametrize("linger", [None, RESET], ids=["fin", "reset"])
@pytest.mark.parametrize(
    "said",
    [b"", HEADER[:9], b"PROXY UNKNOWN\r\n", HEADER.replace(b"192.0.2.9", HOST.encode())],
    ids=["nothing", "half", "unknown", "its own address"],
)
@pytest.mark.parametrize("soon", [True, False])
async def test_a_health_check_of_a_balancer(linger: bytes | None, said: bytes, soon: bool) -> None:
    """It leaves without a request, by a reset as HAProxy does, before or after kproxy sees it: that is no fault."""
    async with behind_a_balancer() as opened:
        client = opened.come()
        if said:
            await client.send(said)
        if linger is not None:
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        if not soon:
            await eventually(lambda: len(opened.pump.silent) == 1, "kproxy waits for more")
        await client.close()
        await opened.ended(Reason.CLIENT_CLOSED)
        assert opened.broker.nobody_came()


async def test_a_reset_of_a_client_behind_a_balancer() -> None:
    """Once kproxy knows whose connection it is, a reset is the client's."""
    async with behind_a_balancer() as opened:
        client = opened.come()
        await client.send(HEADER)
        await eventually(lambda: len(opened.pump.silent) == 1, "kproxy waits for a request")
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        await client.close()
        await opened.ended(Reason.CLIENT_RESET)


async def test_the_limit_of_a_virtual_cluster() -> None:
    """A connection beyond it is closed at once; one that ends makes room, and others' clusters are not concerned."""
    async with open_acceptor() as opened:
        opened.backend.max_connections = 2
        clients = [opened.come() for _ in range(2)]
        for client in clients:
            await client.send(UNANSWERED)
        await eventually(lambda: len(opened.pump.connections) == 2, "two are let in")
        assert await closed(opened.come()) == b""
        await opened.ended(Reason.CLUSTER_LIMIT)
        clients[0].sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        await clients[0].close()
        await opened.ended(Reason.CLUSTER_LIMIT, Reason.CLIENT_RESET)
        await opened.come().send(request(1))
        await eventually(lambda: len(opened.pump.connections) == 2, "the next is let in")


async def test_a_client_that_sends_a_header_of_its_own() -> None:
    """Behind the balancer's it is taken for what it is: a client cannot have another address than the balancer saw."""
    async with behind_a_balancer() as opened:
        client = opened.come()
        await client.send(HEADER + HEADER.replace(b"192.0.2.9", b"192.0.2.10") + request(1))
        assert await closed(client) == b""
        await opened.ended(Reason.UNEXPECTED_PROXY_HEADER)
        assert opened.broker.nobody_came()


@pytest.mark.parametrize("sent", [b"", HEADER[:9], HEADER])
async def test_a_drain_before_the_first_request_of_a_client_behind_a_balancer(sent: bytes) -> None:
    """It ends at once, with no header, half of one, or nothing behind it."""
    async with behind_a_balancer() as opened:
        client = opened.come()
        if sent:
            await client.send(sent)
        await eventually(lambda: len(opened.pump.silent) == 1, "kproxy waits for more")
        opened.acceptor.drain()
        assert await closed(client) == b""
        await opened.ended(Reason.DRAINED)
