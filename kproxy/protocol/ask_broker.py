# This module is pure (no I/O, no clock).
"""Makes a handler of frames from a dialogue: the broker is asked before the client is answered.

Telemetry, its only user so far, calls `asking_broker` for each request about configurations.

A room (a package of kproxy, such as telemetry) writes a dialogue: a generator that yields requests for the broker of
the client's connection. It receives the decoded response to each, or None where the response could not be read. What
the dialogue returns goes to `conclude`, which makes the client's response of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import TypeAlias, TypeVar

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.answer import Decode, M, response_frame
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import AskBroker, Deferred, Steps
from kproxy.wire.header import RequestHeader, decode_request_header, decode_response_header, encode_request_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame as framed

T = TypeVar("T")
R = TypeVar("R")

Question: TypeAlias = tuple[int, int, WireMessage]
"""Api key, version and body of a request to the broker."""
Dialogue: TypeAlias = Generator[Question, WireMessage | None, T]
Reply = Callable[[WireMessage], None]
"""Answers the client; may be called later, from Trio's thread."""
Conclude = Callable[[R, Reply], WireMessage | None]
"""Takes what a dialogue returned; returns the client's response, or None if it calls the reply later."""
Responses = Mapping[int, type[WireMessage]]
"""By api key, the types of the broker's responses to a dialogue's requests."""


def asking_broker(
    decode: Decode[M],
    concerns: Callable[[M], bool],
    begin: Callable[[M, int], Dialogue[R]],
    responses: Responses,
    conclude: Conclude[R],
) -> Callable[[Context, memoryview], AskBroker | None]:
    """Return a handler that asks the broker before it answers; a request that does not concern the room passes.

    `begin` takes the request and its version, and returns the dialogue.
    """

    def handle(context: Context, frame: memoryview) -> AskBroker | None:
        del context
        header, body = decode_request_header(frame, 0, len(frame))
        request = decode(frame[body:], header.api_version)
        if not concerns(request):
            return None
        return AskBroker(_steps(header, begin(request, header.api_version), responses, conclude))

    return handle


def _steps(header: RequestHeader, dialogue: Dialogue[R], responses: Responses, conclude: Conclude[R]) -> Steps:
    """Run the dialogue, its messages turned into frames."""
    try:
        question = next(dialogue)
        while True:
            answer = yield request_frame(header, question)
            question = dialogue.send(_decoded(answer, question, responses))
    except StopIteration as end:
        result: R = end.value
    deferred = Deferred()
    response = conclude(result, partial(_resolve, deferred, header))
    return deferred if response is None else response_frame(header, response)


def _resolve(deferred: Deferred, header: RequestHeader, response: WireMessage) -> None:
    """Answer the client; without an answer its connection would wait for ever."""
    try:
        deferred.resolve(response_frame(header, response))
    finally:
        deferred.resolve(b"", Reason.INTERNAL_ERROR)


def request_frame(header: RequestHeader, question: Question) -> bytes:
    """Return the frame of kproxy's own request, with the correlation id and client id of the client's."""
    key, version, message = question
    head = encode_request_header(RequestHeader(key, version, header.correlation_id, header.client_id))
    return framed(head, message.encode(version))


def _decoded(frame: bytes, question: Question, responses: Responses) -> WireMessage | None:
    key, version, _ = question
    try:
        _, body = decode_response_header(frame, 0, len(frame), key, version)
        return responses[key].decode(memoryview(frame)[body:], version)
    except MalformedMessageError:
        return None
