# This module is pure.
"""Payloads that name one resource for each metric anew, as Java's do: the resource once, and the metrics without it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import read_uvarint

_RESOURCE_METRICS: Final = 0x0A  # field 1 of MetricsData, length-delimited
_RESOURCE: Final = 0x0A  # field 1 of ResourceMetrics
_SCOPE_METRICS: Final = 0x12  # field 2
_SHARED: Final = 512  # of so many kinds of clients
MAX_RESOURCES: Final = 512
"""In a payload that is cut: what is known of one grows with them."""


class Cut(NamedTuple):
    """Fields of one ResourceMetrics, with their tags: the resource, and where each ScopeMetrics is in the payload.

    `size` is that of all fields together, in bytes.
    """

    resource: bytes
    scope_metrics: Struct
    size: int


class _Span(NamedTuple):
    """One ResourceMetrics of a resource and a ScopeMetrics, from its tag to the next one's; positions."""

    start: int
    resource: int
    scope: int
    end: int


def cut(payload: bytes) -> Cut | None:
    """Where to cut a payload whose resources are one; None for any other payload."""
    spans = _spans(payload)
    if not spans:
        return None
    first, *others = (payload[span.resource : span.scope] for span in spans)
    if any(other != first for other in others):
        return None
    scopes = _struct("".join([f"{span.scope - span.start}x{span.end - span.scope}s" for span in spans]))
    return Cut(first, scopes, len(first) + sum(span.end - span.scope for span in spans))


# Instances that push the same metrics of names of the same length share it.
_struct: Final = lru_cache(_SHARED)(Struct)


def _spans(payload: bytes) -> Sequence[_Span]:
    """None at all for a payload that is not to be cut."""
    spans: list[_Span] = []
    position = 0
    try:
        while position < len(payload):
            span = _span(payload, position)
            if span is None or len(spans) == MAX_RESOURCES:
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
