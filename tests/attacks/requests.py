"""Attacks by Kafka requests: more of them, larger ones, stranger ones than any client sends, or answers never read."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from tests.bench.frames import compact, framed
from tests.support.raw import api_versions, fetch, frame, metadata, produce, request, string

from .attack import Attack, Steps, Target, converse, flood, numbered, pause
from .broker import HANG, LARGE, TRICKLE
from .otlp import varint

IN_ONE_WRITE: Final = 9_300
"""As many of the smallest requests as kproxy reads at once."""
_HUGE: Final = 8 << 20
SMALLEST: Final = frame(struct.pack(">hhih", 16, 0, 0, -1))
"""ListGroups v0 without a client id."""
JUNK: Final = (
    struct.pack(">i", 0),
    struct.pack(">i", -1) + bytes(20),
    struct.pack(">i", -(1 << 31)) + bytes(20),
    struct.pack(">i", (1 << 31) - 1) + bytes(20),
    frame(b"\x00"),
    frame(struct.pack(">hhih", 9999, 0, 1, -1)),
    frame(struct.pack(">hhih", 3, -1, 1, -1)),
    frame(struct.pack(">hhih", 18, 3, 1, 30_000) + bytes(8)),
    b"PROXY TCP4 192.0.2.1 192.0.2.2 65535 9092\r\n",
    b"PROXY UNKNOWN" + b" " * 200 + b"\r\n",
    b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c" + bytes(12),
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    b"GET / HTTP/1.1\r\nHost: kproxy\r\n\r\n",
    bytes(range(256)),
)
"""First bytes that are no request of Kafka's, or none that kproxy takes."""


def pipelined(step: int, target: Target) -> Steps:
    """9,300 requests in one write, again and again, with correlation ids that rise or fall."""
    connection = target.connect()
    first = 1 if step > 0 else IN_ONE_WRITE
    block = numbered([SMALLEST] * IN_ONE_WRITE, first, step)
    yield
    for left in target.lasting():
        if len(converse(connection, block, IN_ONE_WRITE, left)) < IN_ONE_WRITE:
            break


def unanswered(target: Target) -> Steps:
    """50 connections with 9,300 requests each that the broker never answers."""
    asked = numbered([request(16, 0, 0, client_id=HANG)] * IN_ONE_WRITE)
    connections = target.connect_some(50)
    yield
    _send_only(target, connections, asked)


def unread_metadata(target: Target) -> Steps:
    """50 connections that ask for metadata thousands of times and read no answer."""
    asked = numbered([metadata(0)] * 5_000)
    connections = [target.connect(receive_buffer=4096) for _ in range(50)]
    yield
    _send_only(target, connections, asked)


def unread_fetches(target: Target) -> Steps:
    """50 connections that fetch 8 MiB each and read none of it."""
    asked = numbered([request(1, 4, 0, fetch(0, "large")[4 + 10 + 3 :], client_id=LARGE)] * 2)
    connections = [target.connect(receive_buffer=4096) for _ in range(50)]
    yield
    _send_only(target, connections, asked)


def _send_only(target: Target, connections: Sequence[socket.socket], data: bytes) -> None:
    """Send the bytes on each connection, as far as they are taken; keep all until the attack's time is over."""
    for connection in connections:
        connection.settimeout(0.2)
        try:
            connection.sendall(data)
        except OSError:
            continue
    for left in target.lasting():
        pause(left)


def metadata_flood(target: Target) -> Steps:
    """20 connections that ask for metadata as fast as they are answered: each response is rewritten."""
    asked = numbered([metadata(0)] * 20_000)
    connections = target.connect_some(20)
    yield
    flood(connections, asked, target)


def api_versions_flood(target: Target) -> Steps:
    """20 connections that ask for ApiVersions as fast as they are answered."""
    asked = numbered([api_versions(0)] * 20_000)
    connections = target.connect_some(20)
    yield
    flood(connections, asked, target)


def unacknowledged(target: Target) -> Steps:
    """16 connections that produce small records with acks=0."""
    asked = numbered([produce(0, "attack", 0, [b"x"])] * 2_000)
    connections = target.connect_some(16)
    yield
    flood(connections, asked, target)


def trickling_broker(target: Target) -> Steps:
    """A broker that answers byte by byte."""
    asked = numbered([request(3, 1, 0, struct.pack(">i", 0), client_id=TRICKLE)] * 2_000)
    connections = target.connect_some(5)
    yield
    flood(connections, asked, target)


def huge_api_versions(size: int = _HUGE) -> bytes:
    """ApiVersions v3 with 1.9 million tagged fields."""
    tags = bytearray()
    count = 0
    while len(tags) < size - 100:
        tags += varint(count + 100) + b"\0"
        count += 1
    return framed(18, 3, compact(b"huge") + compact(b"1") + varint(count) + bytes(tags))


def huge_find_coordinator(size: int = _HUGE) -> bytes:
    """FindCoordinator v4 for eight million keys."""
    return framed(10, 4, b"\0" + varint(size) + b"\x01" * (size - 1) + b"\0")


def huge_join_group(size: int = _HUGE) -> bytes:
    """JoinGroup v9 of 2.8 million protocols."""
    count = size // 3
    head = compact(b"group") + struct.pack(">ii", 10_000, 10_000) + compact(b"") + b"\0" + compact(b"consumer")
    return framed(11, 9, head + varint(count + 1) + b"\x01\x01\0" * count + b"\x01\0")


def huge_sasl() -> bytes:
    """SaslAuthenticate v2 of 8 MiB."""
    return framed(36, 2, compact(bytes(_HUGE)) + b"\0")


def huge_metadata() -> bytes:
    """Metadata v1 for four million topics without a name."""
    return request(3, 1, 1, struct.pack(">i", _HUGE // 2) + string("") * (_HUGE // 2))


def huge(make: Callable[[], bytes], target: Target) -> Steps:
    """Send one huge request again and again, each on a connection of its own."""
    asked = make()
    greeting = api_versions(1 << 20) + (request(17, 1, 1 << 21, string("PLAIN")) if make is huge_sasl else b"")
    yield
    for left in target.lasting():
        connection = target.connect()
        converse(connection, greeting + asked, 3 if make is huge_sasl else 2, min(left, 3))
        connection.close()


def junk(target: Target) -> Steps:
    """Connections one after the other whose first bytes are no request."""
    yield
    for turn, _ in enumerate(target.lasting()):
        connection = target.connect()
        converse(connection, JUNK[turn % len(JUNK)], 1, 0.005)
        connection.close()


ATTACKS: Final = (
    Attack("pipelined-ascending", 7, "9,300 requests in one write, ids rise", partial(pipelined, 1)),
    Attack("pipelined-descending", 7, "9,300 requests in one write, ids fall", partial(pipelined, -1)),
    Attack("unanswered", 7, "50 connections, 9,300 requests each, never answered", unanswered, 15, kept=50),
    Attack("unread-metadata", 6, "50 connections ask 5,000 times and read nothing", unread_metadata),
    Attack("unread-fetches", 6, "50 connections fetch 8 MiB and read nothing", unread_fetches),
    Attack("metadata-flood", None, "20 connections ask for metadata without end", metadata_flood),
    Attack("api-versions-flood", None, "20 connections ask for ApiVersions without end", api_versions_flood),
    Attack("unacknowledged", None, "16 connections produce with acks=0 without end", unacknowledged),
    Attack("trickling-broker", None, "the broker answers byte by byte", trickling_broker),
    Attack("huge-api-versions", None, "ApiVersions of 2 million tagged fields", partial(huge, huge_api_versions)),
    Attack("huge-coordinator", None, "FindCoordinator for 8 million keys", partial(huge, huge_find_coordinator)),
    Attack("huge-join", None, "JoinGroup of 2.8 million protocols", partial(huge, huge_join_group)),
    Attack("huge-sasl", None, "SaslAuthenticate of 8 MiB", partial(huge, huge_sasl)),
    Attack("huge-metadata", None, "Metadata for 4 million topics", partial(huge, huge_metadata)),
    Attack("junk", None, "first bytes that are no request, by the thousand", junk),
    Attack("unread-log", 10, "the same, and nobody reads standard error", junk, unread=True),
)
