"""First requests of connections that not every client sends.

Large ones: franz-go asks for versions once for each broker, so it may begin with any request. And longer ones.
"""

from __future__ import annotations

import struct

from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.raw import API_VERSIONS, METADATA, RawClient, frame, string

NAMES = [f"not-yet-there-{number:036}" for number in range(2000)]
"""Topics that no broker has; a request for them takes some 140 KB."""
MANY = 30
"""APIs. Of versions that are not known, a broker names one only."""


def wide_metadata() -> bytes:
    """Metadata v13 for all of them, none of which is to be created."""
    names = b"".join(bytes(16) + compact(name) + b"\0" for name in NAMES)
    head = struct.pack(">hhi", METADATA, 13, 1) + string("raw") + b"\0"
    return frame(head + varint(len(NAMES) + 1) + names + b"\0\0\0")


def compact(text: str) -> bytes:
    """COMPACT_STRING."""
    return varint(len(text) + 1) + text.encode()


def varint(value: int) -> bytes:
    """UNSIGNED_VARINT."""
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def test_wide_metadata(kafka: Backend, proxy: Proxy) -> None:
    """What is said of the topics is what the broker says; all that kproxy changes is in front of them."""
    direct, relayed = map(_said_of_topics, (next(iter(kafka.cluster.brokers.values())).port, proxy.port()))
    assert relayed == direct
    assert relayed.count(b"not-yet-there") == len(NAMES)


def _said_of_topics(port: int) -> bytes:
    with RawClient(port) as client:
        answer = client.ask(wide_metadata())
    return answer[answer.index(b"not-yet-there") :]


def test_versions_as_librdkafka_0_11_asks_for_them(kafka: Backend, proxy: Proxy) -> None:
    """Four bytes stand behind its ApiVersions v0. Brokers answer it."""
    sent = frame(struct.pack(">hhi", API_VERSIONS, 0, 1) + string("rdkafka") + bytes(4))
    for port in (next(iter(kafka.cluster.brokers.values())).port, proxy.port()):
        with RawClient(port) as client:
            error, versions = struct.unpack_from(">hi", client.ask(sent))
        assert error == 0
        assert versions > MANY
