"""kproxy.telemetry.receivers.prometheus: pushes in, pages out, while it runs."""

from __future__ import annotations

import gc
import gzip
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest
import trio
import trio.testing
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from prometheus_client.parser import text_string_to_metric_families

from kproxy.telemetry.payload import Losses, Push
from kproxy.telemetry.quotas import Pusher
from kproxy.telemetry.receivers import prometheus
from kproxy.telemetry.receivers.prometheus import Prometheus, bounded, clients_page
from tests.unit.telemetry.clients import wide
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


def test_a_page_is_bounded() -> None:
    """Whole parts up to the bound; then a comment, which Prometheus skips."""
    parts = ["a 1.0\n", "b 2.0\n", "c 3.0\n"]
    assert list(bounded(parts, 18)) == [b"a 1.0\n", b"b 2.0\n", b"c 3.0\n"]
    cut = b"".join(bounded(parts, 17)).decode()
    assert [family.name for family in text_string_to_metric_families(cut)] == ["a", "b"]
    assert cut.endswith("# kproxy: this page ends at 17 bytes; further series are left out: see max_series\n")


async def test_scrapes_take_turns(nursery: trio.Nursery) -> None:
    """A page needs a copy of all numbers: never more than one at a time."""
    receiver = Prometheus()
    await nursery.start(receiver.run)
    receiver.offer(push(*[total("t", 1.0, topic=str(each)) for each in range(3000)]))
    await receiver.flush()
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, prometheus._SCRAPE.statistics().borrowed_tokens)
            await trio.lowlevel.checkpoint()

    nursery.start_soon(watch)
    pages: list[bytes] = []

    async def scrape() -> None:
        pages.append((await clients_page([receiver]))[1])

    async with trio.open_nursery() as scrapes:
        for _ in range(4):
            scrapes.start_soon(scrape)
    assert (most, len(pages), len(set(pages))) == (1, 4, 1)
    nursery.cancel_scope.cancel()


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


async def test_a_wide_push_is_added_up_part_by_part(nursery: trio.Nursery) -> None:
    """All its points, with turns for others. The next one replaces its gauges."""
    receiver = Prometheus()
    await nursery.start(receiver.run)
    turns = 0
    for _ in range(2):
        receiver.offer(Push(client(), 0.0, wide(700)))
        while receiver.counters.queued:
            await trio.lowlevel.checkpoint()
            turns += 1
    assert (receiver.counters.delivered, receiver.accumulator.tally.series) == (2, 4_200)
    assert turns > 500
    values = [
        value
        for each in receiver.accumulator.families.values()
        for one in each.points.values()
        for value in one.values.values()
    ]
    assert sorted(values) == [number + 0.5 for number in range(4_200)]


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


async def test_an_address_that_is_gone_gives_back_its_series(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    """Row 4: within a minute after its connection has ended, where it had more than half of what it may have."""
    receiver = Prometheus(max_series=100)
    await nursery.start(receiver.run)
    pusher = Pusher()
    each = push(*[gauge("g", 1.0, topic=str(number)) for number in range(40)])
    receiver.offer(Push(each.info, each.received_at, each.payload, pusher=pusher))
    await trio.sleep(120)
    assert receiver.accumulator.tally.series == 40
    pusher.gone = True
    await trio.sleep(59)
    assert receiver.accumulator.tally.series == 0


async def test_losses_of_a_push_like_the_last_one(nursery: trio.Nursery) -> None:
    """A point that is left out counts for its client, also where the push is added up at once."""
    receiver = Prometheus("prometheus")
    await nursery.start(receiver.run)
    losses = Losses()
    for value in (1.0, 2.0, 3.0, 4.0, -1.0):
        made = push(total("c", value))
        made.losses = losses
        receiver.offer(made)
        await receiver.flush()
    assert (receiver.accumulator.tally.invalid, losses.points) == (1, 1)
