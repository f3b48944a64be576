# This module is pure (no I/O, no clock).
"""Recognizes clients that do not speak Kafka, by the first bytes of their connection.

The acceptor calls it with every client's first bytes; the request flow, when a request begins with an impossible frame
size.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.proxy_header import FIRST

_METHODS: Final = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"DELETE ", b"OPTIONS ", b"CONNECT ", b"PATCH ", b"PRI * HTTP")
_TLS_HANDSHAKE: Final = b"\x16\x03"
_STRANGE: Final = (
    "a PROXY header is taken once, and from proxy_protocol.networks alone: list its sender, or switch it off"
)


def foreign_protocol(first: bytes) -> Reason | None:
    """Return the reason if these first bytes of a connection are TLS, HTTP or a PROXY header; None if they are not."""
    if first.startswith(_TLS_HANDSHAKE):
        return Reason.TLS_ON_PLAINTEXT
    if first.startswith(_METHODS):
        return Reason.HTTP_ON_KAFKA_PORT
    if first.startswith(FIRST):
        return Reason.UNEXPECTED_PROXY_HEADER
    return None


def no_plaintext(first: bytes) -> Fault | None:
    """Return the fault if these first bytes of a connection are another protocol's than Kafka's."""
    reason = foreign_protocol(first)
    return None if reason is None else _fault(reason, "the client does not speak Kafka in plaintext")


def no_hello(first: bytes) -> Fault | None:
    """Return the fault if these first bytes of a connection begin no TLS handshake."""
    if first.startswith(_TLS_HANDSHAKE[: len(first)]):
        return None
    return _fault(foreign_protocol(first) or Reason.PLAINTEXT_ON_TLS, "the client does not speak TLS")


def no_request(first: bytes, size: int, limit: int) -> Fault:
    """Return the fault for first bytes that give an impossible frame size: over the limit, or too small."""
    if foreign := no_plaintext(first):
        return foreign
    if size > limit:
        return Fault(Reason.FRAME_TOO_LARGE, f"a request of {size} bytes, the limit is {limit}")
    return Fault(Reason.INVALID_FRAME_SIZE, f"a request of {size} bytes")


def _fault(reason: Reason, detail: str) -> Fault:
    return Fault(reason, _STRANGE if reason is Reason.UNEXPECTED_PROXY_HEADER else detail)
