"""One connection's requests and responses: their order, and their fate when a side closes early."""

from __future__ import annotations

import socket
import struct
import time

from tests.support.backend import Backend
from tests.support.footprint import nothing_kept
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions, fetch, metadata, produce
from tests.support.side import leader_port


def test_acks_0_then_1_keep_their_order(proxy: Proxy, kafka: Backend) -> None:
    """Produce requests without a response between others with one, all in one segment: answers and offsets in order."""
    topic = kafka.topic(1, replicas=1)
    with RawClient(leader_port(proxy, kafka, topic)) as client:
        rounds = 100
        for first in range(0, 7 * rounds, 7):
            client.send(
                produce(first, topic, 0, [b"a%d" % first]),
                produce(first + 1, topic, 1, [b"b%d" % first]),
                produce(first + 2, topic, 0, [b"c%d" % first]),
                api_versions(first + 3),
                produce(first + 4, topic, 0, [b"d%d" % first]),
                metadata(first + 5),
                produce(first + 6, topic, 1, [b"e%d" % first]),
            )
            answered = [client.receive()[0] for _ in range(4)]
            assert answered == [first + 1, first + 3, first + 5, first + 6]
        log = client.ask(fetch(0, topic, max_bytes=10 << 20))
    expected = [b"%c%d" % (letter, first) for first in range(0, 7 * rounds, 7) for letter in b"abcde"]
    positions = [log.find(value + b"\x00") for value in expected]
    assert -1 not in positions
    assert positions == sorted(positions)


def test_half_close_still_gets_its_responses(proxy: Proxy, kafka: Backend) -> None:
    """A client that closes its side after its last request still gets the responses, slow ones too."""
    topic = kafka.topic(1)
    with RawClient(leader_port(proxy, kafka, topic)) as client:
        client.send(api_versions(1), fetch(2, topic, max_wait_ms=2000), metadata(3))
        begun = time.monotonic()
        client.socket.shutdown(socket.SHUT_WR)
        assert [client.receive()[0] for _ in range(3)] == [1, 2, 3]
        assert time.monotonic() - begun > 1.5
        assert client.wait_closed(5) == b""


def test_killed_client_leaves_nothing(proxy: Proxy, kafka: Backend) -> None:
    """A reset in the middle of a long fetch closes the connection to the broker, too; others stay."""
    topic = kafka.topic(1)
    port = leader_port(proxy, kafka, topic)
    with RawClient(port) as other:
        other.ask(api_versions(1))
        with nothing_kept(proxy):
            for _ in range(50):
                client = RawClient(port)
                client.send(fetch(2, topic, max_wait_ms=20_000))
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.close()
        other.ask(api_versions(2))
