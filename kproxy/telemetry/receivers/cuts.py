"""Payloads that name one resource for each metric anew, as Java's do: the resource once, and the metrics without it.

Where to cut is found out for the first payload of a size and tried on the next ones: those that a client pushes differ
in numbers only, and those of like clients in names of the same length. Tags and lengths are compared each time.
"""

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
_KNOWN: Final = 256  # sizes
MAX_RESOURCES: Final = 512
"""In a payload that is cut: what is known of one grows with them."""


class Parts(NamedTuple):
    """Fields of one ResourceMetrics, with their tags."""

    resource: bytes
    scope_metrics: tuple[bytes, ...]


class _Span(NamedTuple):
    """One ResourceMetrics of a resource and a ScopeMetrics, from its tag to the next one's; positions."""

    start: int
    resource: int
    resource_content: int
    scope: int
    scope_content: int
    end: int


class _Cuts:
    """For all payloads with these tags and lengths at their places."""

    def __init__(self, payload: bytes, spans: Sequence[_Span]) -> None:
        tags, resources, scopes = ["<"], ["<"], ["<"]
        for start, resource, content, scope, scope_content, end in spans:
            tags.append(f"{content - start}s{scope - content}x{scope_content - scope}s{end - scope_content}x")
            resources.append(f"{resource - start}x{scope - resource}s{end - scope}x")
            scopes.append(f"{scope - start}x{end - scope}s")
        self._tags, self._resources, self._scopes = (Struct("".join(each)) for each in (tags, resources, scopes))
        self._expected = self._tags.unpack(payload)

    def parts(self, payload: bytes) -> Parts | None:
        """Of a payload of the size that these are for; None when the tags differ or its resources do."""
        if self._tags.unpack(payload) != self._expected:
            return None
        resources = self._resources.unpack(payload)
        if resources.count(resources[0]) != len(resources):
            return None
        return Parts(resources[0], self._scopes.unpack(payload))


def parts(payload: bytes) -> Parts | None:
    """The parts of a payload whose resources are one; None for any other payload."""
    known = _by_size(len(payload))
    for cuts in known:
        if (found := cuts.parts(payload)) is not None:
            return found
    spans = _spans(payload)
    if spans is None:
        return None
    known[:] = [_Cuts(payload, spans)]
    return known[0].parts(payload)


@lru_cache(_KNOWN)
def _by_size(size: int) -> list[_Cuts]:
    """The last that were made for payloads of that size, or none."""
    del size
    return []


def _spans(payload: bytes) -> list[_Span] | None:
    spans: list[_Span] = []
    position = 0
    try:
        while position < len(payload):
            span = _span(payload, position)
            if span is None or len(spans) == MAX_RESOURCES:
                return None
            spans.append(span)
            position = span.end
    except (IndexError, MalformedMessageError):
        return None
    return spans or None


def _span(payload: bytes, start: int) -> _Span | None:
    size, resource = read_uvarint(payload, start + 1)
    resource_size, content = read_uvarint(payload, resource + 1)
    scope = content + resource_size
    scope_size, scope_content = read_uvarint(payload, scope + 1)
    end = scope_content + scope_size
    tags = (payload[start], payload[resource], payload[scope])
    fits = end == resource + size <= len(payload)
    return (
        _Span(start, resource, content, scope, scope_content, end)
        if fits and tags == (_RESOURCE_METRICS, _RESOURCE, _SCOPE_METRICS)
        else None
    )
