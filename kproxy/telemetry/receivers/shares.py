# This module is pure (no I/O, no clock).
"""What the series of each client and address cost in memory, and how much they may cost.

`Registry` asks at each new client and series, and charges and refunds them. The figures were measured with tracemalloc,
and rounded up; a test compares them.

A series of a point that other clients push as well is cheap: two entries in dictionaries. A point, a family or a client
of its own costs several times as much. Fleets share their points, attackers do not.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kproxy.telemetry.receivers.otlp_points import Attributes, Distribution, Value

_SERIES: Final = 192
_SOURCE: Final = 900
_POINT: Final = 600
_ATTRIBUTE: Final = 160
_FAMILY: Final = 600
_TOTAL: Final = 112
"""What a series costs more that its client counts from its own start."""
_DISTRIBUTION: Final = 128
_BUCKET: Final = 40
_QUANTILE: Final = 120
_LINE: Final = 256
"""The characters of labels on a line of the page that are not charged: a page should not outgrow what it shows."""
_WIDE: Final = 4


class Limits(NamedTuple):
    """The most of one virtual cluster: `clients` and `series` in all; of one client; of one address, in bytes, too."""

    clients: int = 20_000
    series: int = 500_000
    client_series: int = 20_000
    address_share: float = 0.5
    address_bytes: int = 40 << 20


def _size(text: str) -> int:
    return len(text) if text.isascii() else _WIDE * len(text)


def of_source(labels: str) -> int:
    """Return the bytes of a client without series."""
    return _SOURCE + _size(labels)


def of_series(labels: str, text: str) -> int:
    """Return the bytes of one more client's value at a point."""
    return _SERIES + max(0, len(labels) + len(text) - _LINE)


def of_point(attributes: Attributes) -> int:
    """Return the bytes of a point without values: its attributes, and their text."""
    return _POINT + sum([_ATTRIBUTE + 2 * (_size(name) + _size(value)) for name, value in attributes])


def of_family(*texts: str) -> int:
    """Return the bytes of a family without points, which has these texts."""
    return _FAMILY + sum(map(_size, texts))


def of_value(value: Value, line: int, *, totals: bool) -> int:
    """Return what a value takes more than a number that is added up; `line` is the size of its labels on the page."""
    size = _TOTAL if totals else 0
    if not isinstance(value, Distribution):
        return size
    numbers = _DISTRIBUTION + _BUCKET * (len(value.bounds) + len(value.buckets)) + _QUANTILE * len(value.quantiles)
    lines = len(value.buckets) + len(value.quantiles)
    return size + (2 * numbers if totals else numbers) + line * lines
