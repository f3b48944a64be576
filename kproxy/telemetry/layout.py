# This module is pure and compiled.
"""Where the numbers stand in a payload, so that the next one like it can be taken without being decoded.

Clients push the same metrics in the same order again and again: Java and librdkafka do. Protobuf writes times and
values of data points at a fixed width, so such a payload differs from the one before in these bytes only. All others
decide what the payload says, and whether it is one at all; they are compared by a hash that Python keys anew in each
process. Whoever finds two of the same hash all the same has his own numbers misread, or forwarded what is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import read_uvarint

_WIDTH: Final = 8
_VARINT, _FIXED64, _BYTES = 0, 1, 2
_MORE: Final = 0x80

_Fields = Mapping[int, "_Fields | str"]
_TIME: Final = "8x"
_POINT: Final[_Fields] = {2: _TIME, 3: _TIME, 4: "d", 6: "q"}  # start, time, as_double, as_int
_METRIC: Final[_Fields] = {5: {1: _POINT}, 7: {1: _POINT}}  # gauge, sum
_METRICS_DATA: Final[_Fields] = {1: {2: {2: _METRIC}}}  # resource_metrics, scope_metrics, metrics
_SHARED: Final = 512  # of so many kinds of clients
MAX_BYTES: Final = 32 << 10
"""Of a payload whose layout is found out: a walk in Python, 15 ms for one that was made to take long. Java's clients
push 25 KB where they are asked for everything."""


class Layout:
    """Of payloads of one length. Instances that push the same metrics of names of the same length share it."""

    __slots__ = ("_numbers", "_words", "size")

    def __init__(self, words: str, numbers: str) -> None:
        """In the notation of `struct`: `words` passes over times and numbers, `numbers` over all else."""
        self._words = Struct(words)
        self._numbers = Struct(numbers)
        self.size = self._words.size

    def words(self, payload: bytes) -> int | None:
        """A hash of all but times and numbers; None for a payload of another size."""
        return hash(self._words.unpack(payload)) if len(payload) == self.size else None

    def numbers(self, payload: bytes) -> tuple[float, ...]:
        """The values of all data points of gauges and sums, in their order."""
        return self._numbers.unpack(payload)


class Words(NamedTuple):
    """All that a payload says but times and numbers, as a hash. Payloads of equal words are MetricsData, or none is."""

    layout: Layout
    hash: int


class Lately:
    """What a client pushed last, as far as the next push may be like it."""

    __slots__ = ("_size", "_words")

    def __init__(self) -> None:
        self._size = 0
        self._words: Words | None = None

    def like(self, payload: bytes) -> Words | None:
        """The words of a payload, if they are those of the last one; None for any other, which is to be decoded."""
        words = self._words
        return words if words is not None and words.layout.words(payload) == words.hash else None

    def learn(self, payload: bytes) -> Words | None:
        """Take note of one that was decoded; its words, if the last one was of the same size: no other can be like it.

        So nothing is found out of payloads that are never like each other.
        """
        again, self._size = len(payload) == self._size, len(payload)
        self._words = words(payload) if again else None
        return self._words


def words(payload: bytes) -> Words | None:
    """The words of MetricsData; None for what has no layout."""
    found = layout(payload)
    hashed = None if found is None else found.words(payload)
    return None if found is None or hashed is None else Words(found, hashed)


def layout(payload: bytes) -> Layout | None:
    """The layout of MetricsData; None for what is no such message, large, or written as no client writes it."""
    if len(payload) > MAX_BYTES:
        return None
    found: list[tuple[int, str]] = []
    try:
        _find(payload, 0, len(payload), _METRICS_DATA, found)
    except (IndexError, MalformedMessageError):
        return None
    words, numbers, position = ["<"], ["<"], 0
    for start, code in found:
        words.append(f"{start - position}s{_TIME}")
        numbers.append(f"{start - position}x{code}")
        position = start + _WIDTH
    rest = len(payload) - position
    return _shared("".join([*words, f"{rest}s"]), "".join([*numbers, f"{rest}x"])) if rest >= 0 else None


_shared: Final = lru_cache(_SHARED)(Layout)


def _find(payload: bytes, position: int, end: int, fields: _Fields, found: list[tuple[int, str]]) -> None:
    """Where each stands, with its code. IndexError or MalformedMessageError for what is no message."""
    while position < end:
        tag = payload[position]
        kind, below = tag & 7, fields.get(tag >> 3)
        position += 1
        if kind == _BYTES and tag < _MORE:
            size, position = payload[position], position + 1
            if size >= _MORE:
                size, position = read_uvarint(payload, position - 1)
            if below is not None and not isinstance(below, str):
                _find(payload, position, position + size, below, found)
            position += size
        elif kind == _FIXED64 and tag < _MORE:
            if isinstance(below, str):
                found.append((position, below))
            position += _WIDTH
        elif kind == _VARINT and tag < _MORE:
            position = read_uvarint(payload, position)[1]
        else:
            raise MalformedMessageError(f"tag {tag:#x}, of which there is none in OTLP's metrics")
