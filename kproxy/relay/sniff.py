# This module is pure (no I/O, no clock).
"""Recognizes other protocols that come to a Kafka port by mistake, by a connection's first bytes."""

from __future__ import annotations

from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault

_METHODS: Final = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"DELETE ", b"OPTIONS ", b"CONNECT ", b"PATCH ", b"PRI * HTTP")
_TLS_HANDSHAKE: Final = b"\x16\x03"


def foreign_protocol(first: bytes) -> Reason | None:
    """Return why these first bytes of a connection are no Kafka request; None where they may be one."""
    if first.startswith(_TLS_HANDSHAKE):
        return Reason.TLS_ON_PLAINTEXT
    if first.startswith(_METHODS):
        return Reason.HTTP_ON_KAFKA_PORT
    return None


def no_request(first: bytes, size: int, limit: int) -> Fault:
    """Return the fault for bytes that are no request: Kafka's framing would take them for one of `size` bytes."""
    reason = foreign_protocol(first)
    if reason is not None:
        return Fault(reason, "the client does not speak Kafka in plaintext")
    if size > limit:
        return Fault(Reason.FRAME_TOO_LARGE, f"a request of {size} bytes, the limit is {limit}")
    return Fault(Reason.INVALID_FRAME_SIZE, f"a request of {size} bytes")
