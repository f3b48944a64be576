# This module is pure.
"""Other protocols that come to a Kafka port by mistake, known by their first bytes."""

from __future__ import annotations

from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault

_METHODS: Final = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"DELETE ", b"OPTIONS ", b"CONNECT ", b"PATCH ", b"PRI * HTTP")
_TLS_HANDSHAKE: Final = b"\x16\x03"


def foreign_protocol(first: bytes) -> Reason | None:
    """Why these first bytes of a connection are no Kafka request, or None where they may be one."""
    if first.startswith(_TLS_HANDSHAKE):
        return Reason.TLS_ON_PLAINTEXT
    if first.startswith(_METHODS):
        return Reason.HTTP_ON_KAFKA_PORT
    return None


def no_request(first: bytes, size: int, limit: int) -> Fault:
    """Why what begins so is no request, of which Kafka's framing would make one of `size` bytes."""
    reason = foreign_protocol(first)
    if reason is not None:
        return Fault(reason, "the client does not speak Kafka in plaintext")
    if size > limit:
        return Fault(Reason.FRAME_TOO_LARGE, f"a request of {size} bytes, the limit is {limit}")
    return Fault(Reason.INVALID_FRAME_SIZE, f"a request of {size} bytes")
