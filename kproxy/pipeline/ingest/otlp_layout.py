"""Where numbers and attributes of a push lie, so that many pushes are read at once.

A client pushes the same metrics again and again. In OTLP all that changes between two such pushes, times and values,
takes eight bytes each. Pushes of clients of one kind differ in their attributes, too: the member of a group, the topic.
Pushes of one layout differ in nothing else; numpy reads their numbers as columns, and attributes are decoded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_ABOUT: Final = (1, 2, 3, 12)  # of a Metric: name, description, unit, metadata
_GAUGE, _SUM = 5, 7

_START, _TIME, _DOUBLE, _INT, _LABELS, _FLAGS = 2, 3, 4, 6, 7, 8  # of a NumberDataPoint
_RESOURCE: Final = 1  # of ResourceMetrics

Span = tuple[int, int]
"""Start and end of some bytes of a payload."""


class NoLayoutError(Exception):
    """The payload's numbers are not all at fixed places, or it is not OTLP."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Byte offsets in a payload, of one entry a data point. An offset of -1 says that the payload lacks the number."""

    starts: NDArray[np.int64]
    times: NDArray[np.int64]
    values: NDArray[np.int64]
    integers: NDArray[np.bool_]
    """Which values are signed integers; the others are doubles."""
    fixed: NDArray[np.uint8]
    """255 for each byte that pushes of this layout have in common, 0 for each byte of a number or an attribute."""
    resource: NDArray[np.int64]
    """Offsets of the bytes of a Resource message."""
    again: NDArray[np.int64]
    """Offsets at which the bytes at `resource` are repeated, a row each time: Java's clients do so for every metric."""
    labels: NDArray[np.int64]
    """Offsets of the bytes of all attributes of data points."""


def layout(payload: bytes) -> Layout:
    """Return where numbers and attributes lie in a payload of gauges and sums of one resource.

    Raises `NoLayoutError` for any other payload.
    """
    labels: list[Span] = []
    resources: list[Span] = []
    found = list(_of_metrics(payload, resources, labels))
    starts, times, doubles, integers = np.array(found, np.int64).reshape(-1, 4).T
    if len({payload[start:end] for start, end in resources}) > 1:
        raise NoLayoutError
    repeated = _offsets(resources).reshape(len(resources), -1) if resources else np.zeros((1, 0), np.int64)
    of_labels = _offsets(labels)
    fixed = np.full(len(payload), 255, np.uint8)
    fixed[repeated.ravel()] = fixed[of_labels] = 0
    for offsets in (starts, times, doubles, integers):
        present = offsets[offsets >= 0]
        fixed[(present[:, None] + np.arange(8)).ravel()] = 0
    values = np.maximum(doubles, integers)
    return Layout(starts, times, values, integers >= 0, fixed, repeated[0], repeated[1:], of_labels)


def _offsets(spans: Sequence[Span]) -> NDArray[np.int64]:
    return np.array([offset for span in spans for offset in range(*span)], np.int64)


def _of_metrics(payload: bytes, resources: list[Span], labels: list[Span]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the offsets of each point's numbers; add the spans of resources and attributes to the lists."""
    for _, start, end in _within(payload, 0, len(payload), 1):  # ResourceMetrics
        own = [(begin, stop) for _, begin, stop in _within(payload, start, end, _RESOURCE)]
        if len(own) > 1:  # protobuf would merge them
            raise NoLayoutError
        resources.append(own[0] if own else (end, end))
        for _, scope_start, scope_end in _within(payload, start, end, 2):  # ScopeMetrics
            for _, metric_start, metric_end in _within(payload, scope_start, scope_end, 2):  # Metric
                for data_start, data_end in _data(payload, metric_start, metric_end):
                    for _, point_start, point_end in _within(payload, data_start, data_end, 1):
                        yield _numbers(payload, point_start, point_end, labels)


def _data(payload: bytes, start: int, end: int) -> list[Span]:
    """Return where the data of a gauge or a sum is; nothing for a metric without any."""
    fields = [field for field in _fields(payload, start, end) if field[0] not in _ABOUT]
    if len(fields) > 1 or any(number not in (_GAUGE, _SUM) or kind != _LENGTH for number, kind, _, _ in fields):
        raise NoLayoutError  # of another kind, or of one that is not known
    return [(begin, stop) for _, _, begin, stop in fields]


def _numbers(payload: bytes, start: int, end: int, labels: list[Span]) -> tuple[int, int, int, int]:
    """Return the offsets of a point's start, time, double and integer; add the spans of its attributes to `labels`."""
    at = dict.fromkeys((_START, _TIME, _DOUBLE, _INT), -1)
    for number, wire_type, value_start, value_end in _fields(payload, start, end):
        if number == _FLAGS or (number in at and (wire_type != _FIXED64 or at[number] >= 0)):
            raise NoLayoutError
        if number == _LABELS and wire_type != _LENGTH:
            raise NoLayoutError
        if number in at:
            at[number] = value_start
        elif number == _LABELS:
            labels.append((value_start, value_end))
    if at[_DOUBLE] >= 0 and at[_INT] >= 0:
        raise NoLayoutError
    return at[_START], at[_TIME], at[_DOUBLE], at[_INT]


def _within(payload: bytes, start: int, end: int, *numbers: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each message in fields of the given numbers."""
    for number, wire_type, value_start, value_end in _fields(payload, start, end):
        if number in numbers:
            if wire_type != _LENGTH:
                raise NoLayoutError
            yield number, value_start, value_end


def _fields(payload: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield number, wire type, start and end of each field's value."""
    while at < end:
        tag, at = _varint(payload, at, end)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            _, stop = _varint(payload, at, end)
        elif wire_type == _LENGTH:
            length, at = _varint(payload, at, end)
            stop = at + length
        elif wire_type in (_FIXED64, _FIXED32):
            stop = at + (8 if wire_type == _FIXED64 else 4)
        else:
            raise NoLayoutError
        if stop > end:
            raise NoLayoutError
        yield number, wire_type, at, stop
        at = stop


def _varint(payload: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a varint and where it ends."""
    value = shift = 0
    while at < end and shift < 64:
        byte = payload[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise NoLayoutError
