"""Clients that must bootstrap again, byte by byte: which get 129, in which order, and what ends a connection.

The requests are written here by hand, and kio reads the responses: none of kproxy's own codecs is used.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kproxy.wire.apis import APIS
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.footprint import nothing_kept
from tests.support.healthy import Healthy
from tests.support.proxy import HOST, Proxy
from tests.support.raw import (
    FETCH,
    METADATA,
    RawClient,
    api_versions,
    fetch,
    frame,
    metadata,
    produce,
    request,
    string,
)
from tests.support.side import leader_port
from tests.support.wait import until
from tests.unit.relay import frames

REBOOTSTRAP_REQUIRED = 129
UNKNOWN_TOPIC_OR_PARTITION = 3
CLIENT_ID = "raw"
LONG = 20_000
"""Milliseconds that a fetch waits for records that do not come."""
NODE = 7


@pytest.fixture
def proxy(kafka: Backend, tmp_path: Path) -> Iterator[Proxy]:
    """Yield a kproxy that lets its epoch rise once a second."""
    topology = {"interval": "1s", "epoch_floor": "1s"}
    with Proxy(tmp_path, {"kafka": kafka.cluster.bootstrap}, topology=topology) as proxy:
        yield proxy


def flexible(key: int, version: int, correlation_id: int, body: bytes) -> bytes:
    """Return a request with header version 2: a client id in the old form, then tagged fields."""
    return frame(struct.pack(">hhi", key, version, correlation_id) + string(CLIENT_ID) + b"\0" + body)


def metadata_13(correlation_id: int, topics: Sequence[str] | None = ()) -> bytes:
    """Return Metadata v13 for these topics; None for all."""
    named = b"".join(bytes(16) + bytes((len(name) + 1,)) + name.encode() + b"\0" for name in topics or ())
    count = 0 if topics is None else len(topics) + 1
    return flexible(3, 13, correlation_id, bytes((count,)) + named + b"\0\0\0")


def hello_5(correlation_id: int, cluster_id: str, node_id: int = -1) -> bytes:
    """Return ApiVersions v5 of a client that means this cluster and node (KIP-1242)."""
    text = b"".join(bytes((len(one) + 1,)) + one.encode() for one in ("raw-client", "1.0", cluster_id))
    return flexible(18, 5, correlation_id, text + struct.pack(">i", node_id) + b"\0")


def read(body: bytes, correlation_id: int = 0) -> Any:
    """Parse a Metadata v13 response; the raw client has taken off its correlation id."""
    return frames.understood(3, 13, struct.pack(">i", correlation_id) + body)


def ask_metadata(client: RawClient, topics: Sequence[str] | None = ()) -> Any:
    """Ask for Metadata v13; return the response."""
    return read(client.ask(metadata_13(1, topics)))


def asked(proxy: Proxy, key: int, version: int) -> float:
    """Return how many requests of an API the proxy has counted."""
    return proxy.metric("kproxy_requests_total", api=APIS[key].name, version=str(version))


def check_ended(client: RawClient, within: float = 5.0) -> None:
    """Check that nothing more comes, and that the connection ends."""
    assert client.wait_closed(within) == b""


def raise_epoch(proxy: Proxy) -> None:
    """Raise the epoch as an operator does, as soon as the floor allows."""
    until(lambda: proxy.post("/api/v1/clusters/kafka/rebootstrap")[0] == 200, "a new epoch")


def owed(proxy: Proxy, node: int = NODE) -> RawClient:
    """Return a client that is owed a 129: its connection of the epoch before was closed, and it came back."""
    port = proxy.node_ports()[node]
    with RawClient(port) as before:
        before.ask(api_versions(1))
        raise_epoch(proxy)
        check_ended(before)
    after = RawClient(port)
    after.ask(api_versions(1))
    return after


def test_idle_connections_end_at_once(proxy: Proxy, bounds: Bounds) -> None:
    """Every connection of the epoch before ends, at the bootstrap port too, and those that only talk to a coordinator.

    rebootstrap.md: Java's "coordinator connection is not in that list and survives: close it"; "Older clients: close
    their connections".
    """
    heartbeat = request(12, 0, 2, string("group") + struct.pack(">i", 1) + string("member"))
    ports = [proxy.port(), *proxy.node_ports().values()]
    clients = [RawClient(port) for port in ports]
    for client in clients:
        client.ask(api_versions(1))
        client.ask(heartbeat)
    begun = time.monotonic()
    proxy.rebootstrap("kafka")
    for client in clients:
        check_ended(client)
        client.close()
    bounds.below(time.monotonic() - begun, 2, "seconds until all had ended")
    assert proxy.metric("kproxy_connections_closed_total", reason="rebootstrap") == len(ports)


def test_a_client_gets_129_once_then_is_served(proxy: Proxy, kafka: Backend) -> None:
    """129 with present brokers and the true state of its topics, then the end; the next connection gets fresh metadata.

    rebootstrap.md: "closing the socket after the answer makes it bootstrap" (librdkafka 2.11.1 to 2.15); "put valid
    brokers in the body"; "once for a connection in an epoch, then serve fresh metadata"; "fresh metadata must not name
    a listener that answers 129".
    """
    topic = kafka.topic(1)
    with owed(proxy) as client:
        answer = ask_metadata(client, [topic, "absent"])
        assert answer["ErrorCode"] == REBOOTSTRAP_REQUIRED
        named = {broker["NodeId"]: (broker["Host"], broker["Port"]) for broker in answer["Brokers"]}
        assert named == {node: (HOST, port) for node, port in proxy.node_ports().items()}
        assert answer["ControllerId"] in named
        assert answer["ClusterId"] == proxy.get_json("/api/v1/clusters")["clusters"][0]["cluster_id"]
        topics = [(one["Name"], one["ErrorCode"], len(one["Partitions"])) for one in answer["Topics"]]
        assert topics == [(topic, 0, 1), ("absent", UNKNOWN_TOPIC_OR_PARTITION, 0)]
        check_ended(client)
    for node, port in proxy.node_ports().items():
        with RawClient(port) as again:
            again.ask(api_versions(1))
            served = ask_metadata(again, [topic])
            assert (served["ErrorCode"], len(served["Topics"][0]["Partitions"])) == (0, 1), node


def test_129_has_all_topics(proxy: Proxy, kafka: Backend) -> None:
    """The Java admin client's listTopics does not look at the error: it must not find a cluster without topics."""
    topic = kafka.topic(3)
    with owed(proxy) as client:
        answer = ask_metadata(client, None)
        assert answer["ErrorCode"] == REBOOTSTRAP_REQUIRED
        partitions = {one["Name"]: len(one["Partitions"]) for one in answer["Topics"]}
        assert partitions[topic] == 3
        check_ended(client)


def test_bootstrap_never_says_129(proxy: Proxy) -> None:
    """rebootstrap.md: "never on a listener that clients bootstrap from": whatever is asked there, and how often."""
    owed(proxy).close()
    for _ in range(20):
        with RawClient(proxy.port()) as client:
            client.ask(hello_5(1, "another cluster", 99))
            assert ask_metadata(client)["ErrorCode"] == 0
            assert ask_metadata(client, None)["ErrorCode"] == 0


def test_below_v13_no_client_gets_129(proxy: Proxy) -> None:
    """rebootstrap.md: "v13+ only": a client that asks by v1 is served, though its epoch is over."""
    with owed(proxy) as client:
        assert client.ask(metadata(2))
        assert client.ask(metadata(3))
        assert ask_metadata(client)["ErrorCode"] == REBOOTSTRAP_REQUIRED
        check_ended(client)


def test_129_comes_behind_what_is_in_flight(proxy: Proxy, kafka: Backend) -> None:
    """rebootstrap.md: "flush, then close": a slow response first, then the 129; what is behind it is not read."""
    topic = kafka.topic(1, replicas=1)
    leader = kafka.leaders(topic)[0]
    with owed(proxy, leader) as client:
        client.send(
            fetch(2, topic, max_wait_ms=1000),
            metadata_13(3, [topic]),
            produce(4, topic, 1, [b"never produced"]),
            b"\xff" * 50,
        )
        assert client.receive()[0] == 2
        number, answer = client.receive()
        assert (number, read(answer)["ErrorCode"]) == (3, REBOOTSTRAP_REQUIRED)
        check_ended(client)
    assert set(kafka.end_offsets(topic).values()) == {0}
    assert proxy.metric("kproxy_protocol_errors_total") == 0


def test_129_does_not_wait_for_a_broker(proxy: Proxy, bounds: Bounds) -> None:
    """rebootstrap.md: "never answer slowly": with nothing in flight it is out before any broker could answer."""
    with owed(proxy) as client:
        begun = time.monotonic()
        assert ask_metadata(client, ["any"])["ErrorCode"] == REBOOTSTRAP_REQUIRED
        bounds.below(time.monotonic() - begun, 0.5, "seconds until the 129 was there")
        check_ended(client, 1.0)


def test_129_reaches_a_client_that_keeps_sending(proxy: Proxy, kafka: Backend) -> None:
    """What the client sends into the closing connection must not cause a reset that destroys unread responses."""
    topic = kafka.topic(1, replicas=1)
    with owed(proxy) as client, nothing_kept(proxy):
        client.send(fetch(2, topic), metadata_13(3, [topic]))
        sent: list[int] = []
        flood = threading.Thread(target=_send_on, args=[client.socket, produce(4, topic, 0, [b"x" * 900]), sent])
        flood.start()
        try:
            closed = "kproxy_connections_closed_total"
            until(lambda: proxy.metric(closed, reason="rebootstrap") >= 2, "the end, as kproxy sees it")
            many = len(sent) + 100
            until(lambda: len(sent) > many or not flood.is_alive(), "more of the flood")  # nothing is read meanwhile
            assert client.receive()[0] == 2
            number, answer = client.receive()
            assert (number, read(answer)["ErrorCode"]) == (3, REBOOTSTRAP_REQUIRED)
        finally:
            client.socket.shutdown(socket.SHUT_RDWR)
            flood.join()


def _send_on(sock: socket.socket, one: bytes, sent: list[int]) -> None:
    pause = threading.Event()
    with contextlib.suppress(OSError):
        while not pause.wait(0.001):
            sock.sendall(one)
            sent.append(len(one))


def test_129_behind_a_large_response_to_a_slow_client(proxy: Proxy, kafka: Backend) -> None:
    """A client that reads nothing for a while gets the whole response, and the 129 behind it."""
    topic = kafka.topic(1, replicas=1)
    with RawClient(leader_port(proxy, kafka, topic)) as writer:
        for number in range(8):
            writer.ask(produce(number, topic, 1, [b"v" * 900_000]))
    owed(proxy, kafka.leaders(topic)[0]).close()
    with RawClient(leader_port(proxy, kafka, topic), receive_buffer=16 << 10) as client:
        client.ask(api_versions(1))
        client.send(fetch(2, topic, max_bytes=32 << 20), metadata_13(3, [topic]))
        until(lambda: asked(proxy, METADATA, 13) >= 1, "its last request")
        number, fetched = client.receive()
        assert (number, len(fetched) > 5_000_000) == (2, True)
        number, answer = client.receive()
        assert (number, read(answer)["ErrorCode"]) == (3, REBOOTSTRAP_REQUIRED)
        check_ended(client)


def test_a_broker_that_does_not_answer_holds_nobody(proxy: Proxy, kafka: Backend, bounds: Bounds) -> None:
    """What is in flight on a connection of the epoch before has a second; a client beside it notices nothing."""
    topic = kafka.topic(1, replicas=1)
    with RawClient(leader_port(proxy, kafka, topic)) as client, nothing_kept(proxy):
        client.ask(api_versions(1))
        client.send(fetch(2, topic, max_wait_ms=LONG))
        until(lambda: asked(proxy, FETCH, 4) >= 1, "a fetch in flight")
        begun = time.monotonic()
        raise_epoch(proxy)
        with Healthy(proxy.port()):
            check_ended(client)
        assert time.monotonic() - begun > 0.5
        bounds.below(time.monotonic() - begun, 3, "seconds until it had ended")


def test_what_is_in_flight_is_answered(proxy: Proxy, kafka: Backend) -> None:
    """A response within that second reaches its client: a commit that was done is not reported as failed."""
    topic = kafka.topic(1, replicas=1)
    with RawClient(leader_port(proxy, kafka, topic)) as client:
        client.ask(api_versions(1))
        client.send(fetch(2, topic, max_wait_ms=600), fetch(3, topic, max_wait_ms=0))
        until(lambda: asked(proxy, FETCH, 4) >= 2, "both in flight")
        raise_epoch(proxy)
        assert [client.receive()[0] for _ in range(2)] == [2, 3]
        check_ended(client)


def test_a_129_that_waits_does_not_outlive_its_epoch(proxy: Proxy, kafka: Backend) -> None:
    """The epoch rises again while a 129 waits behind a missing response: closed, and 129 on the next connection."""
    topic = kafka.topic(1, replicas=1)
    leader = kafka.leaders(topic)[0]
    with owed(proxy, leader) as client:
        client.send(fetch(2, topic, max_wait_ms=LONG), metadata_13(3, [topic]))
        until(lambda: asked(proxy, METADATA, 13) >= 1, "its last request")
        raise_epoch(proxy)
        check_ended(client)
    with RawClient(proxy.node_ports()[leader]) as again:
        again.ask(api_versions(1))
        assert ask_metadata(again)["ErrorCode"] == REBOOTSTRAP_REQUIRED
        check_ended(again)


def test_another_cluster_or_node_is_notified_at_connect_time(proxy: Proxy) -> None:
    """KIP-1242 in front of brokers that do not know it; a client that does so again is closed, without another 129.

    rebootstrap.md: "it must check these itself".
    """
    known = proxy.get_json("/api/v1/clusters")["clusters"][0]["cluster_id"]
    port = proxy.node_ports()[NODE]
    with RawClient(port) as right:
        assert right.ask(hello_5(1, known, NODE))[:2] == b"\0\0"
        assert ask_metadata(right)["ErrorCode"] == 0
    with RawClient(port) as wrong:
        wrong.send(hello_5(1, "of the past"), metadata_13(2))
        number, answer = wrong.receive()
        assert (number, answer[:2]) == (1, REBOOTSTRAP_REQUIRED.to_bytes(2, "big"))
        check_ended(wrong)
    with RawClient(port) as again:
        again.send(hello_5(1, known, 1001))
        check_ended(again)


def test_the_port_of_a_node_that_is_gone(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """After a switch to a cluster with other nodes: 129 names nodes that are there; all else ends at once.

    rebootstrap.md: "a retired node's listener refuses or closes at once rather than hanging".
    """
    both = {"old": kafka.cluster.bootstrap, "new": newest_kafka.cluster.bootstrap}
    topology = {"interval": "1s", "epoch_floor": "1s", "retired": "refuse"}
    with Proxy(tmp_path, {"kafka": both}, topology=topology) as proxy:
        gone = proxy.node_ports()[NODE]
        proxy.fail_over("kafka", "new")
        until(lambda: set(proxy.node_ports()) >= {0}, "the new cluster's node")
        with RawClient(gone) as client:
            client.ask(api_versions(1))
            answer = ask_metadata(client, ["any"])
            assert answer["ErrorCode"] == REBOOTSTRAP_REQUIRED
            assert [broker["NodeId"] for broker in answer["Brokers"]] == [0]
            check_ended(client)
        with RawClient(answer["Brokers"][0]["Port"]) as client:
            client.ask(api_versions(1))
            assert ask_metadata(client)["ErrorCode"] == 0
        for first in (metadata(1), fetch(1, "any"), request(10, 0, 1, string("group")), api_versions(1)):
            with RawClient(gone) as client:  # its client got 129 already, so that it is closed at once
                client.send(first)
                check_ended(client, 2.0)
