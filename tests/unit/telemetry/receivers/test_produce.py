"""kproxy.telemetry.receivers.produce beside kio's codecs, and round trips of its own."""

from __future__ import annotations

from io import BytesIO

import pytest
from kio.serial import entity_reader, entity_writer

from kproxy.errors import MalformedMessageError
from kproxy.telemetry.receivers.produce import ProduceRequest, ProduceResponse
from kproxy.wire.records import Record, encode_batch

VERSIONS = range(ProduceRequest.min_version, ProduceRequest.max_version + 1)
REQUEST = ProduceRequest("t", {0: encode_batch([Record(b"k", b"v", 1)]), 5: encode_batch([Record(None, b"", 2)])})


@pytest.mark.parametrize("version", VERSIONS)
def test_requests(version: int) -> None:
    """An independent decoder reads what was written."""
    schema = __import__(f"kio.schema.produce.v{version}.request", fromlist=["ProduceRequest"])
    decoded, size = entity_reader(schema.ProduceRequest)(REQUEST.encode(version), 0)
    assert size == len(REQUEST.encode(version))
    [topic] = decoded.topic_data
    assert (decoded.transactional_id, decoded.acks, topic.name) == (None, -1, "t")
    assert {each.index: bytes(each.records) for each in topic.partition_data} == REQUEST.batches
    assert ProduceRequest.decode(REQUEST.encode(version), version) == REQUEST


@pytest.mark.parametrize("version", VERSIONS)
def test_responses(version: int) -> None:
    """What an independent encoder writes is read: the partitions' error codes, and words where there are some."""
    response = ProduceResponse("t", {0: 0, 5: 10}, {0: "", 5: "too large"} if version >= 8 else {})
    assert ProduceResponse.decode(response.encode(version), version) == response
    schema = __import__(f"kio.schema.produce.v{version}.response", fromlist=["ProduceResponse"])
    decoded, _ = entity_reader(schema.ProduceResponse)(response.encode(version), 0)
    [topic] = decoded.responses
    assert {each.index: each.error_code.value for each in topic.partition_responses} == response.errors
    out = BytesIO()
    entity_writer(schema.ProduceResponse)(out, decoded)
    assert ProduceResponse.decode(out.getvalue(), version).errors == response.errors


def test_one_topic() -> None:
    """A request to more topics than one is none of ours."""
    body = REQUEST.encode(8).replace(b"\x00\x00\x00\x01\x00\x01t", b"\x00\x00\x00\x02\x00\x01t")
    with pytest.raises(MalformedMessageError, match="more topics"):
        ProduceRequest.decode(body, 8)
