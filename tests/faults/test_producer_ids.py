"""A thousand idempotent producers that start at once behind two upstream clusters, and producers that leave early."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.healthy import Healthy
from tests.support.proxy import Proxy, Servers
from tests.support.raw import RawClient, request
from tests.support.violation import never

PRODUCERS = 1000
INIT_PRODUCER_ID = 22
ISSUED = (1 << 38) - 1
BUSY = 14
"""COORDINATOR_LOAD_IN_PROGRESS: the broker waits for its next block of ids; every client asks again."""


@pytest.fixture
def two(kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> Iterator[Proxy]:
    """Yield a virtual cluster of two upstream clusters, and one of the first alone."""
    servers: dict[str, Servers] = {
        "two": {"a": kafka.cluster.bootstrap, "b": newest_kafka.cluster.bootstrap},
        "one": kafka.cluster.bootstrap,
    }
    with Proxy(tmp_path, servers) as proxy:
        yield proxy


def init_producer_id(number: int) -> bytes:
    """Return an InitProducerId request, version 1, without a transactional id."""
    return request(INIT_PRODUCER_ID, 1, number, struct.pack(">hi", -1, 60_000))


def begin(port: int) -> tuple[list[int], float]:
    """Return the ids of a thousand producers, each on a connection of its own, and the seconds until all had theirs."""
    clients = [RawClient(port, timeout=60) for _ in range(PRODUCERS)]
    begun = time.monotonic()
    for client in clients:
        client.send(init_producer_id(1))
    ids = [_id(client) for client in clients]
    seconds = time.monotonic() - begun
    for client in clients:
        client.close()
    return ids, seconds


def _id(client: RawClient) -> int:
    answer = client.receive()[1]
    while struct.unpack_from(">4xh", answer)[0] == BUSY:
        answer = client.ask(init_producer_id(2))
    code, producer_id = struct.unpack_from(">4xhq", answer)
    assert code == 0
    return int(producer_id)


def test_a_thousand_begin_at_once(two: Proxy, bounds: Bounds) -> None:
    """Each producer has an id of its own, all with the same cluster bits; a client beside them goes on."""
    with Healthy(two.port("two")) as healthy:
        plain, before = begin(two.port("one"))
        ids, after = begin(two.port("two"))
    print(f"{PRODUCERS} producers: {before:.2f} s behind one cluster, {after:.2f} s behind two")
    assert len({*ids, *plain}) == 2 * PRODUCERS
    assert len({one & ISSUED for one in (*ids, *plain)}) == 2 * PRODUCERS
    assert max(plain) <= ISSUED
    assert len({one >> 42 for one in ids}) == 1
    assert two.metric("kproxy_producer_ids_issued_total", cluster="two") == PRODUCERS
    bounds.below(healthy.slowest, 2.0, "seconds of a healthy client")


def test_producers_that_do_not_wait(two: Proxy) -> None:
    """Producers leave while their broker is asked: nothing of them stays, and others are served."""
    for _ in range(PRODUCERS // 10):
        with RawClient(two.port("two")) as client:
            client.send(init_producer_id(1))
    with RawClient(two.port("two")) as client:
        client.send(init_producer_id(1))
        assert _id(client) > ISSUED
    faults = two.logged(event="a fault in kproxy: please report it")
    never(bool(faults), f"a traceback in kproxy's log: {faults}")
