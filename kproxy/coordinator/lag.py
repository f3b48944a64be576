"""How far a group's committed offsets are behind the ends of their partitions, as the brokers say.

kproxy's own client asks, once for each `kproxy groups lag`, with the identity that it has at the upstream cluster, if
any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeAlias

import trio

from kproxy.errors import UpstreamError
from kproxy.upstream.coordinator import at_coordinator
from kproxy.upstream.responses import check
from kproxy.wire.error_codes import error_name
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kproxy.wire.generated.list_offsets_response import ListOffsetsResponse
from kproxy.wire.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.generated.offset_fetch_request import OffsetFetchRequest
from kproxy.wire.generated.offset_fetch_response import OffsetFetchResponse

if TYPE_CHECKING:
    from kproxy.upstream.client import UpstreamClient

Partition: TypeAlias = tuple[str, int]

_TIMEOUT_MS: Final = 10_000
"""How long a broker may look for the ends, which may be in remote storage."""
_LATEST: Final = -1
"""The timestamp that asks for a partition's end."""
_NO_LEADER: Final = -1
_NO_OFFSET: Final = -1
_PATIENCE: Final = 5.0
"""Seconds for which errors are obeyed that may pass, e.g. while the coordinator moves."""
_NO_ANSWER: Final = "the broker says nothing of it"


class PartitionLag(NamedTuple):
    """A partition's offsets. None: nothing is committed, or the end is unknown because of the `error`."""

    topic: str
    partition: int
    committed: int | None
    end: int | None
    error: str | None

    @property
    def lag(self) -> int | None:
        """How many records are not committed; None where that is unknown.

        A partition that was made anew, or that lost records, may end before what was committed: then nothing is left.
        """
        if self.committed is None or self.end is None:
            return None
        return max(0, self.end - self.committed)


class _OffsetFetch(OffsetFetchRequest):
    """Of one group with topics by name: later versions take lists of groups, then topics by id."""

    max_version: ClassVar[int] = 7


_Found: TypeAlias = dict[Partition, int | str | None]
"""An offset of each partition, or the name of an error; None where there is no offset."""


async def lag(client: UpstreamClient, group_id: str, assigned: Iterable[Partition]) -> Sequence[PartitionLag]:
    """Return the offsets of all partitions that have a committed one or are assigned, in order.

    Raises `UpstreamError`.
    """
    committed = await committed_offsets(client, group_id)
    partitions = sorted({*committed, *assigned})
    ends = await _ends(client, partitions)
    return [_row(one, committed.get(one), ends.get(one, _NO_ANSWER)) for one in partitions]


def _row(partition: Partition, *found: int | str | None) -> PartitionLag:
    """Return a partition's row; `found` are its committed offset and its end."""
    committed, end = (one if isinstance(one, int) else None for one in found)
    return PartitionLag(*partition, committed, end, next((one for one in found if isinstance(one, str)), None))


async def committed_offsets(client: UpstreamClient, group_id: str) -> _Found:
    """Return what is committed of each partition of a group."""
    answer = await at_coordinator(client, group_id, seconds=_PATIENCE).ask(partial(_committed, client, group_id))
    return {
        (topic.name, one.partition_index): _offset(one.committed_offset, one.error_code)
        for topic in answer.topics
        for one in topic.partitions
    }


async def _committed(client: UpstreamClient, group_id: str, node: int) -> OffsetFetchResponse:
    answer = await client.request(_OffsetFetch(group_id=group_id, topics=None), OffsetFetchResponse, node=node)
    check("OffsetFetch", answer.error_code, asked=f"group {group_id}")
    return answer


def _offset(offset: int, error_code: int) -> int | str | None:
    if error_code:
        return error_name(error_code)
    return None if offset == _NO_OFFSET else offset


async def _ends(client: UpstreamClient, partitions: Collection[Partition]) -> _Found:
    """Return the end of each partition; each leader is asked at the same time."""
    if not partitions:
        return {}
    ends: _Found = {}
    by_leader = await _leaders(client, partitions, ends)
    async with trio.open_nursery() as nursery:
        for leader, led in by_leader.items():
            nursery.start_soon(_ends_at, client, leader, led, ends)
    return ends


async def _leaders(
    client: UpstreamClient, partitions: Collection[Partition], ends: _Found
) -> Mapping[int, Sequence[Partition]]:
    """Return the partitions by leader; put errors of those without into `ends`."""
    topics = [MetadataRequestTopic(name=name) for name in dict.fromkeys(name for name, _ in partitions)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    answer = await client.request(request, MetadataResponse)
    client.set_nodes({broker.node_id: (broker.host, broker.port) for broker in answer.brokers})
    errors = {topic.name: topic.error_code for topic in answer.topics if topic.error_code}
    known = {
        (topic.name, one.partition_index): one.leader_id
        for topic in answer.topics
        for one in topic.partitions
        if topic.name is not None
    }
    led: dict[int, list[Partition]] = {}
    for partition in partitions:
        leader = known.get(partition)
        if leader is None:
            ends[partition] = error_name(errors.get(partition[0], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        elif leader == _NO_LEADER:
            ends[partition] = ErrorCode.LEADER_NOT_AVAILABLE.name
        else:
            led.setdefault(leader, []).append(partition)
    return led


async def _ends_at(client: UpstreamClient, leader: int, partitions: Sequence[Partition], ends: _Found) -> None:
    """Ask one leader; what it did not answer becomes its partitions' error."""
    try:
        answer = await client.request(_question(partitions), ListOffsetsResponse, node=leader)
    except UpstreamError as error:
        ends.update(dict.fromkeys(partitions, str(error)))
        return
    for topic in answer.topics:
        for one in topic.partitions:
            ends[topic.name, one.partition_index] = _offset(one.offset, one.error_code)


def _question(partitions: Sequence[Partition]) -> ListOffsetsRequest:
    numbers: dict[str, list[int]] = {}
    for name, number in partitions:
        numbers.setdefault(name, []).append(number)
    return ListOffsetsRequest(
        replica_id=-1,
        topics=[
            ListOffsetsTopic(name, [ListOffsetsPartition(number, timestamp=_LATEST) for number in some])
            for name, some in numbers.items()
        ],
        timeout_ms=_TIMEOUT_MS,
    )
