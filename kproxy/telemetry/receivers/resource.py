# This module is pure (no I/O, no clock).
"""Add a client's labels to its OTLP resource, as attributes, without decoding its metrics.

The `otlp` receiver calls `Labelling.labelled` for each small push that it is offered, and `labelled_parts` for a large
one before it sends it.

Protobuf merges a submessage that occurs twice in a message, so a second Resource behind the first one adds attributes.
Payloads one after the other are one payload with the resources of all.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from struct import Struct
from sys import getsizeof
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import ref

from kproxy.errors import MalformedMessageError
from kproxy.telemetry.payload import parts
from kproxy.telemetry.receivers.labels import CLIENT_LABELS, known
from kproxy.wire.primitives import read_uvarint, uvarint

if TYPE_CHECKING:
    from kproxy.telemetry.layout import PayloadTemplate
    from kproxy.telemetry.payload import Push
    from kproxy.telemetry.subscription import ClientInfo

_RESOURCE_METRICS: Final = 0x0A  # field 1 of MetricsData, length-delimited
_RESOURCE: Final = 0x0A  # field 1 of ResourceMetrics
_SCOPE_METRICS: Final = 0x12  # field 2
_SHARED: Final = 512
"""The most structs that are kept, one for each kind of client: 30 KB each at most, 15 MB together."""
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


def cut(payload: bytes, *, again: bool = True) -> Cut | None:
    """Return where to cut a payload whose resources are all the same; None for any other payload.

    `again`: other payloads will be cut at the same places.
    """
    spans = _spans(payload)
    if not spans:
        return None
    first, *others = (payload[span.resource : span.scope] for span in spans)
    if any(other != first for other in others):
        return None
    places = "".join([f"{span.scope - span.start}x{span.end - span.scope}s" for span in spans])
    scopes = _struct(places) if again else Struct(places)
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
"""The most resources of one push that get labels each. Java puts each metric into a resource of its own, librdkafka
all into one; equal ones are joined. An empty resource is two bytes: with labels to each, a push of 1 MiB would be
200 MB."""

MAX_SEARCHED: Final = 8192
"""The most attributes that are searched for the labels' names: 4 ms. No client of Kafka's writes any of these names."""

_PREFIX: Final = b"client_"


class Names:
    """The names of kproxy's own attributes: those of `CLIENT_LABELS`, and of `constant` ones."""

    def __init__(self, constant: Iterable[str] = ()) -> None:
        self.all = frozenset([*CLIENT_LABELS, *constant])
        self._of_clients = _keys(CLIENT_LABELS)
        self._others = _keys(self.all - CLIENT_LABELS.keys())

    def may_be_in(self, payload: bytes) -> bool:
        """Return whether a payload may have an attribute with one of the names; False is certain."""
        if _PREFIX in payload and any(key in payload for key in self._of_clients):
            return True
        return any(key in payload for key in self._others)


def _keys(names: Iterable[str]) -> Sequence[bytes]:
    """Return how a key can stand in a payload: behind its length's last byte, 0 where it is longer than need be."""
    encoded = [name.encode() for name in names]
    return [key for name in encoded for key in (uvarint(len(name))[-1:] + name, b"\0" + name)]


OF_CLIENTS: Final = Names()


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


def joined(payload: bytes, added: bytes, ours: Names = OF_CLIENTS, *, again: bool = True) -> Joined | None:
    """Return how to join payloads with this one's template; None where only `with_attributes` can do it.

    `again`: there will be others.
    """
    if ours.may_be_in(payload) or (found := cut(payload, again=again)) is None:
        return None
    return Joined(_head(found.size + len(added)) + found.resource, found.scope_metrics, added)


def with_attributes(payload: bytes, added: bytes, ours: Names = OF_CLIENTS) -> bytes:
    """Return MetricsData with the bytes of `addition` in each resource. Raise ValueError for other bytes.

    A client's own attributes with the names `ours` are removed: no client can pass for another, and no attribute
    occurs twice.
    """
    if ours.may_be_in(payload):
        payload = _without(payload, ours.all)
    # Not `again`: the hundred parts of a large push would take the places of the structs that many clients share.
    if (together := joined(payload, added, ours, again=False)) is not None:
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


def labelled_parts(payload: bytes, added: bytes, ours: Names = OF_CLIENTS) -> Iterator[bytes]:
    """Yield what `with_attributes` makes of a payload, part by part; joined it is MetricsData.

    Raise ValueError for other bytes, and where the labels of thousands of resources would be most of the result: the
    queue counts the payload.
    """
    room = 2 * len(payload)
    for part in parts(payload):
        labelled = with_attributes(part, added, ours)
        room -= len(labelled)
        if room < 0:
            raise ValueError("MetricsData of so many resources that their labels would be most of it")
        yield labelled


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


def _without(payload: bytes, names: AbstractSet[str]) -> bytes:
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
        ours = sum([each.key in names for each in attributes])
        if ours:  # not one by one: each deletion would move all attributes that are behind it
            attributes.sort(key=lambda each: each.key in names)
            del attributes[len(attributes) - ours :]
    encoded: bytes = data.SerializeToString()
    return encoded


REMEMBERED: Final = 16_384
"""The most clients of which something is kept: as many as there may be instances."""
MOST_KEPT: Final = 4096
"""The most bytes that are kept of a client, its names included. Of a client with more, nothing is kept."""
_OBJECTS: Final = 640
"""Bytes of all objects that are kept of a client, without its names and what is added or joined."""


class Labelling:
    """Adds clients' labels to their payloads; `constant` attributes go with them."""

    def __init__(self, constant: Mapping[str, str]) -> None:
        self.names = Names(constant)
        self._constant = dict(constant)
        self._clients: OrderedDict[ClientInfo, _Client] = OrderedDict()

    def labelled(self, push: Push) -> bytes:
        """Return the payload with the client's labels in each resource; ValueError if it is not MetricsData."""
        client = self._client(push.info)
        how = None if push.template is None else client.how(push.payload, push.template, self.names)
        if how is not None:
            return how.of(push.payload)
        return with_attributes(push.payload, client.added, self.names)

    def added(self, info: ClientInfo) -> bytes:
        """Return the bytes that add a client's labels to a resource."""
        return self._client(info).added

    def _client(self, info: ClientInfo) -> _Client:
        """Return what is kept of a client; where nothing may be, what is found of it now."""
        client = self._clients.get(info)
        if client is not None:
            self._clients.move_to_end(info)
            return client
        client = _Client(info, self._added(info))
        if client.room >= 0:
            self._clients[info] = client
            if len(self._clients) > REMEMBERED:
                self._clients.popitem(last=False)
        return client

    def _added(self, info: ClientInfo) -> bytes:
        """A constant attribute counts more than a client's of that name."""
        return addition((dict(known(info)) | self._constant).items())


class _Client:
    """The bytes that are added for a client, and how its payloads with the last template are joined.

    The struct is only referred to: it is kept with the others that many clients share, or found again. So a resource of
    hundreds of metrics costs no client more.
    """

    __slots__ = ("_head", "_scope_metrics", "_template", "added", "room")

    def __init__(self, info: ClientInfo, added: bytes) -> None:
        self.added = added
        self.room = MOST_KEPT - _OBJECTS - len(added) - sum(map(getsizeof, info))
        """The most bytes of a head that is kept; negative where nothing is."""
        self._template: PayloadTemplate | None = None
        self._head = b""
        self._scope_metrics: ref[Struct] | None = None

    def how(self, payload: bytes, template: PayloadTemplate, ours: Names) -> Joined | None:
        """As `joined`; found anew for a payload of another template than before, and where it is too large to keep."""
        if template == self._template:
            if self._scope_metrics is None:
                return None
            if (scope_metrics := self._scope_metrics()) is not None:
                return Joined(self._head, scope_metrics, self.added)
        found = joined(payload, self.added, ours)
        self._keep(template, found)
        return found

    def _keep(self, template: PayloadTemplate, found: Joined | None) -> None:
        self._template, self._head, self._scope_metrics = template, b"", None
        if found is None:
            return
        if len(found.head) > self.room:
            self._template = None
        else:
            self._head, self._scope_metrics = found.head, ref(found.scope_metrics)
