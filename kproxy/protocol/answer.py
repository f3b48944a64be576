# This module is compiled (by mypyc).
"""Makes a handler of frames, as `ApiPolicy` needs it, from a function that answers a decoded request.

A room (a package of kproxy, such as telemetry) makes its handlers at start. The relay calls one for each request.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Incremental
from kproxy.wire.header import RequestHeader, decode_request_header, encode_response_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame as framed

M = TypeVar("M", bound=WireMessage)

Decode = Callable[[memoryview, int], M]
Answering: TypeAlias = Generator[None, None, WireMessage]
"""A generator that yields between its steps and returns the response."""


def answering(
    decode: Decode[M], answer: Callable[[Context, RequestHeader, M], Answering]
) -> Callable[[Context, memoryview], Incremental]:
    """Return a handler that decodes each request and answers it in steps, between which `answer` yields."""

    def handle(context: Context, frame: memoryview) -> Incremental:
        header, body = decode_request_header(frame, 0, len(frame))
        request = decode(frame[body:], header.api_version)
        return Incremental(_framed(header, answer(context, header, request)))

    return handle


def _framed(header: RequestHeader, answer: Answering) -> Generator[None, None, bytes]:
    return response_frame(header, (yield from answer))


def response_frame(header: RequestHeader, response: WireMessage) -> bytes:
    """Return the response to the request of `header`, with its size."""
    head = encode_response_header(header.correlation_id, header.api_key, header.api_version)
    return framed(head, response.encode(header.api_version))
