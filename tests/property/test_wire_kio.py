"""The codecs checked against kio, an independent implementation, in all versions that it knows."""

from __future__ import annotations

import io
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.index import load_entity_schema
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from codegen.names import snake
from codegen.schema import Message
from tests.property.wire_messages import CASES, case_id, class_of, instances

Kind = Literal[EntityType.request, EntityType.response, EntityType.data]
_TYPES: dict[str, Kind] = {
    "request": EntityType.request,
    "response": EntityType.response,
    "data": EntityType.data,
}


def _kio_name(message: Message) -> str:
    return snake(message.name.removesuffix("Request").removesuffix("Response"))


KNOWN = [
    (message, version)
    for message, version in CASES
    if _TYPES[message.kind] in schema_name_map.get(_kio_name(message), {}).get(version, {})
]


def test_kio_knows_nearly_all() -> None:
    """The comparison does not shrink unnoticed; what kio lacks is checked with kafka-clients itself.

    Nor does it know the versions that Kafka 4 has removed.
    """
    newest = {(message.name, version) for message, version in CASES if version >= message.newest_from}
    left_out = newest - {(message.name, version) for message, version in KNOWN}
    assert left_out == {
        ("ApiVersionsRequest", 5),
        ("ApiVersionsResponse", 5),
        ("DeleteGroupsRequest", 3),
        ("DeleteGroupsResponse", 3),
        ("StreamsGroupHeartbeatResponse", 1),
        ("TxnOffsetCommitRequest", 6),
        ("TxnOffsetCommitResponse", 6),
    }


@pytest.mark.parametrize(("message", "version"), KNOWN, ids=case_id)
@given(data=st.data())
@settings(max_examples=10)
def test_kio_reads_and_writes_the_same_bytes(message: Message, version: int, data: st.DataObject) -> None:
    """kio understands what a codec writes, and writes the same bytes."""
    encoded = data.draw(instances(message, version, tame=True)).encode(version)
    kind = load_entity_schema(_kio_name(message), version, _TYPES[message.kind])
    entity, size = entity_reader(kind)(encoded, 0)
    out = io.BytesIO()
    entity_writer(kind)(out, entity)
    assert (size, out.getvalue()) == (len(encoded), encoded)
    assert class_of(message).decode(out.getvalue(), version).encode(version) == encoded
