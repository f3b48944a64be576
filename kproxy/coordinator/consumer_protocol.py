# This module is pure (no I/O, no clock).
"""Reads what consumers tell each other through their group: for people, and for administrators' requests.

The coordinator hands these bytes on untouched. Other protocol types than `consumer` have bytes of their own.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final

from kproxy.errors import KproxyError
from kproxy.wire.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kproxy.wire.reader import Reader

CONSUMER: Final = "consumer"
"""The protocol type of consumers."""
_VERSION_BYTES: Final = 2


def subscribed(metadata: bytes) -> frozenset[str] | None:
    """Return the topics of a consumer's subscription; None where it cannot be read.

    They are in front in every version. What is behind them, such as a thousand owned partitions, is not looked at.
    """
    reader = Reader(metadata)
    try:
        if reader.int16() < 0:
            return None
        return frozenset(reader.array(lambda: reader.string(False), False))
    except (KproxyError, IndexError, struct.error, UnicodeDecodeError):
        return None


def assigned(assignment: bytes) -> Mapping[str, Sequence[int]] | None:
    """Return the partitions of a consumer's assignment by topic; None where it cannot be read."""
    if not assignment:
        return {}
    version = min(_version(assignment), ConsumerProtocolAssignment.max_version)
    try:
        said = ConsumerProtocolAssignment.decode(assignment[_VERSION_BYTES:], version)
    except KproxyError:
        return None
    return {each.topic: sorted(each.partitions) for each in said.assigned_partitions}


def _version(data: bytes) -> int:
    """Return the version, which is in front; a newer one begins like those before it."""
    return int.from_bytes(data[:_VERSION_BYTES], signed=True)
