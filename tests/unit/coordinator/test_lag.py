"""kproxy.coordinator.lag: what brokers may answer, which a healthy Kafka does not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
import trio

from kproxy.coordinator.lag import Partition, PartitionLag, lag
from kproxy.errors import UpstreamError
from kproxy.upstream.client import UpstreamClient
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.find_coordinator_response import FindCoordinatorResponse
from kproxy.wire.generated.list_offsets_request import ListOffsetsRequest
from kproxy.wire.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kproxy.wire.generated.metadata_response import MetadataResponsePartition, MetadataResponseTopic
from kproxy.wire.generated.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kproxy.wire.header import decode_request_header, encode_response_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame
from tests.unit.upstream.scripted_broker import ScriptedBroker

SERVED = (ApiKey.FIND_COORDINATOR, ApiKey.OFFSET_FETCH, ApiKey.LIST_OFFSETS, ApiKey.METADATA, ApiKey.API_VERSIONS)


class Offsets(ScriptedBroker):
    """Coordinates every group, and leads the partitions that `lead` says; it has what its fields say."""

    def __init__(self) -> None:
        super().__init__()
        self.coordinator_error = self.group_error = ErrorCode.NONE
        self.committed: dict[Partition, int] = {}
        """Offsets; below -1 an error code, negative."""
        self.ends: dict[Partition, int] = {}
        self.asked: list[Partition] = []
        """The partitions whose ends were asked for."""
        self.silent = False
        """Whether it closes the connection when it is asked for ends."""

    def lead(self, leaders: dict[Partition, int]) -> None:
        """Set what Metadata says of each partition."""
        topics = dict.fromkeys(topic for topic, _ in leaders)
        self.answer.topics = [
            MetadataResponseTopic(
                name=name,
                partitions=[
                    MetadataResponsePartition(partition_index=number, leader_id=leader)
                    for (topic, number), leader in leaders.items()
                    if topic == name
                ],
            )
            for name in topics
        ]

    def _hello(self, version: int) -> bytes:
        return ApiVersionsResponse(api_keys=[ApiVersion(key, 0, 99) for key in SERVED]).encode(version)

    async def _handle(self, stream: trio.SocketStream, request: bytes) -> None:
        header, body = decode_request_header(request, 0, len(request))
        made: dict[int, Callable[[], WireMessage]] = {
            ApiKey.FIND_COORDINATOR: lambda: FindCoordinatorResponse(
                error_code=self.coordinator_error, node_id=1, host="127.0.0.1", port=self.port
            ),
            ApiKey.OFFSET_FETCH: self._committed,
            ApiKey.LIST_OFFSETS: lambda: self._ends(ListOffsetsRequest.decode(request[body:], header.api_version)),
        }
        if header.api_key not in made:
            await super()._handle(stream, request)
        elif header.api_key == ApiKey.LIST_OFFSETS and self.silent:
            await stream.aclose()
        else:
            head = encode_response_header(header.correlation_id, header.api_key, header.api_version)
            await stream.send_all(frame(head, made[header.api_key]().encode(header.api_version)))

    def _committed(self) -> OffsetFetchResponse:
        topics = [
            OffsetFetchResponseTopic(
                topic,
                [OffsetFetchResponsePartition(number, max(-1, offset), error_code=-offset if offset < -1 else 0)],
            )
            for (topic, number), offset in self.committed.items()
        ]
        return OffsetFetchResponse(topics=topics, error_code=self.group_error)

    def _ends(self, request: ListOffsetsRequest) -> ListOffsetsResponse:
        asked = [(topic.name, one.partition_index) for topic in request.topics for one in topic.partitions]
        self.asked += asked
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    topic,
                    [ListOffsetsPartitionResponse(number, error_code=-end if end < 0 else 0, offset=max(-1, end))],
                )
                for topic, number in asked
                if (end := self.ends.get((topic, number))) is not None
            ]
        )


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Offsets, UpstreamClient]]:
    """A broker, node 1, and a client of it."""
    broker = Offsets()
    async with trio.open_nursery() as nursery:
        await nursery.start(broker.run)
        broker.name_nodes({1: broker.address})
        client = UpstreamClient([broker.address], connect_timeout=5, request_timeout=5)
        await nursery.start(client.run)
        yield broker, client
        nursery.cancel_scope.cancel()


async def told(broker: Offsets, client: UpstreamClient, assigned: Sequence[Partition] = ()) -> list[PartitionLag]:
    """What is known of the group, when all partitions have a leader."""
    broker.lead(dict.fromkeys({*broker.committed, *assigned}, 1))
    return list(await lag(client, "g", assigned))


async def test_what_is_committed_and_what_is_assigned() -> None:
    """In order; a partition that ends before its committed offset, as after a failover, has nothing left."""
    async with serving() as (broker, client):
        broker.committed = {("b", 0): 5, ("a", 10): 0, ("a", 2): -1}
        broker.ends = {("b", 0): 3, ("a", 10): 7, ("a", 2): 4, ("c", 0): 9}
        rows = await told(broker, client, [("c", 0), ("b", 0)])
    assert rows == [
        PartitionLag("a", 2, None, 4, None),
        PartitionLag("a", 10, 0, 7, None),
        PartitionLag("b", 0, 5, 3, None),
        PartitionLag("c", 0, None, 9, None),
    ]
    assert [row.lag for row in rows] == [None, 7, 0, None]


async def test_a_group_without_offsets() -> None:
    """No broker is asked for ends."""
    async with serving() as (broker, client):
        assert await told(broker, client) == []
        assert broker.requests(ApiKey.METADATA) == 0


@pytest.mark.parametrize(("field", "api"), [("coordinator_error", "FindCoordinator"), ("group_error", "OffsetFetch")])
async def test_a_group_that_may_not_be_read(field: str, api: str) -> None:
    """The broker's error is the reason."""
    async with serving() as (broker, client):
        setattr(broker, field, ErrorCode.GROUP_AUTHORIZATION_FAILED)
        with pytest.raises(UpstreamError, match=f"the broker answers {api} with GROUP_AUTHORIZATION_FAILED"):
            await lag(client, "g", [])


async def test_errors_of_single_partitions() -> None:
    """They stand in its row; the others are whole."""
    async with serving() as (broker, client):
        broker.committed = {
            ("gone", 0): 1,
            ("headless", 0): 1,
            ("moved", 0): 1,
            ("unstable", 0): -ErrorCode.UNSTABLE_OFFSET_COMMIT,
            ("untold", 0): 1,
            ("well", 0): 1,
        }
        broker.ends = {("moved", 0): -ErrorCode.NOT_LEADER_OR_FOLLOWER, ("well", 0): 2, ("unstable", 0): 2}
        leaders = dict.fromkeys(broker.committed, 1) | {("headless", 0): -1}
        del leaders["gone", 0]
        broker.lead(leaders)
        rows = await lag(client, "g", [])
    assert {row.topic: (row.committed, row.end, row.error) for row in rows} == {
        "gone": (1, None, "UNKNOWN_TOPIC_OR_PARTITION"),
        "headless": (1, None, "LEADER_NOT_AVAILABLE"),
        "moved": (1, None, "NOT_LEADER_OR_FOLLOWER"),
        "unstable": (None, 2, "UNSTABLE_OFFSET_COMMIT"),
        "untold": (1, None, "the broker says nothing of it"),
        "well": (1, 2, None),
    }


async def test_a_topic_that_may_not_be_seen() -> None:
    """Metadata's error of the topic is that of its partitions."""
    async with serving() as (broker, client):
        broker.committed = {("secret", 0): 1}
        broker.answer.topics = [MetadataResponseTopic(name="secret", error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)]
        (row,) = await lag(client, "g", [])
    assert (row.end, row.error) == (None, "TOPIC_AUTHORIZATION_FAILED")


async def test_a_leader_that_does_not_answer() -> None:
    """Its partitions say so; committed offsets are shown all the same."""
    async with serving() as (broker, client):
        broker.committed, broker.silent = {("t", 0): 1, ("t", 1): 2}, True
        rows = await told(broker, client)
    assert [(row.committed, row.end, row.lag) for row in rows] == [(1, None, None), (2, None, None)]
    assert all(row.error is not None and "closed the connection" in row.error for row in rows)
