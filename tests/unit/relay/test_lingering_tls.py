"""A client socket with TLS that kproxy has closed: the client gets its last bytes, a close_notify, then the FIN."""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Iterator

import pytest

from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.relay.lingering_close import LingeringSocket
from kproxy.upstream.tls import BrokerContext, ServerContext
from tests.support.authority import Authority
from tests.unit.relay.sockets import KIB, MIB, RESET, noise, pair
from tests.unit.relay.test_lingering_socket import ended, rounds
from tests.unit.relay.test_tls_endpoint import shake


@pytest.fixture
def epoll() -> Iterator[select.epoll]:
    with select.epoll() as poll:
        yield poll


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def contexts(authority: Authority) -> tuple[BrokerContext, ServerContext]:
    own = authority.signed("kproxy")
    tls = ClientTls(certificate=str(own.chain), key=str(own.key))
    return BrokerContext(UpstreamTls(ca=str(authority.file)), "client"), ServerContext(tls, "tls")


@pytest.fixture(params=["TLSv1.2", "TLSv1.3"])
def sockets(
    contexts: tuple[BrokerContext, ServerContext], request: pytest.FixtureRequest
) -> Iterator[tuple[ssl.SSLSocket, ssl.SSLSocket]]:
    """A client and kproxy's side, after their handshake."""
    far, near = pair(receive=16 * KIB, send=64 * KIB)
    versions = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
    contexts[0]._context.maximum_version = versions[request.param]
    client, proxy = contexts[0].wrap(far, "localhost"), contexts[1].wrap(near)
    shake(client, proxy)
    yield client, proxy
    client.close()
    proxy.close()


def read(client: ssl.SSLSocket) -> bytes:
    """Return what the client reads next; raises for an end without close_notify."""
    while True:
        try:
            return client.recv(MIB)
        except ssl.SSLWantReadError:
            assert select.select([client], [], [], 5)[0], "nothing arrived"


def read_all(client: ssl.SSLSocket, data: bytearray) -> None:
    """Add what the client reads until the end; raises as `read`."""
    while part := read(client):
        data += part


def test_it_says_goodbye_and_throws_away_what_comes(
    epoll: select.epoll, sockets: tuple[ssl.SSLSocket, ssl.SSLSocket]
) -> None:
    """The client reads to the end, though it sends on; kproxy waits for no close_notify of the client's."""
    client, proxy = sockets
    proxy.send(b"last words")
    client.send(noise(20 * KIB))
    lingering = ended(proxy, epoll)
    client.send(noise(20 * KIB))
    assert rounds(epoll, lingering) > 0
    assert (read(client), read(client), lingering.done) == (b"last words", b"", False)
    assert select.select([client], [], [], 5)[0]
    assert socket.socket.recv(client, 100) == b""
    client.close()
    assert rounds(epoll, lingering) == 1
    assert (lingering.done, lingering.undelivered) == (True, False)
    lingering.close()
    assert proxy.fileno() == -1


def test_a_client_that_takes_nothing(epoll: select.epoll, sockets: tuple[ssl.SSLSocket, ssl.SSLSocket]) -> None:
    """Where no close_notify has room, the FIN comes all the same, behind what the kernel has; nothing is raised."""
    client, proxy = sockets
    with pytest.raises(ssl.SSLWantWriteError):
        proxy.send(noise(8 * MIB))
    lingering = ended(proxy, epoll)
    assert lingering.undelivered
    taken = bytearray()
    with pytest.raises(ssl.SSLEOFError):  # its last record is cut off: the client can tell
        read_all(client, taken)
    assert 0 < len(taken) < 8 * MIB
    assert noise(8 * MIB).startswith(taken)
    lingering.close()


def test_a_client_that_is_gone(epoll: select.epoll, sockets: tuple[ssl.SSLSocket, ssl.SSLSocket]) -> None:
    """A reset before the end, and one after it: it is done, and nothing is raised."""
    client, proxy = sockets
    lingering = LingeringSocket(proxy, epoll, 0.0)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    client.close()
    assert select.select([proxy], [], [], 5)[0]
    lingering.end()
    rounds(epoll, lingering)
    assert (lingering.done, lingering.undelivered) == (True, False)
    lingering.close()
