"""Whose TLS handshake is next: by rate, by address, and what becomes of those that get no turn. OpenSSL is real."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio
import trio.testing

from kproxy.config.tls import ClientTls
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.handshake_places import GRACE
from kproxy.relay.handshakes import Handshakes
from kproxy.upstream.tls import ServerContext
from tests.support.authority import Authority
from tests.unit.relay.hellos import openssl_hello
from tests.unit.relay.sockets import eventually

ONE, OTHER, THIRD = "192.0.2.1", "192.0.2.2", "192.0.2.3"
HELLO = openssl_hello("localhost")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ServerContext:
    own = Authority(Path(tmp_path_factory.mktemp("tls"))).signed("kproxy")
    return ServerContext(ClientTls(certificate=str(own.chain), key=str(own.key)), "tls")


@dataclass
class Clients:
    """Clients that say hello and nothing more: `begun` has the hosts in the order in which OpenSSL got to see them."""

    nursery: trio.Nursery
    context: ServerContext
    handshakes: Handshakes
    begun: list[str] = field(default_factory=list)
    ended: list[tuple[str, Reason]] = field(default_factory=list)
    far: list[socket.socket] = field(default_factory=list)

    async def come(self, *hosts: str, deadline: float = float("inf")) -> None:
        """Have clients come one after the other; return when no task can go on."""
        for host in hosts:
            self.nursery.start_soon(self._one, host, deadline)
            await trio.testing.wait_all_tasks_blocked()

    async def _one(self, host: str, deadline: float) -> None:
        far, near = socket.socketpair()
        self.far.append(far)
        near.setblocking(False)
        far.sendall(HELLO)

        def wrap(client: socket.socket) -> ssl.SSLSocket:
            self.begun.append(host)
            return self.context.wrap(client)

        with near:
            try:
                await self.handshakes.complete(near, host, wrap, trio.lowlevel.wait_readable, deadline)
            except Fault as fault:
                self.ended.append((host, fault.reason))

    @property
    def counts(self) -> tuple[int, int]:
        """How many are under way, and how many wait."""
        return self.handshakes.active, self.handshakes.waiting


@asynccontextmanager
async def clients(context: ServerContext, most: int, rate: int) -> AsyncIterator[Clients]:
    """At the end all are cancelled, and nothing is left of them."""
    handshakes = Handshakes(most, rate, socket.socket.close)
    async with trio.open_nursery() as nursery:
        made = Clients(nursery, context, handshakes)
        try:
            yield made
        finally:
            nursery.cancel_scope.cancel()
    for far in made.far:
        far.close()
    assert made.counts == (0, 0)
    assert len(handshakes) == 0


async def test_a_rate(context: ServerContext, autojump_clock: trio.testing.MockClock) -> None:
    """A few at once, as many as may begin in 10 ms; then one after the other, as time goes by."""
    del autojump_clock
    async with clients(context, 1000, 200) as made:
        await made.come(*[ONE] * 7)
        assert made.counts == (2, 5)
        await trio.sleep(0.0125)
        assert made.counts == (4, 3)
        await trio.sleep(0.015)
        assert made.counts == (7, 0)


async def test_addresses_take_turns(context: ServerContext, autojump_clock: trio.testing.MockClock) -> None:
    """Of many clients of one address, one goes on before another address's; a /64 of IPv6 is one address."""
    del autojump_clock
    async with clients(context, 1000, 1) as made:
        await made.come("2001:db8::1", *["2001:db8::2"] * 4, ONE, OTHER)
        await trio.sleep(10)
        assert made.begun == ["2001:db8::1", "2001:db8::2", ONE, OTHER, *["2001:db8::2"] * 3]


async def test_an_address_has_half_of_the_places(context: ServerContext) -> None:
    """Another one's client begins at once, also where the first address has clients that wait."""
    async with clients(context, 4, 1000) as made:
        await made.come(ONE, ONE, ONE, OTHER)
        assert made.begun == [ONE, ONE, OTHER]
        assert made.counts == (3, 1)


async def test_who_lets_others_wait_goes(context: ServerContext, autojump_clock: trio.testing.MockClock) -> None:
    """The one that has waited for its client longest, a second at least; nobody goes where nobody waits."""
    del autojump_clock
    async with clients(context, 4, 1000) as made:
        await made.come(ONE, ONE)
        await trio.sleep(GRACE * 5)
        assert made.ended == []
        await made.come(ONE)
        assert made.ended == [(ONE, Reason.HANDSHAKE_LIMIT)]
        await made.come(OTHER, OTHER)  # all four places are taken now, by two addresses
        await made.come(THIRD)
        assert made.ended[1:] == [(ONE, Reason.HANDSHAKE_LIMIT)]
        await made.come(THIRD, THIRD)
        assert made.counts == (4, 2)
        await trio.sleep(GRACE * 1.1)
        assert made.counts == (4, 0)
        assert len(made.ended) == 4


async def test_no_turn_in_time(context: ServerContext, autojump_clock: trio.testing.MockClock) -> None:
    """It ends at its deadline, and OpenSSL has seen nothing of it; those behind it get their turn."""
    async with clients(context, 1000, 1) as made:
        await made.come(ONE, ONE)
        await made.come(ONE, deadline=trio.current_time() + 0.5)
        await trio.sleep(0.6)
        assert made.ended == [(ONE, Reason.HANDSHAKE_LIMIT)]
        assert made.begun == [ONE]
        await trio.sleep(1)
        assert made.counts == (2, 0)
    del autojump_clock


async def test_a_drain_ends_who_waits(context: ServerContext) -> None:
    """Nobody's turn is waited for any more."""
    async with clients(context, 1000, 1) as made:
        await made.come(*[ONE] * 20)
        made.handshakes.drain()
        await eventually(lambda: not made.handshakes.waiting, "nobody waits", 5)
        assert made.ended == [(ONE, Reason.DRAINED)] * 19
        await made.come(ONE)
        assert len(made.ended) == 20


@pytest.mark.parametrize(("most", "rate", "hosts"), [(4, 1000, [ONE]), (4, 1000, [OTHER, THIRD]), (1000, 1, [ONE])])
async def test_cancelled_while_it_waits(context: ServerContext, most: int, rate: int, hosts: list[str]) -> None:
    """For its address's place, for any place, for the rate: `clients` finds all places free again."""
    async with clients(context, most, rate) as made:
        await made.come(*hosts * 8)
        assert made.handshakes.waiting


async def test_a_client_that_is_gone(context: ServerContext) -> None:
    """A reset before OpenSSL has its socket is the client's; its place is free."""
    handshakes = Handshakes(10, 10, socket.socket.close)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        far = socket.create_connection(listener.getsockname())
        near, _ = listener.accept()
    near.setblocking(False)
    far.sendall(HELLO)
    near.recv(1, socket.MSG_PEEK)
    far.close()
    near.close()
    with pytest.raises(Fault) as caught:
        await handshakes.complete(near, ONE, context.wrap, trio.lowlevel.wait_readable, float("inf"))
    assert caught.value.reason is Reason.CLIENT_RESET
    assert handshakes.active == 0


def test_other_limits() -> None:
    """They are for those that come from then on; the time of those before is still told."""
    handshakes = Handshakes(2, 100, socket.socket.close)
    assert handshakes.followed_by(2, 100) is handshakes
    other = handshakes.followed_by(3, 100)
    assert other is not handshakes
    assert other.seconds is handshakes.seconds
