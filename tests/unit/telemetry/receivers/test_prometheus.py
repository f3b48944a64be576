"""kproxy.telemetry.receivers.prometheus: pushes in, pages out, while it runs."""

from __future__ import annotations

import gc
import gzip
import time
from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace

import pytest
import trio
import trio.testing
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from prometheus_client.parser import text_string_to_metric_families

from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers import prometheus
from kproxy.telemetry.receivers.prometheus import Prometheus, clients_page
from tests.unit.telemetry.receivers.pushes import client, gauge, push, total


async def test_what_is_offered_is_on_the_page(nursery: trio.Nursery) -> None:
    """Offered from the Trio thread, delivered once it is added up."""
    receiver = Prometheus()
    await nursery.start(receiver.run)
    for _ in range(3):
        assert receiver.offer(push(total("sent", 2)))
    await receiver.flush()
    content_type, page = await clients_page([receiver])
    assert content_type == "text/plain; version=0.0.4; charset=utf-8"
    [family] = text_string_to_metric_families(page.decode())
    assert [sample.value for sample in family.samples] == [6]
    assert receiver.counters.delivered == 3
    _, compressed = await clients_page([receiver], compress=True)
    assert gzip.decompress(compressed) == page


async def test_a_push_like_the_last_ones_is_taken_at_once(nursery: trio.Nursery) -> None:
    """It does not wait for the task, unless other pushes of the client are queued."""
    receiver = Prometheus()
    await nursery.start(receiver.run)
    for _ in range(2):
        assert receiver.offer(push(total("sent", 2)))
        await receiver.flush()
    before = receiver.counters.delivered_bytes
    assert receiver.offer(push(total("sent", 3)))
    assert (receiver.counters.delivered, receiver.counters.queued) == (3, 0)
    assert receiver.counters.delivered_bytes == before * 3 // 2
    assert receiver.offer(push(gauge("other", 1.0)))
    assert receiver.offer(push(total("sent", 4)))
    assert (receiver.counters.delivered, receiver.counters.queued) == (3, 2)
    await receiver.flush()
    assert receiver.offer(push(gauge("others", 1.0), info=client(2)))
    assert receiver.offer(push(total("sent", 0)))
    assert (receiver.counters.delivered, receiver.counters.queued) == (6, 1)
    await receiver.flush()
    _, page = await clients_page([receiver])
    assert b"} 11" in page
    assert receiver.counters.offered == receiver.counters.delivered == 7


async def test_a_backlog_can_be_cancelled(nursery: trio.Nursery) -> None:
    """It ends after the present push; the others stay queued."""
    receiver = Prometheus()
    with trio.CancelScope() as scope:
        for number in range(200):
            receiver.offer(push(*[gauge(f"g{each}", 1.0) for each in range(50)], info=client(number)))
        scope.cancel()
        await receiver.run()
    assert 0 < receiver.counters.queued < 200
    await nursery.start(receiver.run)
    await receiver.flush()
    assert receiver.counters.delivered == 200


async def test_receivers_of_several_clusters() -> None:
    """One page; constant labels distinguish them. It is empty without a push."""
    receivers = [Prometheus(name, constant={"cluster": name}) for name in ("one", "two")]
    assert (await clients_page(receivers))[1] == b""
    for receiver in receivers:
        list(receiver.accumulator.steps(client(), push(gauge("g", 1.0)).metrics, 0))
    _, page = await clients_page(receivers)
    [family] = text_string_to_metric_families(page.decode())
    assert [sample.labels["cluster"] for sample in family.samples] == ["one", "two"]


async def test_a_push_that_cannot_be_decoded_costs_itself_only(nursery: trio.Nursery) -> None:
    """It is dropped and counted; the next one is added up."""
    receiver = Prometheus()
    await nursery.start(receiver.run)
    receiver.offer(Push(client(), 0.0, b"\xff"))
    receiver.offer(push(gauge("g", 1.0)))
    await receiver.flush()
    assert (receiver.counters.dropped, receiver.counters.delivered) == ({"malformed": 1}, 1)
    assert "not OTLP" in str(receiver.counters.last_error)


async def test_clients_expire_without_pushes(nursery: trio.Nursery, autojump_clock: trio.testing.MockClock) -> None:
    """They expire even if nobody pushes."""
    receiver = Prometheus(expiry=60)
    await nursery.start(receiver.run)
    receiver.offer(push(gauge("g", 1.0)))
    await trio.sleep(50)
    assert receiver.accumulator.sources == 1
    await trio.sleep(50)
    assert (receiver.accumulator.sources, await receiver.snapshots()) == (0, [])


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage collection: it takes longer with the objects of other tests."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
async def test_a_large_push_does_not_hold_up_the_loop(nursery: trio.Nursery) -> None:
    """Another task gets its turn time and again while 20,000 points of one push are added up: after 20 ms of CPU."""
    receiver = Prometheus()
    await nursery.start(receiver.run)
    data = MetricsData()
    points = data.resource_metrics.add().scope_metrics.add().metrics.add(name="t").sum.data_points
    for each in range(20_000):
        points.add(as_int=each).attributes.add(key="p").value.int_value = each
    receiver.offer(Push(client(), 0.0, data.SerializeToString()))
    turns = [time.thread_time()]
    while receiver.counters.queued:
        await trio.lowlevel.checkpoint()
        turns.append(time.thread_time())
    waits = [later - earlier for earlier, later in pairwise(turns)]
    assert len(waits) >= 500
    assert sorted(waits)[-2] < 0.02  # the longest is the decoding, which is one step


async def test_a_fleet_that_comes_back_does_not_hold_up_the_loop(nursery: trio.Nursery) -> None:
    """Another task gets its turn more often than once for each first push of 30 metrics, however long the queue."""
    receiver = Prometheus()
    await nursery.start(receiver.run)
    metrics = [total(f"t{each}", each) for each in range(30)]
    for number in range(50):
        assert receiver.offer(push(*metrics, info=client(number)))
    turns = 0
    while receiver.counters.queued:
        await trio.lowlevel.checkpoint()
        turns += 1
    assert receiver.counters.delivered == 50
    assert turns > 60


def test_a_thread_takes_breaks_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of 1,000 pieces of 0.04 ms: a break of 0.1 ms after 0.08 ms of work, until their 6 ms are over."""
    now, breaks = 0.0, []

    def sleep(seconds: float) -> None:
        nonlocal now
        breaks.append(now)
        now += seconds

    monkeypatch.setattr(prometheus, "time", SimpleNamespace(perf_counter=lambda: now, sleep=sleep))
    monkeypatch.setattr(prometheus, "_BREAKS", 0.0059)
    taken = prometheus._Breaks()
    for _ in range(1_000):
        now += 0.00004
        taken.take()
    assert len(breaks) == 60
    apart = [later - earlier for earlier, later in pairwise([-0.0001, *breaks])]
    assert apart == pytest.approx([0.00018] * 60)
    assert now == pytest.approx(0.046)
