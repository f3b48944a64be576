"""Clients that end with requests under way: what kproxy has received of them reaches Kafka, as without kproxy."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from tests.support.backend import Backend
from tests.support.healthy import Healthy
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions, metadata, produce
from tests.support.side import leader_port
from tests.support.wait import until
from tests.unit.relay.sockets import RESET

MANY = 200


def small(topic: str) -> list[bytes]:
    """Requests of one record, which nobody acknowledges."""
    return [produce(number, topic, 0, [b"%d" % number]) for number in range(MANY)]


def values() -> list[str]:
    """What is in them."""
    return [str(number) for number in range(MANY)]


def unread(client: RawClient, frames: list[bytes]) -> None:
    """Leave an answer unread: closed then, a socket sends a reset."""
    client.send(metadata(2))
    assert client.socket.recv(1, socket.MSG_PEEK)
    client.send(*frames)
    client.close()


def reset(client: RawClient, frames: list[bytes]) -> None:
    """End by a reset."""
    client.send(*frames)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    client.close()


def garbage(client: RawClient, frames: list[bytes]) -> None:
    """Send what is no request, and wait for the end."""
    client.send(*frames, b"\xff" * 40)
    assert client.wait_closed() == b""


def too_large(client: RawClient, frames: list[bytes]) -> None:
    """Begin a request that neither kproxy nor Kafka takes."""
    client.send(*frames, (200 << 20).to_bytes(4, "big"), bytes(200))
    assert client.wait_closed() == b""


@pytest.mark.parametrize("end", [unread, reset, garbage, too_large])
def test_unacknowledged_requests_before_an_end(
    proxy: Proxy, kafka: Backend, healthy: Healthy, end: Callable[[RawClient, list[bytes]], None]
) -> None:
    """All of them are in the log, in order, and once."""
    topic = kafka.topic(1)
    with RawClient(leader_port(proxy, kafka, topic)) as client:
        client.ask(api_versions(1))
        end(client, small(topic))
    until(lambda: kafka.end_offsets(topic) == {0: MANY}, f"{MANY} records")
    assert kafka.values(topic) == values()
    until(lambda: healthy_alone(proxy), "the connection's end")


def healthy_alone(proxy: Proxy) -> bool:
    """Return whether no client is left but the healthy one."""
    return len(proxy.get_json("/api/v1/connections")["connections"]) == 1


def test_large_requests_before_a_reset(proxy: Proxy, kafka: Backend, healthy: Healthy) -> None:
    """The client's kernel drops what it had not sent. What kproxy has received in full is in the log."""
    topic = kafka.topic(1)
    with RawClient(leader_port(proxy, kafka, topic), timeout=60) as client:
        client.ask(api_versions(1))
        unread(client, [produce(number, topic, 0, [bytes(900_000)]) for number in range(40)])
    until(lambda: healthy_alone(proxy), "the connection's end")
    (ended,) = [line for line in proxy.logged(event="connection ended") if line["reason"] == "client_reset"]
    whole = int(ended["bytes_in"]) // len(produce(0, topic, 0, [bytes(900_000)]))
    assert whole > 0
    until(lambda: kafka.end_offsets(topic) == {0: whole}, f"{whole} records")
