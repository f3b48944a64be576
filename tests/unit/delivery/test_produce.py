"""kproxy.delivery.batches: the Produce request in every version, and its answers."""

from __future__ import annotations

from uuid import UUID

from kio.serial import entity_reader

from kproxy.delivery.batches import Said, produce, said
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.produce_request import ProduceRequest
from kproxy.wire.generated.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kproxy.wire.records import Record, encode_batch
from tests.support.every import every

TOPIC_ID = UUID(int=7)
BATCHES = {0: encode_batch([Record(b"k", b"v", 1)]), 5: encode_batch([Record(None, b"", 2)])}
VERSIONS = range(APIS[ApiKey.PRODUCE].newest_from, ProduceRequest.max_version + 1)
"""kproxy itself writes in no version below."""


@every("version", [version for version in VERSIONS if version <= 12])
def test_by_name(version: int) -> None:
    """An independent decoder reads every field; acks=all, no transaction."""
    schema = __import__(f"kio.schema.produce.v{version}.request", fromlist=["ProduceRequest"])
    encoded = produce("t", TOPIC_ID, BATCHES, 20_000).encode(version)
    decoded, size = entity_reader(schema.ProduceRequest)(encoded, 0)
    assert size == len(encoded)
    [topic] = decoded.topic_data
    assert (decoded.transactional_id, decoded.acks, decoded.timeout.total_seconds(), topic.name) == (None, -1, 20, "t")
    assert {each.index: bytes(each.records) for each in topic.partition_data} == BATCHES


def test_by_id() -> None:
    """From v13 on (KIP-516) the request has the topic's id instead of its name."""
    [topic] = ProduceRequest.decode(produce("t", TOPIC_ID, BATCHES, 1).encode(13), 13).topic_data
    assert (topic.name, topic.topic_id) == ("", TOPIC_ID)


def test_answers() -> None:
    """Each partition has its code, and a message if the broker sent one."""
    partitions = [
        PartitionProduceResponse(index=0, error_code=0),
        PartitionProduceResponse(index=5, error_code=10, error_message="too large"),
    ]
    answer = ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=partitions)])
    assert said(answer) == {0: Said(0, ""), 5: Said(10, "too large")}
