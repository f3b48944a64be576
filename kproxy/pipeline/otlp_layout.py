"""Where the numbers of a push lie, so that many pushes are read at once.

A client pushes the same metrics again and again. In OTLP all that changes between two such pushes, times and values,
takes eight bytes each. Pushes of one layout differ in nothing else, and numpy reads their numbers as columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_GAUGE, _SUM = 5, 7
_OTHER_FORMS: Final = (9, 10, 11)  # histogram, exponential histogram, summary: numbers of varying count

_START, _TIME, _DOUBLE, _INT = 2, 3, 4, 6  # of a NumberDataPoint
_FLAGS: Final = 8


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
    """255 for each byte that pushes of this layout have in common, 0 for each byte of a number."""


def layout(payload: bytes) -> Layout:
    """Return where the numbers of a payload of gauges and sums lie; raise `NoLayoutError` for any other payload."""
    found = list(_of_metrics(payload))
    starts, times, doubles, integers = np.array(found, np.int64).reshape(-1, 4).T
    fixed = np.full(len(payload), 255, np.uint8)
    for offsets in (starts, times, doubles, integers):
        present = offsets[offsets >= 0]
        fixed[(present[:, None] + np.arange(8)).ravel()] = 0
    return Layout(starts, times, np.maximum(doubles, integers), integers >= 0, fixed)


def _of_metrics(payload: bytes) -> Iterator[tuple[int, int, int, int]]:
    for _, start, end in _within(payload, 0, len(payload), 1):  # ResourceMetrics
        for _, scope_start, scope_end in _within(payload, start, end, 2):  # ScopeMetrics
            for _, metric_start, metric_end in _within(payload, scope_start, scope_end, 2):  # Metric
                forms = list(_within(payload, metric_start, metric_end, _GAUGE, _SUM, *_OTHER_FORMS))
                if len(forms) > 1 or (forms and forms[0][0] in _OTHER_FORMS):
                    raise NoLayoutError
                for _, data_start, data_end in forms:
                    for _, point_start, point_end in _within(payload, data_start, data_end, 1):
                        yield _numbers(payload, point_start, point_end)


def _numbers(payload: bytes, start: int, end: int) -> tuple[int, int, int, int]:
    """Return the offsets of a point's start, time, double and integer."""
    at = dict.fromkeys((_START, _TIME, _DOUBLE, _INT), -1)
    for number, wire_type, value_start, _ in _fields(payload, start, end):
        if number == _FLAGS or (number in at and (wire_type != _FIXED64 or at[number] >= 0)):
            raise NoLayoutError
        if number in at:
            at[number] = value_start
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
