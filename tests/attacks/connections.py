"""Attacks by connections: many of them, slow ones, silent ones, ones that hold memory before they are known."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from tests.bench.frames import api_versions as greeting
from tests.support.raw import HOST, api_versions

from .attack import Attack, Steps, Target, converse, pause, reset

CONFIGS: Final = 32
HALF_SENT: Final = 8 << 20
_LONGEST: Final = 32_767
_AT_ONCE: Final = 128
_FAILOVER: Final = {"failover": {"automatic": True, "after": "2s"}}
_QUICK: Final = {"topology": {"interval": "0.5s"}, "timeouts": {"connect": "2s", "upstream_request": "2s"}}


def half_sent(target: Target) -> Steps:
    """40 connections, each with a request for configs of 8 MiB whose last byte never comes."""
    data = struct.pack(">ihhih", HALF_SENT, CONFIGS, 1, 1, -1) + bytes(HALF_SENT - 11)
    yield
    for connection in target.connect_some(40):
        converse(connection, data, 1, 0.5)
    _wait(target)


def byte_by_byte(target: Target) -> Steps:
    """500 connections that send a byte of a request every second."""
    data = api_versions(1)
    yield
    connections = target.connect_some(500)
    for turn, _ in enumerate(target.lasting()):
        for connection in connections:
            with suppress(OSError):
                connection.send(data[turn % len(data) :][:1])
        pause(1)


def idle(target: Target) -> Steps:
    """4,000 connections that ask for ApiVersions once and do nothing more."""
    yield
    _greet(target, api_versions(1), 4_000)
    _wait(target)


def long_client_ids(target: Target) -> Steps:
    """1,000 connections whose client id has 32 kB, software name and version 15 kB each: more is refused."""
    name = b"n" * 15_000
    data = greeting("i" * _LONGEST, name, name)
    yield
    _greet(target, data, 1_000)
    _wait(target)


def _greet(target: Target, data: bytes, count: int) -> None:
    for _ in range(count // 50):
        connections = target.connect_some(50)
        for connection in connections:
            with suppress(OSError):
                connection.sendall(data)
        for connection in connections:
            converse(connection, b"", 1, 1)


def _wait(target: Target) -> None:
    for left in target.lasting():
        pause(left)


def _storm(target: Target, first: Callable[[socket.socket], None]) -> None:
    """Keep many connections opening at a time; `first` is called for each once it is open."""
    opening: dict[int, socket.socket] = {}
    with select.epoll() as epoll:
        for _ in target.lasting():
            while len(opening) < _AT_ONCE:
                connection = socket.socket()
                connection.setblocking(False)
                connection.connect_ex((HOST, target.port))
                opening[connection.fileno()] = connection
                epoll.register(connection.fileno(), select.EPOLLOUT)
            for descriptor, _ in epoll.poll(0.1):
                connection = opening.pop(descriptor)
                epoll.unregister(descriptor)
                with suppress(OSError):
                    first(connection)
                connection.close()
    for connection in opening.values():
        connection.close()


def connect_storm(target: Target) -> Steps:
    """Connections that are closed as soon as they are open, 128 at a time."""
    yield
    _storm(target, lambda connection: None)


def first_request_storm(target: Target) -> Steps:
    """Connections that send a first request and are closed, 128 at a time: a broker is dialled for each."""
    data = api_versions(1)
    yield
    _storm(target, lambda connection: connection.sendall(data))


def reset_storm(target: Target) -> Steps:
    """Connections that send half of a request and are reset, 128 at a time."""
    data = api_versions(1)[:7]

    def first(connection: socket.socket) -> None:
        connection.sendall(data)
        reset(connection)

    yield
    _storm(target, first)


def descriptors(target: Target) -> Steps:
    """400 connections where kproxy has 256 descriptors."""
    yield
    for _ in range(8):
        for connection in target.connect_some(50):
            with suppress(OSError):
                connection.sendall(api_versions(1))
    _wait(target)


ATTACKS: Final = (
    Attack("half-sent", 6, "40 connections, 8 MiB each of an unfinished request", half_sent, 10),
    Attack("byte-by-byte", 6, "500 connections, a byte a second each", byte_by_byte, 10),
    Attack("idle", 6, "4,000 connections that do nothing", idle),
    Attack("long-client-ids", 6, "1,000 connections with ids and names of 62 kB", long_client_ids),
    Attack("connect-storm", 7, "connections opened and closed, 128 at a time", connect_storm),
    Attack("first-request-storm", 7, "the same, with a first request each", first_request_storm),
    Attack("reset-storm", 7, "the same, with half of one, and reset", reset_storm),
    Attack(
        "descriptors",
        8,
        "400 connections, 256 descriptors, two upstreams",
        descriptors,
        10,
        _QUICK,
        _FAILOVER,
        256,
        True,
    ),
)
