"""One connection to a broker: many requests in flight, answered in order; any doubt about the order ends it.

`open_session` opens one for kproxy's own requests, and `Session` calls `exchange` for each of them. Relayed connections
are in kproxy.relay.
"""

from __future__ import annotations

import ssl
from typing import Final

import trio

from kproxy.errors import MalformedMessageError, UpstreamError
from kproxy.observe.faults import boundary
from kproxy.observe.troubles import Troubles, Where
from kproxy.upstream.dial import reason
from kproxy.upstream.frames import FrameSplitter, InFlight
from kproxy.upstream.tls import said
from kproxy.wire.apis import APIS
from kproxy.wire.header import RequestHeader, decode_response_header, encode_request_header
from kproxy.wire.primitives import frame

MAX_IN_FLIGHT: Final = 128
"""Unanswered requests on one connection; more wait for a place. A broker works on one at a time anyway."""

_CHUNK: Final = 65536


class _Exchange:
    """A request under way. When its caller has left, nothing waits for `done`, and the answer is dropped with it."""

    __slots__ = ("answer", "api_key", "api_version", "body_at", "done")

    def __init__(self, api_key: int, api_version: int) -> None:
        self.api_key = api_key
        self.api_version = api_version
        self.answer: bytes | None = None
        self.body_at = 0
        self.done = trio.Event()


class Connection:
    """A stream on which `run` reads and writes while any number of tasks call `exchange`."""

    def __init__(
        self,
        stream: trio.abc.Stream,
        where: str,
        *,
        client_id: str,
        max_response: int,
        troubles: Troubles | None = None,
    ) -> None:
        self.where = where
        self._troubles = troubles or Troubles()
        self.error: UpstreamError | None = None
        self.hint = ""
        """What to do when the broker closes the connection instead of answering."""
        self._stream = stream
        self._client_id = client_id
        self._in_flight: InFlight[_Exchange] = InFlight()
        self._places = trio.Semaphore(MAX_IN_FLIGHT)
        self._splitter = FrameSplitter(max_response)
        # As many frames fit as there are places: queueing never waits, and a cancelled caller cuts no frame.
        self._outbox, self._to_send = trio.open_memory_channel[bytes](MAX_IN_FLIGHT)
        self._scope = trio.CancelScope()
        self._callers = 0
        self._retired = ""

    async def run(self) -> None:
        """Read and write until the connection fails or the task is cancelled; then close the stream.

        A fault ends the connection: its client holds all connections in one nursery.
        """
        try:
            with boundary(self._troubles, Where.UPSTREAM), self._scope:
                async with self._stream, trio.open_nursery() as nursery:
                    nursery.start_soon(self._write)
                    nursery.start_soon(self._read)
        finally:
            self.fail("kproxy closed the connection")

    def fail(self, why: str) -> None:
        """End the connection: every request in flight, and every later one, raises UpstreamError with `why`."""
        if self.error is not None:
            return
        self.error = UpstreamError(f"{self.where}: {why}")
        self._scope.cancel()
        for exchange in self._in_flight.drain():
            exchange.done.set()
            self._places.release()

    def retire(self, why: str) -> None:
        """End the connection once no caller waits on it, at once when none does; until then it works as before."""
        self._retired = why
        self._end_when_left()

    def _end_when_left(self) -> None:
        if self._retired and not self._callers:
            self.fail(self._retired)

    async def exchange(self, api_key: int, api_version: int, body: bytes, limit: float) -> tuple[bytes, int]:
        """Send a request; return the response's frame and the position of its body.

        Raises UpstreamError. After `limit` seconds without an answer the connection ends: what is due next would be in
        doubt. A caller that is cancelled earlier leaves the connection as it is.
        """
        self._callers += 1
        try:
            with trio.move_on_after(limit):
                return await self._exchange(_Exchange(api_key, api_version), body)
            self.fail(
                f"no answer to {APIS[api_key].name} v{api_version} within {limit:g} s; "
                "check the broker's load and the network, or raise the request timeout"
            )
            raise self._failure()
        finally:
            self._callers -= 1
            self._end_when_left()

    async def _exchange(self, exchange: _Exchange, body: bytes) -> tuple[bytes, int]:
        await self._places.acquire()
        if self.error is not None:
            self._places.release()
            raise self._failure()
        self._send(self._frame(exchange, body))
        await exchange.done.wait()
        if exchange.answer is None:
            raise self._failure()
        return exchange.answer, exchange.body_at

    def _frame(self, exchange: _Exchange, body: bytes) -> bytes:
        correlation_id = self._in_flight.push(exchange)
        header = RequestHeader(exchange.api_key, exchange.api_version, correlation_id, self._client_id)
        return frame(encode_request_header(header), body)

    def _send(self, request: bytes) -> None:
        try:
            self._outbox.send_nowait(request)
        except trio.WouldBlock:
            # Places are free and yet the outbox is full: answers came to requests that never went out.
            self.fail("the broker answers what it was not asked; check that a Kafka broker listens there")

    def _failure(self) -> UpstreamError:
        # A new object for each waiter: one exception raised in several tasks would mix their tracebacks.
        return UpstreamError(str(self.error))

    async def _write(self) -> None:
        try:
            async for first in self._to_send:
                await self._stream.send_all(first + self._queued())
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            self.fail(f"sending failed ({_cause(error)}); the broker went away or closed the connection")

    def _queued(self) -> bytes:
        frames = []
        while self._to_send.statistics().current_buffer_used:
            frames.append(self._to_send.receive_nowait())
        return b"".join(frames)

    async def _read(self) -> None:
        try:
            while data := await self._stream.receive_some(_CHUNK):
                for response in self._splitter.feed(data):
                    self._answered(response)
            self.fail(self._end())
        except MalformedMessageError as error:
            self.fail(f"{error}; check that a Kafka broker listens there; is it one that speaks TLS (upstream_tls)?")
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            self.fail(f"reading failed ({_cause(error)}); the broker went away")

    def _answered(self, response: bytes) -> None:
        exchange = self._in_flight.answered(int.from_bytes(response[:4], "big", signed=True))
        # The place is free and the caller must wake up even when the header proves malformed.
        self._places.release()
        try:
            _, exchange.body_at = decode_response_header(
                response, 0, len(response), exchange.api_key, exchange.api_version
            )
            exchange.answer = response
        finally:
            exchange.done.set()

    def _end(self) -> str:
        if self._splitter.pending:
            return f"the broker closed the connection inside a response, after {self._splitter.pending} bytes of it"
        if self._in_flight:
            return f"the broker closed the connection with {len(self._in_flight)} requests unanswered{self.hint}"
        return "the broker closed the idle connection"


def _cause(error: Exception) -> str:
    if isinstance(error.__cause__, ssl.SSLError):
        return said(error.__cause__)
    return reason(error.__cause__) if isinstance(error.__cause__, OSError) else "connection closed"
