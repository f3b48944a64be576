"""One HTTP/1.1 connection of the admin port.

`serve_admin` makes one for each client that gets a slot. h11 parses and formats the bytes, Trio moves them, and every
wait has a deadline.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import h11
import structlog
import trio

from kproxy.admin.commanders import Commanders
from kproxy.admin.dispatch import Room, Route, find
from kproxy.admin.lane import Lane
from kproxy.admin.limits import Limits
from kproxy.admin.message import HttpError, Request, Response, error_response
from kproxy.admin.request_reader import RequestReader, Step
from kproxy.admin.routes import ROUTES
from kproxy.admin.slots import HeldPages, Slot, Slots
from kproxy.admin.stream import Stream
from kproxy.admin.turns import AT_ONCE, Turn
from kproxy.admin.view import View
from kproxy.errors import CommandError
from kproxy.observe.faults import note
from kproxy.observe.troubles import Troubles, Where

_CHUNK: Final = 16 * 1024
_WRITE: Final = 64 * 1024
"""Bytes of a page that are handed to the system at a time."""
_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Common:
    """What all connections of an admin port share."""

    view: View
    limits: Limits
    hosts: Collection[str]
    """Names of kproxy in lower case, under which a web page may send commands."""
    slots: Slots
    held: HeldPages
    lanes: dict[Room, Lane]
    steps: trio.Semaphore
    """Taken for each step of reading a request."""
    troubles: Troubles
    """The process' own faults."""
    commanders: Commanders

    @classmethod
    def of(
        cls, view: View, limits: Limits, hosts: Collection[str], troubles: Troubles, commanders: Commanders
    ) -> Common:
        """What a new admin port has."""
        slots = Slots(limits.connections, limits.grace_seconds)
        lanes = {
            Room.PAGE: Lane("pages", limits.pages, limits.queue, limits.queue_seconds),
            Room.COMMAND: Lane("commands", limits.commands, limits.queue, limits.queue_seconds),
        }
        held = HeldPages(limits.held_bytes, slots)
        return cls(view, limits, hosts, slots, held, lanes, trio.Semaphore(AT_ONCE), troubles, commanders)


async def answer(route: Route, request: Request, common: Common) -> Response:
    """Run the route's handler; every exception becomes an error response."""
    try:
        return await route.handler(request, common.view)
    except (HttpError, CommandError) as error:
        return error_response(error)
    except Exception as error:
        note(common.troubles, Where.ADMIN, error, method=request.method, path=request.path)
        failure = HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, "a fault in kproxy; its log has the traceback")
        return error_response(failure)


async def linger(stream: Stream, seconds: float) -> None:
    """Give the client time to read the last response: closing with unread bytes would reset the connection."""
    with trio.move_on_after(seconds):
        await stream.send_eof()
        while await stream.receive_some(_CHUNK):
            pass


class Connection:
    """Serves one request after the other until the client, a deadline, an error or the need of others ends it."""

    def __init__(self, stream: Stream, slot: Slot, common: Common, refusal: HttpError | None = None) -> None:
        """`refusal` is why no request is served here; its client is told."""
        self._stream = stream
        self._refusal = refusal
        self._slot = slot
        self._common = common
        self._limits = common.limits
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=self._limits.header_bytes)
        self._reader = RequestReader(self._http, self._limits)

    async def serve(self) -> None:
        """Serve until the end. The caller closes the stream.

        Raises OSError when the client is gone, `trio.TooSlowError` when it does not read.
        """
        patience = self._limits.request_seconds
        while await self._request_begins(patience):
            if not await self._exchange():
                await linger(self._stream, self._limits.linger_seconds)
                return
            self._http.start_next_cycle()
            patience = self._limits.idle_seconds

    async def _request_begins(self, seconds: float) -> bool:
        self._reader.begin()
        if self._http.trailing_data[0]:  # pipelined: the next request is already here
            return True
        data = b""
        with trio.move_on_after(seconds):
            data = await self._stream.receive_some(_CHUNK)
        if data:
            self._reader.receive(data)
        return bool(data)

    async def _exchange(self) -> bool:
        """Serve one request; returns whether another may follow on this connection."""
        try:
            with trio.fail_after(self._limits.request_seconds):
                request = await self._read_request()
        except trio.TooSlowError:
            return await self._refuse(HttpError(HTTPStatus.REQUEST_TIMEOUT, "the request did not come in time"))
        except HttpError as error:
            return await self._refuse(self._refusal or error)
        if self._refusal is not None:
            return await self._refuse(self._refusal)
        try:
            return await self._respond(request)
        except HttpError as error:
            return await self._send(error_response(error))

    async def _refuse(self, error: HttpError) -> bool:
        response = error_response(error)
        headers = {**response.headers, "Connection": "close"}  # the start of the next request is unknown
        await self._send(Response(response.status, response.content_type, response.body, headers))
        return False

    async def _read_request(self) -> Request:
        while True:
            while not self._reader.ready:
                self._common.slots.slow(self._slot)
                self._reader.receive(await self._stream.receive_some(_CHUNK))
            self._common.slots.protect(self._slot, trio.current_time() + self._limits.answer_grace)
            async with self._common.steps:
                step = self._reader.step()
            if step is Step.DONE:
                return self._reader.request()
            self._common.slots.wait(self._slot)
            if step is Step.DATA:
                await self._ask_for_more()
                self._reader.receive(await self._stream.receive_some(_CHUNK))

    async def _ask_for_more(self) -> None:
        if self._http.they_are_waiting_for_100_continue:
            go_on = h11.InformationalResponse(status_code=HTTPStatus.CONTINUE, headers=[])
            await self._write(self._http.send(go_on) or b"")

    async def _respond(self, request: Request) -> bool:
        """Answer a request in its room; raises `HttpError` when it cannot be served, or not now."""
        route, request = find(ROUTES, request, self._common.hosts)
        lane = self._common.lanes.get(route.room)
        if lane is None:
            return await self._send(await answer(route, request, self._common))
        self._common.slots.wait(self._slot)
        client = self._stream.client
        if route.room is Room.COMMAND:  # before it takes a place that others wait for
            await self._common.commanders.check(request, client, self._common.view)
        async with lane.entered():
            if not self._common.slots.work(self._slot):
                return False
            response = await answer(route, request, self._common)
            if route.room is Room.COMMAND:
                self._common.commanders.report(request, client, self._common.view, response.status)
            return await self._send(response, lane)

    async def _send(self, response: Response, lane: Lane | None = None) -> bool:
        """Send the response; returns whether the connection stays usable.

        A client in a lane may be ended for others.
        """
        with_body = not self._reader.asks_for_head
        self._common.slots.wait(self._slot)
        with trio.fail_after(self._limits.response_seconds):
            if isinstance(response.body, bytes):
                await self._send_whole(response, response.body, with_body, lane)
            elif not await self._send_pieces(response, response.body, with_body, lane):
                return False
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    async def _send_whole(self, response: Response, body: bytes, with_body: bool, lane: Lane | None) -> None:
        parts = [self._head(response, {"Content-Length": str(len(body))})]
        if with_body and len(body) <= _WRITE:
            parts.append(self._http.send(h11.Data(data=body)) or b"")
        elif with_body:
            await self._write(b"".join(parts), lane)
            parts = []
            await self._send_large(body, lane)
        parts.append(self._http.send(h11.EndOfMessage()) or b"")
        await self._write(b"".join(parts), lane)

    async def _send_large(self, body: bytes, lane: Lane | None) -> None:
        """Send a large page without a copy of it."""
        self._common.held.hold(body, self._slot)
        try:
            for start in range(0, len(body), _WRITE):
                await self._write(self._http.send(h11.Data(data=body[start : start + _WRITE])) or b"", lane)
        finally:
            self._common.held.release(body, self._slot)

    async def _send_pieces(
        self, response: Response, pieces: Iterator[bytes], with_body: bool, lane: Lane | None
    ) -> bool:
        """Send pieces as they are made; returns False when one could not be made: the client sees no end then."""
        await self._write(self._head(response, {}), lane)
        turn, ready = Turn(), bytearray()
        try:
            for piece in pieces if with_body else ():
                ready += piece
                if len(ready) >= _CHUNK:
                    await self._write(self._http.send(h11.Data(data=bytes(ready))) or b"", lane)
                    ready.clear()
                await turn.pause()
        except (OSError, trio.TooSlowError):
            raise
        except Exception as error:  # of a page that could not be made to its end
            note(self._common.troubles, Where.ADMIN, error)
            return False
        parts = [self._http.send(h11.Data(data=bytes(ready)))] if ready else []
        parts.append(self._http.send(h11.EndOfMessage()))
        await self._write(b"".join(part for part in parts if part), lane)
        return True

    def _head(self, response: Response, framing: dict[str, str]) -> bytes:
        headers = {"Content-Type": response.content_type, **framing, **_HEADERS, **response.headers}
        head = h11.Response(status_code=response.status, reason=response.status.phrase, headers=list(headers.items()))
        return self._http.send(head) or b""

    async def _write(self, data: bytes, lane: Lane | None = None) -> None:
        """Write all bytes; raises `trio.TooSlowError` when the client takes none while others wait in the lane."""
        left = memoryview(data)
        while left:
            with trio.move_on_after(self._limits.stall_seconds) as patience:
                sent = await self._stream.send_some(left)
                left = left[sent:]
                self._common.slots.wait(self._slot)
            if patience.cancelled_caught and lane is not None and lane.wanted:
                raise trio.TooSlowError
