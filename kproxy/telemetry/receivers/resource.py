# This module is pure (no I/O, no clock).
"""Add a client's labels to its OTLP resource, as attributes, without decoding its metrics.

The `otlp` receiver calls `Labelling.labelled` for each push that it is offered.

Protobuf merges a submessage that occurs twice in a message, so a second Resource behind the first one adds attributes.
Payloads one after the other are one payload with the resources of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from kproxy.errors import MalformedMessageError
from kproxy.telemetry.receivers.labels import CLIENT_LABELS, known
from kproxy.wire.primitives import read_uvarint, uvarint

if TYPE_CHECKING:
    from kproxy.telemetry.layout import PayloadTemplate
    from kproxy.telemetry.payload import Push
    from kproxy.telemetry.subscription import ClientInfo

_RESOURCE_METRICS: Final = 0x0A  # field 1 of MetricsData, length-delimited
_RESOURCE: Final = 0x0A  # field 1 of ResourceMetrics
_SCOPE_METRICS: Final = 0x12  # field 2
_SHARED: Final = 512  # structs, one for each kind of client
MAX_SPANS: Final = 512
"""The most ResourceMetrics of a payload that is cut: the size of its `Cut` grows with them."""


class Cut(NamedTuple):
    """The fields of one ResourceMetrics, with their tags: the resource, and where each ScopeMetrics is in the payload.

    `size` is the size of all fields together, in bytes.
    """

    resource: bytes
    scope_metrics: Struct
    size: int


class _Span(NamedTuple):
    """Positions in one ResourceMetrics with a resource and one ScopeMetrics: of their three tags, and of the end."""

    start: int
    resource: int
    scope: int
    end: int


def cut(payload: bytes) -> Cut | None:
    """Return where to cut a payload whose resources are all the same; None for any other payload."""
    spans = _spans(payload)
    if not spans:
        return None
    first, *others = (payload[span.resource : span.scope] for span in spans)
    if any(other != first for other in others):
        return None
    scopes = _struct("".join([f"{span.scope - span.start}x{span.end - span.scope}s" for span in spans]))
    return Cut(first, scopes, len(first) + sum(span.end - span.scope for span in spans))


# Instances with the same metrics and names of the same length share a struct.
_struct: Final = lru_cache(_SHARED)(Struct)


def _spans(payload: bytes) -> Sequence[_Span]:
    """Return all spans; none for a payload that is not to be cut."""
    spans: list[_Span] = []
    position = 0
    try:
        while position < len(payload):
            span = _span(payload, position)
            if span is None or len(spans) == MAX_SPANS:
                return ()
            spans.append(span)
            position = span.end
    except (IndexError, MalformedMessageError):
        return ()
    return spans


def _span(payload: bytes, start: int) -> _Span | None:
    size, resource = read_uvarint(payload, start + 1)
    resource_size, content = read_uvarint(payload, resource + 1)
    scope = content + resource_size
    scope_size, scope_content = read_uvarint(payload, scope + 1)
    end = scope_content + scope_size
    tags = (payload[start], payload[resource], payload[scope])
    fits = end == resource + size <= len(payload)
    return (
        _Span(start, resource, scope, end) if fits and tags == (_RESOURCE_METRICS, _RESOURCE, _SCOPE_METRICS) else None
    )


MAX_RESOURCES: Final = 4096
"""The most resources in one push. Java puts each metric into a resource of its own, librdkafka all into one. Labels are
added to each, and an empty resource is two bytes: as many as a push may hold would be 200 MB."""

MAX_SEARCHED: Final = 8192
"""The most attributes that are searched for the labels' names: 4 ms. No client of Kafka's writes any of these names."""

# Each of our names as it begins a KeyValue: field 1, length-delimited.
_KEYS: Final = tuple(bytes([0x0A, len(name)]) + name.encode() for name in CLIENT_LABELS)
_PREFIX: Final = b"client_"  # of all our names


def addition(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Return the bytes that add these attributes at the end of a ResourceMetrics."""
    from opentelemetry.proto.metrics.v1.metrics_pb2 import ResourceMetrics  # noqa: PLC0415 - as in `payload`

    resource_metrics = ResourceMetrics()
    for key, value in pairs:
        # A client's text may hold half of a surrogate pair, which UTF-8 cannot.
        text = value.encode("utf-8", "replace").decode("utf-8")
        resource_metrics.resource.attributes.add(key=key).value.string_value = text
    encoded: bytes = resource_metrics.SerializeToString()
    return encoded


class Joined(NamedTuple):
    """How to join metrics of the same resource into one, with attributes, in all payloads with the same template.

    Java repeats the resource for each metric. With attributes added to each, that would be three times what it pushed.
    """

    head: bytes
    scope_metrics: Struct
    added: bytes

    def of(self, payload: bytes) -> bytes:
        """Return the payload as MetricsData of one resource."""
        return b"".join((self.head, *self.scope_metrics.unpack(payload), self.added))


def joined(payload: bytes, added: bytes) -> Joined | None:
    """Return how to join payloads with this one's template; None where only `with_attributes` can do it."""
    if _names_ours(payload) or (found := cut(payload)) is None:
        return None
    return Joined(_head(found.size + len(added)) + found.resource, found.scope_metrics, added)


def with_attributes(payload: bytes, added: bytes) -> bytes:
    """Return MetricsData with the bytes of `addition` in each resource. Raise ValueError for other bytes.

    A client's own attributes with the labels' names are removed: no client can pass for another, and no attribute
    occurs twice.
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
    """Return where the content of the ResourceMetrics at `position` begins and ends."""
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
    if sum([len(each.resource.attributes) for each in data.resource_metrics]) > MAX_SEARCHED:
        raise ValueError(f"more than {MAX_SEARCHED} attributes of resources, with names of kproxy's own among them")
    for resource_metrics in data.resource_metrics:
        attributes = resource_metrics.resource.attributes
        ours = sum([each.key in CLIENT_LABELS for each in attributes])
        if ours:  # not one by one: each deletion would move all attributes that are behind it
            attributes.sort(key=lambda each: each.key in CLIENT_LABELS)
            del attributes[len(attributes) - ours :]
    encoded: bytes = data.SerializeToString()
    return encoded


_REMEMBERED: Final = 16_384
"""As many as there may be instances."""


class Labelling:
    """Adds clients' labels to their payloads; `constant` attributes go with them."""

    def __init__(self, constant: Mapping[str, str]) -> None:
        constants = tuple(constant.items())
        self._addition = lru_cache(_REMEMBERED)(lambda info: addition([*known(info), *constants]))
        self._found = lru_cache(_REMEMBERED)(_found)

    def labelled(self, push: Push) -> bytes:
        """Return the payload with the client's labels in each resource; ValueError if it is not MetricsData."""
        how = None if push.template is None else self._how(push, push.template)
        return with_attributes(push.payload, self._addition(push.info)) if how is None else how.of(push.payload)

    def _how(self, push: Push, template: PayloadTemplate) -> Joined | None:
        found = self._found(push.info, template)
        if not found:
            found.append(joined(push.payload, self._addition(push.info)))
        return found[0]


def _found(info: ClientInfo, template: PayloadTemplate) -> list[Joined | None]:
    """Return an empty list, to be cached: it takes the `Joined` of this client and template, or None."""
    del info, template
    return []
