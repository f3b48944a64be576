"""One HTTP/1.1 connection of the admin port, and the limits for all of them.

kproxy.admin.server makes one for each client that gets a slot. h11 parses and formats the bytes, Trio moves them, and
every wait has a deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import h11
import structlog
import trio

from kproxy.admin.dispatch import find
from kproxy.admin.message import HttpError, Request, Response, error_response, split_target
from kproxy.admin.routes import ROUTES
from kproxy.admin.view import View
from kproxy.errors import CommandError

_CHUNK: Final = 16 * 1024
_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much the clients of the admin port may use: connections, bytes of a request, and seconds."""

    connections: int = 64
    header_bytes: int = 16 * 1024
    body_bytes: int = 64 * 1024
    idle_seconds: float = 120
    """Between two requests; above a minute, so that Prometheus keeps its connection between scrapes."""
    request_seconds: float = 10
    response_seconds: float = 30
    linger_seconds: float = 1


class Slots:
    """At most `limit` connections: when all slots are taken, a new connection ends the one that is idle longest.

    So clients that hold connections open cannot keep the kubelet's probes out.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken = 0
        self._idle: dict[trio.CancelScope, None] = {}

    @contextmanager
    def taken(self) -> Iterator[bool]:
        """Hold a slot during the block; yields False, and holds none, when every slot is busy."""
        room = self._taken < self._limit or self._evict()
        self._taken += room
        try:
            yield room
        finally:
            self._taken -= room

    @contextmanager
    def idle(self, seconds: float) -> Iterator[trio.CancelScope]:
        """Count as idle during the block, which is cancelled after `seconds` or when the slot is needed."""
        with trio.move_on_after(seconds) as scope:
            self._idle[scope] = None
            try:
                yield scope
            finally:
                self._idle.pop(scope, None)

    def _evict(self) -> bool:
        for scope in self._idle:
            del self._idle[scope]
            scope.cancel()
            return True
        return False


def _joined(fields: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; repeated ones are joined by commas (RFC 9110, 5.3)."""
    headers: dict[str, str] = {}
    for name, value in ((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields):
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


async def answer(request: Request, view: View) -> Response:
    """Run the request's handler; every exception becomes an error response."""
    try:
        handler, request = find(ROUTES, request)
        return await handler(request, view)
    except (HttpError, CommandError) as error:
        return error_response(error)
    except Exception:
        log.exception("admin request failed", method=request.method, path=request.path)
        failure = HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, "a fault in kproxy; its log has the traceback")
        return error_response(failure)


async def linger(stream: trio.SocketStream, seconds: float) -> None:
    """Give the client time to read the last response: closing with unread bytes would reset the connection."""
    with trio.move_on_after(seconds):
        await stream.send_eof()
        while await stream.receive_some(_CHUNK):
            pass


class Connection:
    """Serves one request after the other until the client, a deadline or an error ends the connection."""

    def __init__(self, stream: trio.SocketStream, view: View, limits: Limits, slots: Slots) -> None:
        self._stream = stream
        self._view = view
        self._limits = limits
        self._slots = slots
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.header_bytes)

    async def serve(self) -> None:
        """Serve until the end. The caller closes the stream.

        Raises `trio.BrokenResourceError` when the client is gone, `trio.TooSlowError` when it does not read.
        """
        patience = self._limits.request_seconds
        while await self._request_begins(patience):
            if not await self._exchange():
                await linger(self._stream, self._limits.linger_seconds)
                return
            self._http.start_next_cycle()
            patience = self._limits.idle_seconds

    async def _request_begins(self, seconds: float) -> bool:
        if self._http.trailing_data[0]:  # pipelined: the next request is already here
            return True
        data = b""
        with self._slots.idle(seconds):
            data = await self._stream.receive_some(_CHUNK)
        if data:
            self._http.receive_data(data)
        return bool(data)

    async def _exchange(self) -> bool:
        """Serve one request; returns whether another may follow on this connection."""
        try:
            with trio.fail_after(self._limits.request_seconds):
                request = await self._read_request()
        except h11.RemoteProtocolError as error:
            return await self._refuse(HttpError(HTTPStatus(error.error_status_hint), f"cannot be read: {error}"))
        except trio.TooSlowError:
            return await self._refuse(HttpError(HTTPStatus.REQUEST_TIMEOUT, "the request did not come in time"))
        except HttpError as error:
            return await self._refuse(error)
        response = await answer(request, self._view)
        return await self._send(response, with_body=request.method != "HEAD")

    async def _refuse(self, error: HttpError) -> bool:
        response = error_response(error)
        headers = {**response.headers, "Connection": "close"}  # the start of the next request is unknown
        await self._send(Response(response.status, response.content_type, response.body, headers))
        return False

    async def _read_request(self) -> Request:
        head = await self._next_event()
        assert isinstance(head, h11.Request)  # h11 has bytes, and makes them a request or an error
        if not head.http_version.startswith(b"1."):
            raise HttpError(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, "HTTP/1.1 is what is spoken here")
        body = bytearray()
        while isinstance(event := await self._next_event(), h11.Data):
            body += event.data
            if len(body) > self._limits.body_bytes:
                reason = f"a body of at most {self._limits.body_bytes} bytes is read"
                raise HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
        path, query = split_target(head.target.decode("latin-1"))
        return Request(head.method.decode("latin-1"), path, query, _joined(head.headers), bytes(body))

    async def _next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next event, never `NEED_DATA`, although the type cannot exclude it."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=HTTPStatus.CONTINUE, headers=[])
                await self._stream.send_all(self._http.send(go_on) or b"")
            self._http.receive_data(await self._stream.receive_some(_CHUNK))
        return event

    async def _send(self, response: Response, *, with_body: bool = True) -> bool:
        """Send head and body at once; returns whether the connection stays usable."""
        headers = {
            "Content-Type": response.content_type,
            "Content-Length": str(len(response.body)),
            **_HEADERS,
            **response.headers,
        }
        head = h11.Response(status_code=response.status, reason=response.status.phrase, headers=list(headers.items()))
        parts = [self._http.send(head)]
        if with_body:
            parts.append(self._http.send(h11.Data(data=response.body)))
        parts.append(self._http.send(h11.EndOfMessage()))
        with trio.fail_after(self._limits.response_seconds):
            await self._stream.send_all(b"".join(part for part in parts if part))
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
