"""Requests of kproxy's own on a client's new connection to a broker, before it is the pump's: who kproxy is.

`BrokerDial` has `Destination.identify` authenticate through a `BrokerLogin`.
"""

from __future__ import annotations

import socket
from typing import Final, TypeVar

import trio

from kproxy.errors import MalformedMessageError, UpstreamError
from kproxy.relay.exact_socket import ExactSocket, words
from kproxy.upstream.handshake import Request
from kproxy.wire.header import RequestHeader, decode_response_header, encode_request_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame as framed

Answer = TypeVar("Answer", bound=WireMessage)

_NEWEST: Final = 1
"""SaslHandshake v1 frames what follows; SaslAuthenticate v1 has the session's lifetime. Brokers since 2.2 know both."""
_MOST_BYTES: Final = 1 << 20
_CLIENT_ID: Final = "kproxy"
_SIZE_BYTES: Final = 4
CLOSED: Final = "the broker closed the connection while kproxy authenticated"


def silence(seconds: float) -> str:
    """Return what to say of a broker that does not answer."""
    return f"no answer within {seconds:g} s while kproxy authenticated"


def question(message: Request, correlation_id: int) -> bytes:
    """Return the whole frame of a request of kproxy's own."""
    header = RequestHeader(message.api_key, _NEWEST, correlation_id, _CLIENT_ID)
    return framed(encode_request_header(header), message.encode(_NEWEST))


def decoded(frame: bytes, message: Request, answer: type[Answer]) -> tuple[int, Answer]:
    """Return the correlation id and the answer of a frame without its size. Raises MalformedMessageError."""
    correlation_id, body = decode_response_header(frame, 0, len(frame), message.api_key, _NEWEST)
    return correlation_id, answer.decode(frame[body:], _NEWEST)


class BrokerLogin:
    """Implements `kproxy.upstream.authentication.Asked` on a non-blocking socket, one request at a time."""

    def __init__(self, broker: socket.socket, where: str) -> None:
        self._broker = ExactSocket(broker)
        self._where = where
        self._id = 0
        self._answers = 0
        self._has_ended = False

    @property
    def turned_away(self) -> bool:
        """True when the broker has ended the connection before it answered anything."""
        return self._has_ended and not self._answers

    async def request(self, message: Request, answer: type[Answer], limit: float) -> Answer:
        """Return the answer to `message` within `limit` seconds. Raises UpstreamError."""
        self._id += 1
        with trio.move_on_after(limit):
            try:
                await self._broker.send(question(message, self._id))
                return self._decoded(await self._frame(), message, answer)
            except OSError as error:
                self._has_ended = isinstance(error, ConnectionError)
                raise UpstreamError(f"{self._where}: {words(error)}") from error
            except MalformedMessageError as error:
                raise UpstreamError(f"{self._where}: {error}") from error
        raise UpstreamError(f"{self._where}: {silence(limit)}")

    def _decoded(self, frame: bytes, message: Request, answer: type[Answer]) -> Answer:
        self._answers += 1
        correlation_id, found = decoded(frame, message, answer)
        if correlation_id != self._id:
            raise UpstreamError(f"{self._where}: the broker answers what it was not asked")
        return found

    async def _frame(self) -> bytes:
        size = int.from_bytes(await self._exactly(_SIZE_BYTES), "big", signed=True)
        if not 0 < size <= _MOST_BYTES:
            raise UpstreamError(f"{self._where}: the broker answers with a frame of {size} bytes")
        return await self._exactly(size)

    async def _exactly(self, count: int) -> bytes:
        found = await self._broker.receive(count)
        if found is None:
            self._has_ended = True
            raise UpstreamError(f"{self._where}: {CLOSED}")
        return found
