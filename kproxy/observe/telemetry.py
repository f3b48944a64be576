# This module is pure.
"""What telemetry counts, as the collector needs it: others count, this only says which attributes are read.

Protocols, because what counts lies above: `kproxy.telemetry` has objects of these forms, `app` hands them over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class Tally(Protocol):
    """Requests by Kafka's error code; bytes of pushes as they came, and decompressed; seconds spent decoding them."""

    gets: Counter[int]
    pushes: Counter[int]
    pushed_bytes: int
    decompressed_bytes: int
    decode_seconds: float


class Instances(Protocol):
    """The client instances that are known; `evicted` counts those that went because there was no room."""

    evicted: int

    def __len__(self) -> int: ...


class Queue(Protocol):
    """What became of the pushes that a receiver was offered. `dropped` is by reason; sizes in bytes of payload."""

    offered: int
    delivered: int
    delivered_bytes: int
    dropped: dict[str, int]
    retries: int
    queued: int
    queued_bytes: int


class Series(Protocol):
    """Of a receiver that adds up: how many series it holds, and points that it did not take."""

    series: int
    full: int
    conflicting: int
    invalid: int


@dataclass(slots=True)
class TelemetryCounters:
    """Telemetry of one virtual cluster; `queues` and `series` are by the receiver's name."""

    tally: Tally
    instances: Instances
    queues: Mapping[str, Queue] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)
