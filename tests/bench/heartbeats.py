"""Sends the heartbeats of thousands of members from one plain loop: tasks of their own would need a processor."""

from __future__ import annotations

import os
import select
import struct
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import frame

from .group_members import HEARTBEAT, Member

_CORRELATION_AT: Final = 8
_ANSWER: Final = struct.Struct(">iiih")
"""A whole response: size, correlation id, throttle time, error code."""
_LAST_ANSWERS: Final = 10.0
"""Seconds in which every heartbeat must be answered once the last is sent."""


class _Line:
    """One connection, and when each of its heartbeats that wait for an answer was sent."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._sent: deque[tuple[int, float]] = deque()
        self._rest = b""
        self._last = 0

    def send(self, heartbeat: bytearray) -> None:
        self._last += 1
        heartbeat[_CORRELATION_AT : _CORRELATION_AT + 4] = self._last.to_bytes(4)
        self._sent.append((self._last, time.perf_counter()))
        assert os.write(self._number, heartbeat) == len(heartbeat)

    def take(self, latencies: list[float]) -> int:
        """Take the answers that are there; return how many."""
        some = self._rest + os.read(self._number, 1 << 16)
        assert len(some) > len(self._rest), "the connection was closed"
        now, whole = time.perf_counter(), len(some) // _ANSWER.size
        for _, answered, _, error in _ANSWER.iter_unpack(some[: whole * _ANSWER.size]):
            asked, at = self._sent.popleft()
            assert (answered, error) == (asked, 0)
            latencies.append(now - at)
        self._rest = some[whole * _ANSWER.size :]
        return whole


class Heartbeats:
    """The heartbeats of members that are in a generation; nothing else may use their connections meanwhile."""

    def __init__(self, members: Sequence[Member], interval: float) -> None:
        """Each member sends one every `interval` seconds, all evenly spread."""
        self._interval = interval
        numbers = [member.connection.fileno() for member in members]
        self._lines = {number: _Line(number) for number in numbers}
        self._beats = [(self._lines[number], _heartbeat(each)) for number, each in zip(numbers, members, strict=True)]

    def send(self, seconds: float) -> list[float]:
        """Send them for so long; return the seconds that each answer took."""
        with select.epoll() as epoll:
            for number in self._lines:
                epoll.register(number, select.EPOLLIN)
            return self._send(epoll, seconds)

    def _send(self, epoll: select.epoll, seconds: float) -> list[float]:
        latencies: list[float] = []
        count = round(seconds / self._interval * len(self._beats))
        begun, passed, sent, answered = time.perf_counter(), 0.0, 0, 0
        while answered < count or passed < seconds:
            passed = time.perf_counter() - begun
            assert passed < seconds + _LAST_ANSWERS, f"{count - answered} heartbeats without an answer"
            while sent < min(count, passed / self._interval * len(self._beats)):
                line, heartbeat = self._beats[sent % len(self._beats)]
                line.send(heartbeat)
                sent += 1
            for number, _ in epoll.poll(0.001):
                answered += self._lines[number].take(latencies)
        return latencies


def _heartbeat(member: Member) -> bytearray:
    request = HeartbeatRequest(member.group, member.generation, member.id)
    head = encode_request_header(RequestHeader(ApiKey.HEARTBEAT, HEARTBEAT, 0, "bench"))
    return bytearray(frame(head, request.encode(HEARTBEAT)))
