# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Count what is in the payload of a push before protobuf makes objects of it, and stop where a bound is passed.

`payload.checked` and `payload.checking` call it for each payload that is decoded. A payload of 1 MiB can hold half a
million empty attributes: protobuf makes 56 MB of objects of them, and a receiver would read each.

The walk visits each field of the messages that OTLP's metrics have, and skips all else by its length. A field takes at
most 110 ns, compiled, and 800 ns in plain Python: a message within a message does. The number of fields is bounded, so
the walk's time is, and so are the objects that protobuf makes: one for a field at most. What the walk calls malformed,
protobuf refuses as well; it leaves the rest of the verdict to protobuf.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from kproxy.telemetry.errors import PayloadError
from kproxy.wire.generated.error_codes import ErrorCode


class Bound(StrEnum):
    """What a payload has too much of: the values of the label `reason`."""

    POINTS = "points"
    ATTRIBUTES = "attributes"
    BUCKETS = "buckets"
    FIELDS = "fields"


class Bounds(NamedTuple):
    """The most of a payload: `points` and `fields` in all, `attributes` and `buckets` of one message.

    `points` bounds resources, scopes and metrics as well, of which each needs a point.

    `fields` are those of all messages, as they are written: each metric has some ten. The metrics of one resource may
    have `FIELDS_AT_ONCE`. Bounds and counts of buckets and quantiles are both `buckets`, and each counts as a field.
    """

    points: int = 100_000
    attributes: int = 64
    buckets: int = 1_024
    fields: int = 1_000_000


DEFAULT_BOUNDS: Final = Bounds()
FIELDS_AT_ONCE: Final = 60_000
"""The most fields in the metrics of one resource. They are counted in one step, of 5 ms."""
_POINTS: Final = 10_000
_POINT_BYTES: Final = 64
"""A push may have `_POINTS` points, and more where it has as many bytes for each: Java writes 170 and more. Else a
hundred bytes that decompress to half a million empty resources would be ten times the work."""
_FIELD_BYTES: Final = 4
"""The same for fields, from `FIELDS_AT_ONCE` on. Java writes 7."""
_PART: Final = 32 << 10
"""Bytes from which on a part ends with the next resource: 2,000 fields as Java writes them, 33,000 at most."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS: Final[list[int]] = [0, 8, 0, 0, 0, 4]
"""By wire type. Of groups, 3 and 4, only the tags count here: what is within looks like fields of the message."""
_MORE: Final = 0x80
_VARINT_BYTES: Final = 10
_SIZE_BITS: Final = 28
_RESOURCE_TAG: Final = 0x0A  # field 1 of MetricsData, length-delimited
_CONTINUED: Final = bytes(range(_MORE, 256))
MAX_DEPTH: Final = 100
"""The most messages one within the other, as in protobuf. Only lists in lists go deeper than eight."""

# What a field holds, by message and field number: another message, or a list of numbers. 0 is all else.
_NUMBERS: Final = 1  # fixed64 or double
_VARINTS: Final = 2
(
    METRICS_DATA,
    RESOURCE_METRICS,
    RESOURCE,
    ENTITY,
    SCOPE_METRICS,
    SCOPE,
    METRIC,
    NUMBERS,
    HISTOGRAM,
    EXPONENTIAL,
    SUMMARY,
    NUMBER_POINT,
    HISTOGRAM_POINT,
    EXPONENTIAL_POINT,
    SUMMARY_POINT,
    EXPONENTIAL_BUCKETS,
    QUANTILE,
    EXEMPLAR,
    KEY_VALUE,
    ANY_VALUE,
    ARRAY,
    KEY_VALUE_LIST,
) = range(3, 25)
MESSAGES: Final[dict[int, dict[int, int]]] = {
    METRICS_DATA: {1: RESOURCE_METRICS},
    RESOURCE_METRICS: {1: RESOURCE, 2: SCOPE_METRICS},
    RESOURCE: {1: KEY_VALUE, 3: ENTITY},
    ENTITY: {},
    SCOPE_METRICS: {1: SCOPE, 2: METRIC},
    SCOPE: {3: KEY_VALUE},
    METRIC: {5: NUMBERS, 7: NUMBERS, 9: HISTOGRAM, 10: EXPONENTIAL, 11: SUMMARY, 12: KEY_VALUE},
    NUMBERS: {1: NUMBER_POINT},
    HISTOGRAM: {1: HISTOGRAM_POINT},
    EXPONENTIAL: {1: EXPONENTIAL_POINT},
    SUMMARY: {1: SUMMARY_POINT},
    NUMBER_POINT: {5: EXEMPLAR, 7: KEY_VALUE},
    HISTOGRAM_POINT: {6: _NUMBERS, 7: _NUMBERS, 8: EXEMPLAR, 9: KEY_VALUE},
    EXPONENTIAL_POINT: {1: KEY_VALUE, 8: EXPONENTIAL_BUCKETS, 9: EXPONENTIAL_BUCKETS, 11: EXEMPLAR},
    SUMMARY_POINT: {6: QUANTILE, 7: KEY_VALUE},
    EXPONENTIAL_BUCKETS: {2: _VARINTS},
    QUANTILE: {},
    EXEMPLAR: {7: KEY_VALUE},
    KEY_VALUE: {2: ANY_VALUE},
    ANY_VALUE: {5: ARRAY, 6: KEY_VALUE_LIST},
    ARRAY: {1: ANY_VALUE},
    KEY_VALUE_LIST: {1: KEY_VALUE},
}
"""The messages of OTLP's metrics: which of their fields are messages or lists of numbers."""
_FIELD_NUMBERS: Final = 16
_HOLDS: Final[list[list[int]]] = [
    [MESSAGES.get(message, {}).get(number, 0) for number in range(_FIELD_NUMBERS)]
    for message in range(KEY_VALUE_LIST + 1)
]


def slices(payload: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the parts of a payload begin and end. Each is MetricsData of its own, of whole resources.

    Java writes a resource for each metric, so a payload of megabytes has many parts. A large resource is a part. What
    cannot be a resource, and all that is behind it, is the last part: whoever reads it sees what is wrong.
    """
    start = position = 0
    while position < len(payload):
        size, content = _resource_size(payload, position)
        end = min(content + size, len(payload)) if size >= 0 else len(payload)
        if end - position >= _PART and start < position:
            yield start, position
            start = position
        position = end
        if position - start >= _PART or position == len(payload):
            yield start, position
            start = position


def _resource_size(payload: bytes, position: int) -> tuple[int, int]:
    """Return the size of the ResourceMetrics at `position`, and where its content begins; -1 if there is none."""
    size = shift = 0
    tag, position = payload[position], position + 1
    while tag == _RESOURCE_TAG and position < len(payload) and shift <= _SIZE_BITS:
        byte = payload[position]
        position += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < _MORE:
            return size, position
    return -1, position


class Skim:
    """The counts of one payload, while they are taken. `messages` is by kind of message."""

    __slots__ = ("_bounds", "_most", "_payload", "buckets", "fields", "messages", "most", "points")

    def __init__(self, payload: bytes, bounds: Bounds) -> None:
        self._payload = payload
        self._bounds = bounds = bounds._replace(
            points=min(bounds.points, max(_POINTS, len(payload) // _POINT_BYTES)),
            fields=min(bounds.fields, max(FIELDS_AT_ONCE, len(payload) // _FIELD_BYTES)),
        )
        self._most = bounds.attributes, bounds.buckets, bounds.fields  # by name they take longer, for each field
        self.fields = 0
        self.points = 0
        self.buckets = 0
        self.most = 0
        """How many resources, scopes or metrics there are, whichever are the most: no more than points may be."""
        self.messages = [0] * (KEY_VALUE_LIST + 1)

    def run(self) -> None:
        """Count everything. Raise PayloadError: 118 with the bound that is passed, 87 for bytes without such fields."""
        for start, end in slices(self._payload):
            self.take(start, end)

    def take(self, start: int, end: int) -> None:
        """Count one of the `slices`; raise as `run` does."""
        attributes, buckets, _ = self._most
        self._most = attributes, buckets, min(self._bounds.fields, self.fields + FIELDS_AT_ONCE)
        try:
            self._walk(start, end, METRICS_DATA, 0)
        except IndexError:
            raise _malformed("it ends within a field") from None

    # One loop, long as it is: of the walk's time in plain Python, calls are the larger part.
    def _walk(self, position: int, end: int, message: int, depth: int) -> None:  # noqa: PLR0912
        payload, holds = self._payload, _HOLDS[message]
        most_attributes, most_buckets, most_fields = self._most
        attributes = buckets = 0
        while position < end:
            self.fields += 1
            tag = payload[position]
            position += 1
            if tag >= _MORE:
                tag, position = self._varint(position - 1)
            held = holds[tag >> 3] if tag >> 3 < _FIELD_NUMBERS else 0
            kind = tag & 7
            if kind == _BYTES:
                size = payload[position]
                position += 1
                if size >= _MORE:
                    size, position = self._varint(position - 1)
                start, position = position, position + size
                if position > end:
                    break
                if held >= METRICS_DATA:
                    attributes += held == KEY_VALUE
                    buckets += held == QUANTILE
                    if depth >= MAX_DEPTH:
                        raise _malformed(f"more than {MAX_DEPTH} messages within each other")
                    self.messages[held] += 1
                    if held <= SUMMARY_POINT:
                        self._count(held)
                    if start < position:
                        self._walk(start, position, held, depth + 1)
                elif held:
                    buckets += self._numbers(start, position, held)
            elif kind == _VARINT:
                position = self._varint(position)[1]
                buckets += held == _VARINTS
            else:
                if kind > _FIXED32:
                    raise _malformed(f"a field of wire type {kind}")
                position += _WIDTHS[kind]
                buckets += kind == _FIXED64 and held == _NUMBERS
            if attributes > most_attributes:
                raise _too_large(Bound.ATTRIBUTES, most_attributes)
            if buckets > most_buckets:
                raise _too_large(Bound.BUCKETS, most_buckets)
            if self.fields > most_fields:
                raise self._too_many_fields()
        if position != end:
            raise _malformed("a field ends behind its message")
        self.buckets += buckets

    def _too_many_fields(self) -> PayloadError:
        if self.fields > self._bounds.fields:
            return _too_large(Bound.FIELDS, self._bounds.fields)
        why = f"more than {FIELDS_AT_ONCE} {Bound.FIELDS} in the metrics of one resource"
        return PayloadError(ErrorCode.TELEMETRY_TOO_LARGE, why, Bound.FIELDS)

    def _count(self, message: int) -> None:
        if message < NUMBER_POINT:
            self.most = max(self.most, self.messages[message])
        else:
            self.points += 1
        if self.points > self._bounds.points or self.most > self._bounds.points:
            raise _too_large(Bound.POINTS, self._bounds.points)

    def _numbers(self, start: int, end: int, held: int) -> int:
        """Return how many numbers are packed there; each counts as a field."""
        if end - start > _VARINT_BYTES * (self._bounds.buckets + 1):  # whatever they are: no need to look at megabytes
            raise _too_large(Bound.BUCKETS, self._bounds.buckets)
        packed = (end - start) // 8 if held == _NUMBERS else _varints(self._payload[start:end])
        self.fields += packed
        return packed

    def _varint(self, position: int) -> tuple[int, int]:
        """Return the number, of which only the lowest 35 bits count for tags and sizes, and the position behind it."""
        value = shift = 0
        payload = self._payload
        for _ in range(_VARINT_BYTES):
            byte = payload[position]
            position += 1
            if shift <= _SIZE_BITS:
                value |= (byte & 0x7F) << shift
                shift += 7
            if byte < _MORE:
                return value, position
        raise _malformed(f"a number of more than {_VARINT_BYTES} bytes")


def _varints(packed: bytes) -> int:
    """Return how many varints end there: all of their bytes but the last have the highest bit."""
    return len(packed.translate(None, _CONTINUED))


def _too_large(bound: Bound, most: int) -> PayloadError:
    where = "in one message" if bound in (Bound.ATTRIBUTES, Bound.BUCKETS) else "in one push of its size"
    return PayloadError(ErrorCode.TELEMETRY_TOO_LARGE, f"more than {most} {bound} {where}", bound)


def skim(payload: bytes, bounds: Bounds = DEFAULT_BOUNDS) -> Skim:
    """Return the counts of a payload within the bounds; raise PayloadError 118 or 87 for another."""
    counts = Skim(payload, bounds)
    counts.run()
    return counts


def _malformed(why: str) -> PayloadError:
    return PayloadError(ErrorCode.INVALID_RECORD, f"not OTLP MetricsData: {why}")
