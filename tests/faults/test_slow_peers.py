"""Peers that stop reading: kproxy stops reading the other side instead of growing."""

from __future__ import annotations

import threading

from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.healthy import Healthy
from tests.support.proxy import Proxy
from tests.support.raw import RawClient, api_versions, fetch, produce
from tests.support.side import leader_port
from tests.support.wait import stays, until

MIB = 1 << 20
RECORD = bytes(range(256)) * 4000  # 1 MB less a little
RECORDS = 60
BOUND = 24 * MIB
"""Memory that kproxy may need beyond its idle size: its buffers, not the 60 MB that wait on the other side."""


def fill(port: int, kafka: Backend, topic: str) -> None:
    """Produce RECORDS records of almost 1 MB, and wait until they can be fetched: all replicas in sync have them."""
    with RawClient(port) as client:
        for number in range(RECORDS):
            client.ask(produce(number, topic, 1, [RECORD]))
    until(lambda: kafka.end_offsets(topic) == {0: RECORDS}, f"{RECORDS} records that can be fetched")


def test_slow_client(proxy: Proxy, kafka: Backend, healthy: Healthy, bounds: Bounds) -> None:
    """A client that asks for 60 MB and does not read: no memory for it, others are served, then it gets all of it."""
    topic = kafka.topic(1, max_message_bytes=str(2 * MIB))
    port = leader_port(proxy, kafka, topic)
    fill(port, kafka, topic)
    with RawClient(port, timeout=30, receive_buffer=64 << 10) as slow:
        slow.ask(api_versions(0))
        rss = proxy.rss
        slow.send(*(fetch(number, topic, offset=number, max_bytes=MIB) for number in range(RECORDS)))
        until(lambda: proxy.metric("kproxy_backpressure_pauses_total", direction="downstream") > 0, "a pause")
        stays(lambda: proxy.rss - rss < BOUND, "memory grew for a client that does not read", seconds=3)
        for number in range(RECORDS):
            correlation_id, body = slow.receive()
            assert correlation_id == number
            assert RECORD in body
        assert proxy.rss - rss < BOUND
    bounds.below(healthy.slowest, 1.0, "seconds of a healthy client")


def test_slow_broker(proxy: Proxy, kafka: Backend) -> None:
    """A broker that is stopped while a client sends 60 MB: the client has to wait, then all of it arrives in order."""
    topic = kafka.topic(1, replicas=1, max_message_bytes=str(2 * MIB), min_insync_replicas="1")
    leader = kafka.leaders(topic)[0]
    with RawClient(proxy.node_ports()[leader], timeout=60) as client:
        client.ask(api_versions(0))
        rss = proxy.rss
        with kafka.paused(leader):
            sending = threading.Thread(
                target=client.send,
                args=[produce(number, topic, 1, [RECORD]) for number in range(RECORDS)],
                daemon=True,
            )
            sending.start()
            until(lambda: proxy.metric("kproxy_backpressure_pauses_total", direction="upstream") > 0, "a pause")
            stays(lambda: proxy.rss - rss < BOUND, "memory grew for a broker that does not read", seconds=2)
            assert sending.is_alive(), "60 MB fitted into buffers: the test proves nothing"
        assert [client.receive()[0] for _ in range(RECORDS)] == list(range(RECORDS))
        sending.join()
    assert kafka.end_offsets(topic) == {0: RECORDS}
