# This module is pure (no I/O, no clock).
"""Makes one request after the other of the bytes of a connection, in steps of bounded work, or says what is wrong.

`Connection` feeds it what it receives. h11 parses; what h11 takes and a gateway in front of kproxy may read otherwise
(request smuggling), or what costs too much, is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from http import HTTPStatus
from typing import Final

import h11

from kproxy.admin.limits import Limits
from kproxy.admin.message import HttpError, Request, split_target

_HEAD_END: Final = re.compile(rb"\n\r?\n")
_TLS: Final = b"\x16"
"""The type of the record in which a TLS client says hello."""
_EVENTS: Final = 32
"""Of h11, in one step: a chunk is an event, and may be of one byte."""
_WIRE_FACTOR: Final = 8
"""How much longer than itself a body may be on the wire: chunks of one byte take six."""


class Step(Enum):
    """What a step has come to."""

    DONE = "the request is complete"
    DATA = "more bytes are needed"
    AGAIN = "another step is needed"


class RequestReader:
    """Reads the requests of one connection. Every method raises `HttpError` when a request cannot be served."""

    def __init__(self, http: h11.Connection, limits: Limits) -> None:
        self._http = http
        self._limits = limits
        self._head: h11.Request | None = None
        self._body = bytearray()
        self._received = 0
        self._ended = False

    @property
    def ready(self) -> bool:
        """Whether a step can come to something: a head is complete or wrong, or a body has begun.

        Bytes of a slow head cost no more than this look.
        """
        if self._head is not None or self._ended:
            return True
        head, _ = self._http.trailing_data
        wrong = head[:1] < b"!" or len(head) > self._limits.header_bytes
        return bool(head) and (wrong or _HEAD_END.search(head) is not None)

    @property
    def asks_for_head(self) -> bool:
        """True when the request, as far as it was read, is a HEAD: its response has no body, an error neither."""
        return self._head is not None and self._head.method == b"HEAD"

    def begin(self) -> None:
        """Begin with a request; its first bytes may be here."""
        self._head = None
        self._body = bytearray()
        self._received = 0

    def receive(self, data: bytes) -> None:
        """Take what the client sent; no bytes: it sends nothing more."""
        self._received += len(data)
        self._ended = not data
        self._http.receive_data(data)

    def step(self) -> Step:
        """Read on."""
        for _ in range(_EVENTS):
            if self._head is None:
                self._check_lines()
            event = self._next_event()
            if event is h11.NEED_DATA:
                self._check_wire()
                return Step.DATA
            if isinstance(event, h11.Request):
                self._head = event
                self._check_head(event)
            elif isinstance(event, h11.Data):
                self._take(event)
            else:
                return Step.DONE
        return Step.AGAIN

    def request(self) -> Request:
        """Return the request, when it is done."""
        assert self._head is not None
        path, query = split_target(self._head.target.decode("latin-1"))
        headers = _joined(self._head.headers)
        return Request(self._head.method.decode("latin-1"), path, query, headers, bytes(self._body))

    def _next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        begins = self._http.trailing_data[0][:1] if self._head is None else b""
        try:
            return self._http.next_event()
        except h11.RemoteProtocolError as error:
            if begins == _TLS:
                reason = "this is TLS; the admin port speaks plain HTTP: use http://"
                raise HttpError(HTTPStatus.BAD_REQUEST, reason) from error
            raise HttpError(HTTPStatus(error.error_status_hint), f"cannot be read: {error}") from error

    def _check_lines(self) -> None:
        """Refuse a head of many lines before h11 parses all of them at once."""
        head, _ = self._http.trailing_data
        end = _HEAD_END.search(head)
        if end is not None and head.count(b"\n", 0, end.start()) > self._limits.header_lines:
            reason = f"a request of at most {self._limits.header_lines} header lines is read"
            raise HttpError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, reason)

    def _check_head(self, head: h11.Request) -> None:
        if not head.http_version.startswith(b"1."):
            raise HttpError(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, "HTTP/1.1 is what is spoken here")
        framing = {name: value for name, value in head.headers if name in (b"content-length", b"transfer-encoding")}
        if len(framing) == 2:  # RFC 9112, 6.1: an attempt at smuggling
            raise HttpError(HTTPStatus.BAD_REQUEST, "both Content-Length and Transfer-Encoding say where the body ends")
        if b"transfer-encoding" in framing and head.http_version < b"1.1":
            raise HttpError(HTTPStatus.BAD_REQUEST, "HTTP/1.0 has no Transfer-Encoding")
        if int(framing.get(b"content-length", b"0")) > self._limits.body_bytes:
            raise self._too_large()

    def _take(self, data: h11.Data) -> None:
        self._body += data.data
        if len(self._body) > self._limits.body_bytes:
            raise self._too_large()

    def _check_wire(self) -> None:
        """Refuse a body whose chunks are mostly extensions: h11 does not count these."""
        if self._received > self._limits.header_bytes + _WIRE_FACTOR * self._limits.body_bytes:
            raise self._too_large()

    def _too_large(self) -> HttpError:
        reason = f"a body of at most {self._limits.body_bytes} bytes is read"
        return HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)


def _joined(fields: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; repeated ones are joined by commas (RFC 9110, 5.3)."""
    headers: dict[str, str] = {}
    for name, value in ((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields):
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
