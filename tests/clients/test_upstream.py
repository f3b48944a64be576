"""kproxy's own client and the watcher against a real Kafka, with a broker that hangs, dies and returns."""

from __future__ import annotations

import pytest
import trio

from kproxy.topology.snapshot import Change, Snapshot
from kproxy.topology.watcher import Watcher
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.handshake import HELLO
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.describe_cluster_request import DescribeClusterRequest
from kproxy.wire.generated.describe_cluster_response import DescribeClusterResponse
from kproxy.wire.generated.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kproxy.wire.generated.describe_configs_response import DescribeConfigsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kproxy.wire.generated.metadata_response import MetadataResponse
from tests.support.backend import Backend
from tests.unit.upstream.scripted_broker import eventually

BROKER = 4  # a resource type


def bootstrap(backend: Backend) -> list[tuple[str, int]]:
    """Return the brokers' own addresses."""
    return [(host, int(port)) for host, port in (each.split(":") for each in backend.cluster.bootstrap.split(","))]


@pytest.fixture(params=["kafka", "newest_kafka"])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each of the two Kafka versions."""
    found: Backend = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def client(nursery: trio.Nursery, backend: Backend) -> UpstreamClient:
    """A client of the cluster."""
    client = UpstreamClient(bootstrap(backend), connect_timeout=5, request_timeout=10)
    await nursery.start(client.run)
    return client


async def test_metadata_and_describe_cluster_agree(client: UpstreamClient, backend: Backend) -> None:
    """Two APIs agree about the cluster: its id, and its nodes at their own ports."""
    metadata = await client.metadata()
    described = await client.request(DescribeClusterRequest(), DescribeClusterResponse)
    expected = {node_id: broker.port for node_id, broker in backend.cluster.brokers.items()}
    assert {broker.node_id: broker.port for broker in metadata.brokers} == expected
    assert {broker.broker_id: broker.port for broker in described.brokers} == expected
    assert metadata.cluster_id == described.cluster_id == backend.cluster.cluster_id


async def test_requests_reach_the_node_they_name(client: UpstreamClient, backend: Backend) -> None:
    """Only a broker itself describes its own configuration: each answers under its id and refuses the others'."""
    metadata = await client.metadata()
    client.set_nodes({broker.node_id: (broker.host, broker.port) for broker in metadata.brokers})
    assert set(client.nodes) == set(backend.cluster.brokers)
    for node in client.nodes:
        for subject in client.nodes:
            resource = DescribeConfigsResource(BROKER, str(subject), ["broker.id"])
            request = DescribeConfigsRequest([resource])
            answer = await client.request(request, DescribeConfigsResponse, node=node)
            assert (answer.results[0].error_code == ErrorCode.NONE) is (node == subject)


async def test_hundreds_in_flight_on_one_connection(client: UpstreamClient, backend: Backend) -> None:
    """Pipelined requests with different answers: each gets its own."""
    known = await trio.to_thread.run_sync(lambda: backend.topic(partitions=3))
    answers: dict[int, MetadataResponse] = {}

    async def ask(number: int) -> None:
        topic = MetadataRequestTopic(name=known if number % 2 else f"no-such-topic-{number}")
        request = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)
        answers[number] = await client.request(request, MetadataResponse)

    await client.metadata()
    async with trio.open_nursery() as nursery:
        for number in range(400):
            nursery.start_soon(ask, number)
    for number, answer in answers.items():
        (topic,) = answer.topics
        assert (topic.name, topic.error_code) == ((known, 0) if number % 2 else (f"no-such-topic-{number}", 3))


async def test_a_cancelled_request_harms_no_other(client: UpstreamClient) -> None:
    """Requests cancelled on their way leave the connection in order."""
    await client.metadata()
    for _ in range(20):
        with trio.move_on_after(0.0005):
            await client.metadata()
        assert (await client.request(HELLO, ApiVersionsResponse)).error_code == 0


async def test_the_watcher_sees_a_broker_hang_die_and_return(kafka: Backend, nursery: trio.Nursery) -> None:
    """A paused broker becomes unreachable while the cluster stays so; a killed one is removed; back, it is added."""
    client = UpstreamClient(bootstrap(kafka), connect_timeout=2, request_timeout=2)
    await nursery.start(client.run)
    changes: list[Change] = []
    flips: list[tuple[int, bool]] = []

    def on_change(_snapshot: Snapshot, change: Change) -> None:
        changes.append(change)

    watcher = Watcher(
        client,
        interval=0.5,
        floor=0.2,
        poll_timeout=6,
        probe_timeout=1,
        on_change=on_change,
        on_reachability=lambda node_id, ok, _error: flips.append((node_id, ok)),
    )
    await nursery.start(watcher.run)
    victim = max(kafka.cluster.brokers)
    broker = kafka.cluster.brokers[victim]
    try:
        await eventually(lambda: len(flips) == 3, "three nodes reachable", 60)
        assert flips == [(node_id, True) for node_id, _ in flips]
        broker.pause()
        await eventually(lambda: (victim, False) in flips, "the paused broker is unreachable", 60)
        assert watcher.reachable is True
        broker.resume()
        await eventually(lambda: flips[-1] == (victim, True), "the broker runs on", 60)
        broker.kill()
        await eventually(
            lambda: victim in {node.id for change in changes for node in change.removed},
            "the killed broker is removed",
            60,
        )
        assert watcher.reachable is True
    finally:
        broker.kill()
        kafka.cluster.start(victim)  # in the main thread: the process is tied to it
        await trio.to_thread.run_sync(kafka.cluster.wait_ready, victim)
    await eventually(
        lambda: watcher.snapshot is not None and victim in watcher.snapshot.nodes, "the broker is back", 60
    )
    await eventually(lambda: flips[-1] == (victim, True), "the broker is reachable again", 60)
    assert watcher.snapshot is not None
    assert watcher.snapshot.cluster_id == kafka.cluster.cluster_id
