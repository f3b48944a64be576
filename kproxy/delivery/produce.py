# This module is pure.
"""Produce to one topic, outside of any transaction: the request, and what the answer says of each partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID

from kproxy.wire.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kproxy.wire.generated.produce_response import ProduceResponse

ACKS_ALL: Final = -1


class Said(NamedTuple):
    """A partition's error code, and what the broker says of it, which older ones do not."""

    code: int
    message: str


def produce(topic: str, topic_id: UUID, batches: Mapping[int, bytes], timeout_ms: int) -> ProduceRequest:
    """A record batch for each partition; its replicas have `timeout_ms` to take it.

    With name and id both: versions up to 12 carry the one, later ones the other.
    """
    partitions = [PartitionProduceData(index=index, records=batch) for index, batch in batches.items()]
    data = TopicProduceData(name=topic, topic_id=topic_id, partition_data=partitions)
    return ProduceRequest(acks=ACKS_ALL, timeout_ms=timeout_ms, topic_data=[data])


def said(answer: ProduceResponse) -> dict[int, Said]:
    """By partition; all are of the one topic that was asked for."""
    return {
        each.index: Said(each.error_code, each.error_message or "")
        for topic in answer.responses
        for each in topic.partition_responses
    }
