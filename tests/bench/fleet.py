"""A process of simulated client instances: each connects, asks for its subscriptions, and pushes on command.

It is started with an address, reads commands from standard input, a line of JSON each, and answers each with a line.
"""

from __future__ import annotations

import json
import random
import select
import socket
import struct
import sys
import time
from dataclasses import dataclass
from math import inf
from typing import Final

from .frames import api_versions, compact, connect, framed, receive
from .process import Address, BenchError, raise_file_limit
from .pushes import Client

TURNS: Final = 3
"""Pushes with different numbers that an instance sends by turns."""
_AT_ONCE: Final = 30  # connections that are opened together: Kafka's listen backlog is short
_SOFTWARE: Final = (b"apache-kafka-java", b"4.3.1")
_GET: Final = 71
_PUSH: Final = 72
_ZSTD: Final = 4
_GET_RESPONSE: Final = struct.Struct(">i i x i h 16s i 5x i")  # size, correlation id, tags, throttle time, error, id,
# subscription id, accepted compression types, push interval
_PUSH_RESPONSE: Final = struct.Struct(">i i x i h x")
_PATIENCE: Final = 30


@dataclass(slots=True)
class Instance:
    """A subscribed instance, to push every `interval` seconds at most; `next` is the earliest time of its next push."""

    connection: socket.socket
    pushes: tuple[bytes, ...]
    interval: float
    turn: int = 0
    next: float = 0.0

    def push(self) -> None:
        """Send the next push; its answer comes later."""
        self.connection.sendall(self.pushes[self.turn % TURNS])
        self.turn += 1
        self.next = inf

    def answered(self) -> None:
        """Receive the answer; raises BenchError for an error."""
        answer = self.connection.recv(_PUSH_RESPONSE.size)
        if len(answer) != _PUSH_RESPONSE.size or (error := _PUSH_RESPONSE.unpack(answer)[3]):
            raise BenchError(f"a push was answered with {answer!r}" + (f": error {error}" if answer else ""))
        self.next = time.perf_counter() + self.interval


class Fleet:
    """All instances, which act at the same time."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._instances: list[Instance] = []
        self._by_descriptor: dict[int, Instance] = {}
        self._epoll = select.epoll()
        self._unanswered = 0
        self._rand = random.Random(1)

    def grow(self, instances: int) -> dict[str, float]:
        """Open connections until there are so many instances."""
        while len(self._instances) < instances:
            first = len(self._instances)
            self._open([Client(number) for number in range(first, min(first + _AT_ONCE, instances))])
        return {"instances": len(self._instances)}

    def _open(self, clients: list[Client]) -> None:
        opened = [(client, connect(self._address)) for client in clients]
        for client, connection in opened:
            connection.sendall(api_versions(client.client_id, *_SOFTWARE))
        for client, connection in opened:
            receive(connection)
            connection.sendall(framed(_GET, 0, bytes(16) + b"\x00", client.client_id))
        for client, connection in opened:
            instance = _subscribed(client, connection, receive(connection))
            self._instances.append(instance)
            self._by_descriptor[connection.fileno()] = instance
            self._epoll.register(connection.fileno(), select.EPOLLIN)

    def push(self, seconds: float, interval: float) -> dict[str, float]:
        """Push from every instance once in an interval, each at a moment of its own.

        An instance that waits for an answer, or got it only just now, skips its turn, which is counted as `late`.
        """
        count = len(self._instances)
        moments = sorted((self._rand.random() * interval, index) for index in range(count))
        turns, turn, late = round(count * seconds / interval), 0, 0
        began = time.perf_counter()
        while turn < turns:
            moment, index = moments[turn % count]
            wait = began + turn // count * interval + moment - time.perf_counter()
            if wait > 0:
                self._take(wait)
                continue
            turn += 1
            if self._instances[index].next > time.perf_counter():
                late += 1
            else:
                self._instances[index].push()
                self._unanswered += 1
                self._take(0)
        while self._unanswered:
            if not self._take(_PATIENCE):
                raise BenchError(f"{self._unanswered} pushes are unanswered after {_PATIENCE} s")
        return {"pushed": turns - late, "late": late, "seconds": time.perf_counter() - began}

    def _take(self, seconds: float) -> bool:
        """Receive the answers that come within `seconds`; return whether any came."""
        # An epoll's own timeout is rounded up to a millisecond: the pushes would come in bursts that no fleet makes.
        if not select.select([self._epoll], [], [], seconds)[0]:
            return False
        ready = self._epoll.poll(0)
        for descriptor, _ in ready:
            self._by_descriptor[descriptor].answered()
        self._unanswered -= len(ready)
        return True


def _subscribed(client: Client, connection: socket.socket, response: bytes) -> Instance:
    _, _, _, error, instance_id, subscription_id, interval_ms = _GET_RESPONSE.unpack_from(response)
    if error:
        raise BenchError(f"GetTelemetrySubscriptions was answered with error {error}")
    head = instance_id + struct.pack(">i?b", subscription_id, False, _ZSTD)
    bodies = [head + compact(metrics) + b"\x00" for metrics in client.pushes(TURNS)]
    frames = tuple(framed(_PUSH, 0, body, client.client_id) for body in bodies)
    return Instance(connection, frames, interval_ms / 1000)


def main(host: str, port: str) -> None:
    """Take commands until standard input ends."""
    raise_file_limit(11_000)
    fleet = Fleet((host, int(port)))
    for line in sys.stdin:
        command = json.loads(line)
        answer = fleet.grow(**command) if "instances" in command else fleet.push(**command)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
