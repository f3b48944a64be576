"""A client socket that kproxy has closed: the client reads the last bytes, although it keeps sending."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator

import pytest

from kproxy.relay.lingering_close import LingeringSocket
from tests.unit.relay.sockets import KIB, MIB, noise, pair


@pytest.fixture
def epoll() -> Iterator[select.epoll]:
    with select.epoll() as poll:
        yield poll


def rounds(epoll: select.epoll, lingering: LingeringSocket) -> int:
    """Handle events until there are none for a moment; return how many there were."""
    count = 0
    while events := epoll.poll(0.05):
        count += 1
        for _ in events:
            lingering.event()
    return count


def ended(sock: socket.socket, epoll: select.epoll) -> LingeringSocket:
    """A socket that has sent its end."""
    lingering = LingeringSocket(sock, epoll, 0.0)
    lingering.end()
    return lingering


def test_it_says_goodbye_and_throws_away_what_comes(epoll: select.epoll) -> None:
    """The client reads to the end; what it sends meanwhile is not answered with a reset."""
    client, near = pair()
    near.send(b"last words")
    lingering = ended(near, epoll)
    client.setblocking(True)
    client.send(noise(100 * KIB))
    assert rounds(epoll, lingering) > 1
    assert (client.recv(100), client.recv(100), lingering.done) == (b"last words", b"", False)
    client.close()
    assert rounds(epoll, lingering) == 1
    assert (lingering.done, lingering.undelivered) == (True, False)
    lingering.close()
    assert near.fileno() == -1


def test_stale_events_do_nothing(epoll: select.epoll) -> None:
    """An event with nothing to read, and one after the end, change nothing."""
    client, near = pair()
    lingering = ended(near, epoll)
    lingering.event()
    before = lingering.done
    client.close()
    rounds(epoll, lingering)
    lingering.event()
    assert (before, lingering.done) == (False, True)
    lingering.close()


def test_a_client_that_resets_is_done(epoll: select.epoll) -> None:
    """A reset ends it, and is not reported again and again."""
    client, near = pair()
    lingering = ended(near, epoll)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()
    assert rounds(epoll, lingering) == 1
    assert lingering.done
    lingering.close()


def test_a_client_that_is_gone_already(epoll: select.epoll) -> None:
    """The end cannot be sent any more."""
    client, near = pair()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()
    assert select.select([near], [], [], 5)[0]
    lingering = ended(near, epoll)
    assert lingering.done
    lingering.close()
    assert near.fileno() == -1


def test_the_end_comes_after_a_pause(epoll: select.epoll) -> None:
    """Until then the client has its response and no end; if it closes meanwhile, the socket is done."""
    client, near = pair()
    near.send(b"last words")
    lingering = LingeringSocket(near, epoll, 0.0)
    client.settimeout(0.05)
    assert client.recv(100) == b"last words"
    with pytest.raises(TimeoutError):
        client.recv(100)
    assert lingering.undelivered
    client.close()
    assert rounds(epoll, lingering) == 1
    lingering.end()
    assert (lingering.done, lingering.undelivered) == (True, False)
    lingering.close()


def test_undelivered_until_the_client_takes_it(epoll: select.epoll) -> None:
    """A full receive window keeps bytes here that a reset would destroy; once the client reads there are none."""
    client, near = pair(receive=4 * KIB, send=64 * KIB)
    sent = near.send(noise(MIB))
    lingering = ended(near, epoll)
    before = lingering.undelivered
    client.settimeout(5)
    taken = 0
    while part := client.recv(MIB):
        taken += len(part)
    assert taken == sent
    assert (before, lingering.undelivered) == (True, False)
    client.close()
    lingering.close()
