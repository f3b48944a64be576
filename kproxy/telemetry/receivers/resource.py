# This module is pure.
"""A client's labels as attributes of its OTLP resource, put there without decoding its metrics.

Protobuf merges a submessage that stands twice in a message, so a second Resource behind the first one adds attributes;
and payloads one after the other are one payload with the resources of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final, NamedTuple

from kproxy.errors import MalformedMessageError
from kproxy.telemetry.receivers.labels import CLIENT_LABELS
from kproxy.telemetry.receivers.resource_spans import cut
from kproxy.wire.primitives import read_uvarint, uvarint

MAX_RESOURCES: Final = 4096
"""In one push. Java puts each metric into one of its own, librdkafka all into one. Each grows by the labels, and an
empty one is two bytes: as many as a push may hold would be 200 MB."""

_RESOURCE_METRICS: Final = 0x0A  # field 1, length-delimited
# As each of our names stands in a KeyValue: a field 1 of so many bytes.
_KEYS: Final = tuple(bytes([0x0A, len(name)]) + name.encode() for name in CLIENT_LABELS)
_PREFIX: Final = b"client_"  # of all of them


def addition(pairs: Iterable[tuple[str, str]]) -> bytes:
    """What a ResourceMetrics ends with to have the attributes."""
    from opentelemetry.proto.metrics.v1.metrics_pb2 import ResourceMetrics  # noqa: PLC0415 - as in `payload`

    resource_metrics = ResourceMetrics()
    for key, value in pairs:
        # A client's text may hold what UTF-8 cannot: half of a surrogate pair.
        text = value.encode("utf-8", "replace").decode("utf-8")
        resource_metrics.resource.attributes.add(key=key).value.string_value = text
    encoded: bytes = resource_metrics.SerializeToString()
    return encoded


class Joined(NamedTuple):
    """How to put metrics that all have the same resource into one, with attributes; also of payloads of like words.

    Java writes the resource anew for each metric, and with what is added that would be three times what it pushed.
    """

    head: bytes
    scope_metrics: Struct
    added: bytes

    def of(self, payload: bytes) -> bytes:
        """MetricsData of one resource."""
        return b"".join((self.head, *self.scope_metrics.unpack(payload), self.added))


def joined(payload: bytes, added: bytes) -> Joined | None:
    """For payloads with this one's words; None where there is more to do than to join, as `with_attributes` does."""
    if _names_ours(payload) or (found := cut(payload)) is None:
        return None
    return Joined(_head(found.size + len(added)) + found.resource, found.scope_metrics, added)


def with_attributes(payload: bytes, added: bytes) -> bytes:
    """MetricsData with `addition`'s bytes in each of its resources. ValueError for what is no such message.

    A client's own attributes of the labels' names go: nobody can pass for another, and no attribute stands twice.
    """
    if _names_ours(payload):
        payload = _without_ours(payload)
    if (together := joined(payload, added)) is not None:
        return together.of(payload)
    out: list[bytes] = []
    position = resources = 0
    while position < len(payload):
        start, position = _resource(payload, position)
        resources += 1
        if resources > MAX_RESOURCES:
            raise ValueError(f"MetricsData with more than {MAX_RESOURCES} resources")
        out += (_head(position - start + len(added)), payload[start:position], added)
    return b"".join(out)


def _names_ours(payload: bytes) -> bool:
    return _PREFIX in payload and any(key in payload for key in _KEYS)


def _head(size: int) -> bytes:
    return bytes([_RESOURCE_METRICS]) + uvarint(size)


def _resource(payload: bytes, position: int) -> tuple[int, int]:
    """Where the content of the ResourceMetrics at `position` begins and ends."""
    if payload[position] != _RESOURCE_METRICS:
        raise ValueError(f"MetricsData with a field 0x{payload[position]:02x} that it does not have")
    try:
        size, start = read_uvarint(payload, position + 1)
    except (IndexError, MalformedMessageError) as error:
        raise ValueError("MetricsData with a length that has no end") from error
    if start + size > len(payload):
        raise ValueError("MetricsData that ends within a resource")
    return start, start + size


def _without_ours(payload: bytes) -> bytes:
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - as in `payload`
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData  # noqa: PLC0415

    try:
        data = MetricsData.FromString(payload)
    except DecodeError as error:
        raise ValueError(f"not MetricsData: {error}") from error
    for resource_metrics in data.resource_metrics:
        attributes = resource_metrics.resource.attributes
        for index in reversed(range(len(attributes))):
            if attributes[index].key in CLIENT_LABELS:
                del attributes[index]
    encoded: bytes = data.SerializeToString()
    return encoded
