"""A broker that answers at once, in a process of its own: `python -m tests.attacks.broker CLUSTER ID ID:PORT ...`.

kproxy under attack has two of them as its backend cluster: one for the attacker, one for the healthy client beside it.
They know no topic. A request's client id can ask for a way of answering (`HANG`, `LARGE`, `TRICKLE`). The process
prints an empty line of JSON when it listens, and runs until its standard input ends.
"""

from __future__ import annotations

import select
import socket
import struct
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.bench.process import raise_file_limit
from tests.support.raw import HOST, array, frame, string

HANG: Final = "hang"
"""The client id of a client whose requests, apart from ApiVersions, are never answered."""
LARGE: Final = "large"
"""The client id of a client whose Fetch requests are answered with `LARGE_BYTES` each."""
TRICKLE: Final = "trickle"
"""The client id of a client that gets its responses byte by byte."""
LARGE_BYTES: Final = 4 << 20
OWN_HOST: Final = "kraft-internal.example.invalid"
"""A name that only a broker's own configuration has; no client may hear of it."""

_SERVED: Final = (
    *((0, 3, 12), (1, 4, 16), (2, 1, 7), (3, 0, 8), (8, 2, 8), (9, 1, 8), (10, 0, 4), (11, 0, 9), (12, 0, 4)),
    *((13, 0, 4), (14, 0, 5), (15, 0, 5), (16, 0, 4), (17, 0, 1), (18, 0, 4), (19, 2, 7), (22, 0, 4), (24, 0, 3)),
    *((25, 0, 3), (26, 0, 3), (28, 0, 3), (32, 0, 4), (33, 0, 2), (36, 0, 2), (44, 0, 1), (55, 0, 1), (60, 0, 0)),
)
"""API key, lowest and highest version."""
_RECEIVE: Final = 256 << 10
_TURN: Final = 500  # requests of one connection before the others have their turn
_BACKLOG: Final = 8192
_NO_ERROR_V1: Final = {36: b"\0\0\xff\xff" + bytes(4) + bytes(8), 17: b"\0\0" + array([string("PLAIN")])}


@dataclass(slots=True)
class _Peer:
    """A connection of kproxy's: what was received and is not a whole request yet, and what is to be sent."""

    socket: socket.socket
    received: bytearray = field(default_factory=bytearray)
    unsent: deque[bytes] = field(default_factory=deque)
    slow: bool = False


class Broker:
    """One node of a cluster; `nodes` are the ports of all of them by id, its own included."""

    def __init__(self, cluster_id: str, node_id: int, nodes: Mapping[int, int]) -> None:
        self._cluster_id = cluster_id
        self._node_id = node_id
        self._nodes = nodes
        self._listener = socket.create_server((HOST, nodes[node_id]), backlog=_BACKLOG)
        self._epoll = select.epoll()
        self._peers: dict[int, _Peer] = {}
        self._behind: dict[int, _Peer] = {}  # those that have whole requests left from their last turn

    def serve(self, until: int) -> None:
        """Serve until the descriptor `until` is readable."""
        self._listener.setblocking(False)
        self._epoll.register(self._listener.fileno(), select.EPOLLIN)
        self._epoll.register(until, select.EPOLLIN)
        while True:
            for descriptor, events in self._epoll.poll(0 if self._behind else 60):
                if descriptor == until:
                    return
                if descriptor == self._listener.fileno():
                    self._accept()
                elif (peer := self._peers.get(descriptor)) is not None:
                    self._ready(peer, events)
            for descriptor, peer in list(self._behind.items()):
                del self._behind[descriptor]
                self._answer_some(peer)

    def _accept(self) -> None:
        for _ in range(64):
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            accepted.setblocking(False)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._peers[accepted.fileno()] = _Peer(accepted)
            self._epoll.register(accepted.fileno(), select.EPOLLIN)

    def _ready(self, peer: _Peer, events: int) -> None:
        try:
            if events & select.EPOLLOUT:
                self._send(peer)
            if events & ~select.EPOLLOUT:
                self._receive(peer)
        except OSError:
            self._close(peer)

    def _receive(self, peer: _Peer) -> None:
        data = peer.socket.recv(_RECEIVE)
        if not data:
            self._close(peer)
            return
        peer.received += data
        self._answer_some(peer)

    def _answer_some(self, peer: _Peer) -> None:
        """Answer the whole requests that were received, at most a turn's."""
        position, received = 0, peer.received
        answers = []
        for _ in range(_TURN):
            if len(received) - position < 4:
                break
            (size,) = struct.unpack_from(">i", received, position)
            if len(received) - position - 4 < size:
                break
            request = bytes(received[position + 4 : position + 4 + size])
            position += 4 + size
            if (answer := self._answer(peer, request)) is not None:
                answers.append(answer)
        else:
            self._behind[peer.socket.fileno()] = peer
        del received[:position]
        if not answers:
            return
        peer.unsent += [bytes([byte]) for byte in b"".join(answers)] if peer.slow else [b"".join(answers)]
        try:
            self._send(peer)
        except OSError:
            self._close(peer)

    def _send(self, peer: _Peer) -> None:
        while peer.unsent:
            part = peer.unsent[0]
            try:
                sent = peer.socket.send(part)
            except BlockingIOError:
                sent = 0
            if sent < len(part):
                peer.unsent[0] = part[sent:]
                self._epoll.modify(peer.socket.fileno(), select.EPOLLIN | select.EPOLLOUT)
                return
            peer.unsent.popleft()
        self._epoll.modify(peer.socket.fileno(), select.EPOLLIN)

    def _close(self, peer: _Peer) -> None:
        descriptor = peer.socket.fileno()
        self._behind.pop(descriptor, None)
        self._peers.pop(descriptor, None)
        peer.socket.close()

    def _answer(self, peer: _Peer, request: bytes) -> bytes | None:
        """Return the response's frame; None where none is due."""
        api_key, version, _, id_size = struct.unpack_from(">hhih", request)
        client_id = request[10 : 10 + max(id_size, 0)]
        peer.slow = client_id == TRICKLE.encode()
        if api_key == 18:
            return frame(request[4:8] + _api_versions(version))
        if client_id == HANG.encode():
            return None
        if api_key == 0 and request[10 + max(id_size, 0) + 2 :][:2] == b"\0\0":  # acks=0, of a version below 9
            return None
        if api_key == 1 and client_id == LARGE.encode():
            return frame(request[4:8] + _large_fetch())
        return frame(request[4:8] + self._body(api_key, version))

    def _body(self, api_key: int, version: int) -> bytes:
        if api_key == 3:
            return self._metadata(version)
        if api_key == 10 and version < 1:
            return b"\0\0" + self._broker(self._node_id, rack=False)
        if api_key == 32 and version == 1:
            return _described(self._node_id)
        return _NO_ERROR_V1.get(api_key, bytes(16))

    def _metadata(self, version: int) -> bytes:
        """Metadata v0 to v8, of no topic."""
        nodes = array([self._broker(node_id, rack=version >= 1) for node_id in self._nodes])
        cluster_id = string(self._cluster_id) if version >= 2 else b""
        controller = struct.pack(">i", min(self._nodes)) if version >= 1 else b""
        operations = struct.pack(">i", -(1 << 31)) if version >= 8 else b""
        return (bytes(4) if version >= 3 else b"") + nodes + cluster_id + controller + array([]) + operations

    def _broker(self, node_id: int, *, rack: bool) -> bytes:
        named = struct.pack(">i", node_id) + string(HOST) + struct.pack(">i", self._nodes[node_id])
        return named + b"\xff\xff" if rack else named


def _api_versions(version: int) -> bytes:
    """ApiVersions v0 to v4; its response header has no tagged fields in any version (KIP-511)."""
    if version >= 3:
        served = b"".join(struct.pack(">hhh", *api) + b"\0" for api in _SERVED)
        return b"\0\0" + bytes([len(_SERVED) + 1]) + served + bytes(4) + b"\0"
    served = array([struct.pack(">hhh", *api) for api in _SERVED])
    return b"\0\0" + served + (bytes(4) if version else b"")


def _large_fetch() -> bytes:
    """Fetch v4 of one partition: throttle time, topics, and what the partition's head has, then zeros as records."""
    head = struct.pack(">ihqqi", 0, 0, 1, 1, 0) + struct.pack(">i", LARGE_BYTES)
    return bytes(4) + array([string("large") + struct.pack(">i", 1) + head + bytes(LARGE_BYTES)])


def _described(node_id: int) -> bytes:
    """DescribeConfigs v1 of one broker: what names hosts in a broker's configuration, and one that does not."""
    configs = {
        "advertised.listeners": f"PLAINTEXT://{OWN_HOST}:19092",
        "listeners": f"PLAINTEXT://{OWN_HOST}:19092,CONTROLLER://{OWN_HOST}:19093",
        "controller.quorum.voters": f"1@{OWN_HOST}:19093",
        "controller.quorum.bootstrap.servers": f"{OWN_HOST}:19093",
        "log.retention.hours": "168",
    }
    entries = array(
        string(name) + string(value) + b"\x01\x05\x00" + array([string(name) + string(value) + b"\x05"])
        for name, value in configs.items()
    )
    return bytes(4) + array([b"\0\0\xff\xff\x04" + string(str(node_id)) + entries])


def main(cluster_id: str, node_id: str, *nodes: str) -> None:
    """Serve until standard input ends."""
    raise_file_limit(20_000)
    ports = {int(one): int(port) for one, _, port in (node.partition(":") for node in nodes)}
    broker = Broker(cluster_id, int(node_id), ports)
    print("{}", flush=True)
    broker.serve(sys.stdin.fileno())


if __name__ == "__main__":
    main(*sys.argv[1:])
