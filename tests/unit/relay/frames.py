"""Frames as clients and brokers write them, from Kafka's schemas, and a client's reading of them.

The encoder (`tests.property.wire_contents`) takes any error code and any tagged field, which kio does not, and is
checked against kafka-clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from kio.index import load_entity_schema
from kio.schema.index import schema_name_map
from kio.serial import entity_reader
from kio.static.constants import EntityType

from codegen.schema import Field, Struct
from kproxy.wire.apis import APIS, response_header_version
from kproxy.wire.header import RequestHeader, decode_response_header, encode_request_header
from kproxy.wire.primitives import INT32, Tags, frame, uvarint
from tests.property.wire_contents import RESPONSES, TAGS, Content, encode_message
from tests.property.wire_messages import SCHEMAS
from tests.unit.relay.reading import read

REQUESTS = {message.api_key: message for message in SCHEMAS.of_kind("request") if message.api_key is not None}
HEARTBEAT = 12
Endpoint = tuple[int, str, int]
"""node id, host, port"""
BROKERS: tuple[Endpoint, ...] = (
    (7, "broker-7.internal", 9092),
    (1001, "10.0.0.1", 9093),
    (2147483646, "b", 65535),
)


def versions(key: int, low: int = 0) -> range:
    """The versions of an API from `low` on."""
    return range(max(low, APIS[key].min_version), APIS[key].max_version + 1)


def request(
    key: int, version: int, correlation_id: int, content: Content | None = None, client_id: str | None = "c1"
) -> bytes:
    """A request; only the fields that matter are given."""
    message = REQUESTS[key]
    body = encode_message(message, version, _completed(message.struct, version, content or {}))
    return frame(encode_request_header(RequestHeader(key, version, correlation_id, client_id)), body)


def raw_request(key: int, version: int, correlation_id: int, rest: bytes = b"") -> bytes:
    """A frame of which only the first eight bytes are known to be valid."""
    return frame(
        key.to_bytes(2, "big", signed=True), version.to_bytes(2, "big", signed=True), INT32.pack(correlation_id), rest
    )


def response(key: int, version: int, correlation_id: int, content: Content | None = None, tags: Tags = ()) -> bytes:
    """A response; only the fields that matter are given; `tags` are in its header."""
    message = RESPONSES[key]
    body = encode_message(message, version, _completed(message.struct, version, content or {}))
    return raw_response(key, version, correlation_id, body, tags)


def raw_response(key: int, version: int, correlation_id: int, body: bytes, tags: Tags = ()) -> bytes:
    """A response with the header of its version, and any body."""
    section = uvarint(len(tags)) + b"".join(uvarint(tag) + uvarint(len(data)) + data for tag, data in tags)
    return frame(INT32.pack(correlation_id), section if response_header_version(key, version) else b"", body)


def heartbeat(correlation_id: int, version: int = 3) -> tuple[bytes, bytes]:
    """A request that the relay passes after reading its head, and its response."""
    return request(HEARTBEAT, version, correlation_id), response(HEARTBEAT, version, correlation_id)


def produce(
    version: int,
    correlation_id: int,
    acks: int = -1,
    records: bytes = b"r" * 90,
    *,
    transactional_id: str | None = None,
    client_id: str | None = "c1",
) -> bytes:
    """A Produce request to one partition."""
    partition = {"Index": 3, "Records": records}
    topic = {"Name": "orders", "TopicId": bytes(range(16)), "PartitionData": [partition]}
    content = {"TransactionalId": transactional_id, "Acks": acks, "TopicData": [topic]}
    return request(0, version, correlation_id, content, client_id)


def produced(version: int, correlation_id: int, codes: Iterable[int] = (0,), nodes: Iterable[Endpoint] = ()) -> bytes:
    """A Produce response, an error code for each partition."""
    partitions = [{"Index": index, "ErrorCode": code} for index, code in enumerate(codes)]
    topics = [{"Name": "orders", "TopicId": bytes(range(16)), "PartitionResponses": partitions}]
    return response(0, version, correlation_id, {"Responses": topics, "NodeEndpoints": endpoints(nodes)})


def fetched(
    version: int,
    correlation_id: int,
    partitions: Iterable[tuple[int, bytes | None]],
    nodes: Iterable[Endpoint] = (),
    **content: Any,
) -> bytes:
    """A Fetch response: (error code, records) for each partition, one partition a topic."""
    topics = [
        {
            "Topic": "orders",
            "TopicId": bytes(range(16)),
            "Partitions": [{"PartitionIndex": index, "ErrorCode": code, "Records": records}],
        }
        for index, (code, records) in enumerate(partitions)
    ]
    return response(1, version, correlation_id, {"Responses": topics, "NodeEndpoints": endpoints(nodes), **content})


def share_fetched(
    version: int, correlation_id: int, partitions: Iterable[tuple[int, bytes | None]], nodes: Iterable[Endpoint] = ()
) -> bytes:
    """A ShareFetch response: (error code, records) for each partition of one topic."""
    found = [
        {
            "PartitionIndex": index,
            "ErrorCode": code,
            "Records": records,
            "AcquiredRecords": [{"FirstOffset": 0, "LastOffset": 9, "DeliveryCount": 1}],
        }
        for index, (code, records) in enumerate(partitions)
    ]
    topics = [{"TopicId": bytes(range(16)), "Partitions": found}]
    return response(78, version, correlation_id, {"Responses": topics, "NodeEndpoints": endpoints(nodes)})


def endpoints(nodes: Iterable[Endpoint], id_field: str = "NodeId") -> list[Content]:
    """Nodes as a message lists them."""
    return [{id_field: node_id, "Host": host, "Port": port, "Rack": None} for node_id, host, port in nodes]


def split(data: bytes) -> list[bytes]:
    """The frames, without their sizes; an incomplete frame is an error."""
    found, pos = [], 0
    while pos < len(data):
        (size,) = INT32.unpack_from(data, pos)
        assert pos + 4 + size <= len(data), "a frame is not complete"
        found.append(data[pos + 4 : pos + 4 + size])
        pos += 4 + size
    return found


def understood(key: int, version: int, whole: bytes) -> Content:
    """A response frame without its size as a client understands it; all of it is read.

    kio, an independent implementation, must understand the same frame if it has no unknown tagged fields. It lacks the
    newest version of some APIs, which is read by the schema alone.
    """
    _, body = decode_response_header(whole, 0, len(whole), key, version)
    content = read(key, version, whole[body:])
    if TAGS not in repr(content) and version in schema_name_map[_kio_name(key)]:
        kind = load_entity_schema(_kio_name(key), version, EntityType.response)
        _, size = entity_reader(kind)(whole[body:], 0)
        assert size == len(whole) - body
    return content


def named(nodes: Sequence[Content], id_field: str = "NodeId") -> list[Endpoint]:
    """(id, host, port) of nodes that were read."""
    return [(node[id_field], node["Host"], node["Port"]) for node in nodes]


@cache
def _kio_name(key: int) -> str:
    name = APIS[key].name
    return "".join("_" + char.lower() if char.isupper() else char for char in name).lstrip("_")


def _completed(struct: Struct, version: int, given: Content) -> Content:
    known = {field.name for field in struct.fields}
    assert known.issuperset(given.keys() - {TAGS}), f"{struct.name} has no {given.keys() - known}"
    plain = {field.name: _value(field, version, given) for field in struct.plain(version)}
    tagged = {field.name: _value(field, version, given) for field in struct.tagged(version) if field.name in given}
    return {**plain, **tagged, **({TAGS: given[TAGS]} if TAGS in given else {})}


def _value(field: Field, version: int, given: Content) -> Any:
    if field.name not in given:
        return _blank(field, version)
    value = given[field.name]
    if field.struct is None or value is None:
        return value
    if field.is_array:
        return [_completed(field.struct, version, item) for item in value]
    return _completed(field.struct, version, value)


def _blank(field: Field, version: int) -> Any:
    if field.is_array:
        return []
    if field.default == "null" and version in field.nullable:
        return None
    if field.struct:
        return _completed(field.struct, version, {})
    blanks = {"string": "", "bytes": b"", "records": b"", "uuid": bytes(16), "float64": 0.0}
    if field.element in blanks:
        return blanks[field.element]
    return field.default == "true" if field.element == "bool" else int(field.default or "0", 0)
