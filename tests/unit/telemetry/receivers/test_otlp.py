"""kproxy.telemetry.receivers.otlp against a server built on opentelemetry-proto's types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
import trio.testing
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from structlog.testing import capture_logs

from kproxy.config.url import Url
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.labels import known
from kproxy.telemetry.receivers.otlp import ContentEncoding, Otlp
from tests.unit.telemetry.clients import wide
from tests.unit.telemetry.receivers.collector import Collector, Reply, Request
from tests.unit.telemetry.receivers.pushes import client, gauge, metrics, push, total

Start = Callable[..., Awaitable[Otlp]]


@pytest.fixture
async def collector(nursery: trio.Nursery) -> Collector:
    """A collector that accepts everything unless its behaviour is changed."""
    collector = Collector()
    await nursery.start(collector.run)
    return collector


@pytest.fixture
def start(nursery: trio.Nursery, collector: Collector) -> Start:
    """Start a receiver that sends to the collector, without linger and with the shortest backoff."""

    async def start(**settings: Any) -> Otlp:
        chosen: dict[str, Any] = {"linger": 0.0, "rand": lambda: 0.0, "connections": 1} | settings
        receiver = Otlp("otlp", Url(False, "127.0.0.1", collector.port, "/v1/metrics"), **chosen)
        await nursery.start(receiver.run)
        return receiver

    return start


async def delivered(receiver: Otlp, *pushes: Push) -> None:
    """Offer pushes and wait until all are settled."""
    for each in pushes:
        assert receiver.offer(each)
    with trio.fail_after(40):
        await receiver.flush()


def ids(collector: Collector) -> list[str]:
    """The client ids of the accepted resources."""
    return [
        each.value.string_value
        for resource in collector.resources
        for each in resource.resource.attributes
        if each.key == "client_id"
    ]


def every_metric(collector: Collector) -> list[Metric]:
    """The metrics of the accepted resources."""
    return [metric for resource in collector.resources for scope in resource.scope_metrics for metric in scope.metrics]


@pytest.mark.parametrize("encoding", ContentEncoding)
async def test_metrics_arrive_as_they_were_pushed(
    collector: Collector, start: Start, encoding: ContentEncoding
) -> None:
    """With the client's labels and the constant ones in the resource, however they are compressed."""
    receiver = await start(compression=encoding, constant={"cluster": "main"}, headers={"X-Token": "t"})
    sent = push(total("t", 3, topic="x"), gauge("g", 1.5), resource={"client_rack": "r"})
    await delivered(receiver, sent)
    [request] = collector.taken
    assert (request.target, request.headers["x-token"]) == ("/v1/metrics", "t")
    assert request.headers["content-type"] == "application/x-protobuf"
    assert request.headers.get("content-encoding", "none") == encoding
    [resource] = request.message.resource_metrics
    assert resource.scope_metrics == sent.metrics.resource_metrics[0].scope_metrics
    attributes = [(each.key, each.value.string_value) for each in resource.resource.attributes]
    assert attributes == [("client_rack", "r"), *known(sent.info), ("cluster", "main")]
    assert (receiver.counters.delivered, receiver.counters.dropped) == (1, {})


async def test_many_pushes_are_few_requests(collector: Collector, start: Start) -> None:
    """Queued pushes go together, each with its own client's labels."""
    receiver = await start(linger=0.05)
    await delivered(receiver, *[push(gauge("g", 1.0), info=client(each, client_id=str(each))) for each in range(500)])
    assert sorted(ids(collector), key=int) == [str(each) for each in range(500)]
    assert len(collector.requests) <= 2


async def test_again_later(collector: Collector, start: Start) -> None:
    """Each of the four statuses is retried; nothing arrives twice or gets lost."""
    statuses = [429, 502, 503, 504]
    collector.behaviour = lambda _: Reply(statuses.pop(0)) if statuses else Reply()
    receiver = await start()
    await delivered(receiver, push(gauge("g", 1.0)))
    assert (len(collector.requests), len(collector.resources)) == (5, 1)
    counters = receiver.counters
    assert (counters.retries, counters.delivered, counters.dropped) == (4, 1, {})
    assert "answers 504" in str(counters.last_error)


async def test_retry_after(collector: Collector, start: Start) -> None:
    """The receiver waits as long as the server asks; a wait beyond the time for retries drops the pushes."""
    waits = ["1"]
    times: list[float] = []

    def behaviour(_: Request) -> Reply:
        times.append(trio.current_time())
        return Reply(503, {"Retry-After": waits.pop()}) if waits else Reply()

    collector.behaviour = behaviour
    receiver = await start(retry_for=2.0)
    await delivered(receiver, push(gauge("g", 1.0)))
    assert times[1] - times[0] >= 1
    waits.append("60")
    await delivered(receiver, push(gauge("g", 1.0)))
    assert receiver.counters.dropped == {"late": 1}


async def test_retry_after_holds_for_all(collector: Collector, start: Start) -> None:
    """Nobody sends before, on whatever connection, also where that is longer than the time for retries."""
    times: list[float] = []

    def behaviour(_: Request) -> Reply:
        times.append(trio.current_time())
        return Reply(429, {"Retry-After": "2"}) if len(times) == 1 else Reply()

    collector.behaviour = behaviour
    receiver = await start(retry_for=0.5, linger=0.0)
    await delivered(receiver, push(gauge("g", 1.0)), push(gauge("g", 2.0)))
    await delivered(receiver, push(gauge("g", 3.0)))
    assert (len(times), receiver.counters.dropped) == (1, {"late": 3})
    with trio.fail_after(40):
        while receiver.counters.delivered < 1:
            await delivered(receiver, push(gauge("g", 4.0)))
    assert times[1] - times[0] >= 2


async def test_a_collector_that_comes_back(nursery: trio.Nursery, start: Start, collector: Collector) -> None:
    """While it is away pushes wait, within the queue's bound; then all that waited arrives."""
    away = True

    def behaviour(_: Request) -> Reply:
        return Reply(503) if away else Reply()

    collector.behaviour = behaviour
    receiver = await start(max_pushes=10, rand=lambda: 0.01)
    offered = [receiver.offer(push(gauge("g", 1.0), info=client(each, client_id=str(each)))) for each in range(12)]
    assert offered == [True] * 10 + [False] * 2
    while receiver.counters.retries < 2:
        await trio.testing.wait_all_tasks_blocked(0.01)
    away = False
    with trio.fail_after(40):
        await receiver.flush()
    assert sorted(ids(collector), key=int) == [str(each) for each in range(10)]
    assert receiver.counters.dropped == {"full": 2}


async def test_what_the_server_does_not_take_costs_itself_only(collector: Collector, start: Start) -> None:
    """A request that is refused because of one push is sent in halves, until that one is alone."""

    def behaviour(request: Request) -> Reply:
        bad = any(each.resource.attributes[1].value.string_value == "7" for each in request.message.resource_metrics)
        return Reply(400, body=b"bad") if bad else Reply()

    collector.behaviour = behaviour
    receiver = await start(linger=0.05)
    await delivered(receiver, *[push(gauge("g", 1.0), info=client(each, client_id=str(each))) for each in range(20)])
    assert sorted(ids(collector), key=int) == [str(each) for each in range(20) if each != 7]
    assert (receiver.counters.dropped, receiver.counters.delivered) == ({"refused": 1}, 19)


async def test_too_large(collector: Collector, start: Start) -> None:
    """After 413 requests are smaller."""
    collector.behaviour = lambda request: Reply(413 if len(request.message.resource_metrics) > 2 else 200)
    receiver = await start(linger=0.05)
    await delivered(receiver, *[push(gauge("g", 1.0)) for _ in range(10)])
    assert len(collector.resources) == 10


@pytest.mark.parametrize("status", [301, 401, 403, 404, 500])
async def test_refused(collector: Collector, start: Start, status: int) -> None:
    """A push that no retry helps is dropped at once; the server's reason is kept."""
    collector.behaviour = lambda _: Reply(status, body=b"no such thing")
    receiver = await start()
    await delivered(receiver, push(gauge("g", 1.0)), push(gauge("g", 2.0)))
    assert receiver.counters.dropped == {"refused": 2}
    assert receiver.counters.last_error == (
        f"http://127.0.0.1:{collector.port}/v1/metrics answers {status}: no such thing"
    )


async def test_partial_success(collector: Collector, start: Start) -> None:
    """The push is delivered; the server's complaint is reported."""
    partial = ExportMetricsServiceResponse()
    partial.partial_success.rejected_data_points = 2
    partial.partial_success.error_message = "old"
    collector.behaviour = lambda _: Reply(body=partial.SerializeToString())
    receiver = await start()
    with capture_logs() as lines:
        for _ in range(2):
            await delivered(receiver, push(gauge("g", 1.0)))
    assert (receiver.counters.delivered, receiver.counters.last_error) == (2, "2 data points rejected: old")
    assert [(line["event"], line["error"]) for line in lines] == [
        ("delivered, but not all is taken", "2 data points rejected: old")
    ]


async def test_a_wide_push_arrives_whole(collector: Collector, start: Start) -> None:
    """It is labelled part by part when it is sent: labels once for each part, not for each of its 4,200 metrics."""
    receiver = await start()
    pushes = [Push(client(), 0.0, wide(700)), push(gauge("g", 1.0))]
    await delivered(receiver, *pushes)
    points = [each.gauge.data_points[0].as_double for each in every_metric(collector)]
    assert sorted(points) == sorted([1.0, *[number + 0.5 for number in range(4_200)]])
    assert set(ids(collector)) == {"app"}
    assert len(ids(collector)) == len(collector.resources) < 50
    assert (receiver.counters.delivered, receiver.counters.dropped) == (2, {})
    assert receiver.counters.delivered_bytes > len(wide(700))


async def test_a_wide_push_of_thousands_of_resources(collector: Collector, start: Start) -> None:
    """Labels would be most of what is sent: it is dropped, and costs no other push anything."""
    receiver = await start()
    resources = [metrics(resource={"host": str(each)}).SerializeToString() for each in range(20_000)]
    await delivered(receiver, Push(client(), 0.0, b"".join(resources)), push(gauge("g", 1.0)))
    assert (receiver.counters.delivered, receiver.counters.dropped) == (1, {"malformed": 1})
    assert "a push of 'app' is dropped: MetricsData of so many resources" in str(receiver.counters.last_error)
    assert len(collector.resources) == 1


async def test_malformed_pushes_cost_themselves_only(collector: Collector, start: Start) -> None:
    """They are not queued; the others reach the collector."""
    receiver = await start(linger=0.05)
    assert not receiver.offer(Push(client(), 0.0, b"\x12\x00"))
    assert "a push of 'app' is dropped" in str(receiver.counters.last_error)
    await delivered(receiver, push(gauge("g", 1.0)))
    assert not receiver.offer(Push(client(), 0.0, b"\x12\x00"))
    assert len(collector.resources) == 1
    assert receiver.counters.dropped == {"malformed": 2}
    assert (receiver.counters.offered, receiver.counters.delivered) == (3, 1)


async def test_nobody_listens(start: Start, collector: Collector) -> None:
    """Pushes are dropped once they are late, with the reason."""
    collector.port = 1
    receiver = await start(retry_for=0.01, rand=lambda: 0.1)
    await delivered(receiver, push(gauge("g", 1.0)))
    assert receiver.counters.dropped == {"late": 1}
    assert "connection refused" in str(receiver.counters.last_error)


async def test_cancelled_while_under_way(collector: Collector) -> None:
    """Pushes under way are queued again, and delivered when the receiver runs again."""
    collector.behaviour = lambda _: Reply(503)
    receiver = Otlp("otlp", Url(False, "127.0.0.1", collector.port, "/"), linger=0.0, rand=lambda: 0.9)
    for each in range(5):
        receiver.offer(push(gauge("g", 1.0), info=client(each, client_id=str(each))))
    async with trio.open_nursery() as nursery:
        await nursery.start(receiver.run)
        while not receiver.counters.retries:
            await trio.testing.wait_all_tasks_blocked(0.01)
        nursery.cancel_scope.cancel()
    assert receiver.counters.queued == 5
    collector.behaviour = lambda _: Reply()
    async with trio.open_nursery() as nursery:
        await nursery.start(receiver.run)
        with trio.fail_after(40):
            await receiver.flush()
        nursery.cancel_scope.cancel()
    assert sorted(ids(collector), key=int) == ["0", "1", "2", "3", "4"]
