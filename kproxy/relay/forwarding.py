"""How a response goes on to the client: as it is, rewritten as a whole, or walked and changed as it arrives. Pure."""

from __future__ import annotations

from abc import abstractmethod
from struct import Struct
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk, Route
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.relay.flow import Flow, Outlet
from kproxy.wire.header import decode_response_header
from kproxy.wire.skim import ResponseStream, response_stream

_INT16: Final = Struct(">h")
_INT32: Final = Struct(">i")
_MAX_HEADER: Final = 64
"""More than any response header before a stream: size, correlation id, an empty or small section of tagged fields."""
_MAX_ELEMENT: Final = 4 << 20
"""More than any one partition's fields before its records: aborted transactions are 16 bytes each."""


class Forwarding(Flow):
    """A flow of responses; `held_limit` bounds what is held of one that must be whole.

    Positions are in the buffer under scan. Who looks at a frame returns the position reached and, to be shown more, how
    many bytes from there on.
    """

    __slots__ = ("_held_limit", "_left", "_route", "_start", "_stream", "context")

    def __init__(self, context: Context, client: Outlet, held_limit: int) -> None:
        super().__init__(sink=client)
        self.context = context
        self._held_limit = held_limit
        self._start = 0  # of the span that is not handed on yet
        self._route: Route | None = None  # of the frame that is walked
        self._stream: ResponseStream | None = None
        self._left = 0  # bytes of that frame which the stream has not seen

    @abstractmethod
    def _finish(self, buf: Chunk, pos: int) -> None:
        """The frame that ends at `pos` is complete."""

    def _hand_on(self, buf: Chunk, pos: int, end: int) -> None:
        """Send the span before `pos`; what is between that and `end` does not go on as it is."""
        if pos > self._start:
            self.sink.send(buf[self._start : pos])
        self._start = end

    def _pass(self, route: Route, buf: Chunk, pos: int, frame: int) -> tuple[int, int]:
        """Let a frame through as it is, once its error code was seen."""
        if len(buf) - pos < min(route.judged, frame):
            return pos, min(route.judged, frame)
        if route.error_at is not None and frame >= route.judged:
            (code,) = _INT16.unpack_from(buf, pos + route.error_at)
            if code:
                route.counters.count_error(code)
        route.counters.response_bytes += frame
        self.passing = frame
        return pos, 0

    def _rewrite(self, route: Route, buf: Chunk, pos: int, frame: int) -> None:
        """Send a frame that is there whole as its offer wants it."""
        end = pos + frame
        glance = route.glance
        nothing = glance is not None and glance.nothing(buf, pos + 4, end)
        chunks = None if nothing else route.respond(self.context, memoryview(buf)[pos + 4 : end])
        if chunks is not None:
            self._hand_on(buf, pos, end)
            frame = 4 + sum(map(len, chunks))
            self.sink.send_frame(_INT32.pack(frame - 4), chunks)
        route.counters.response_bytes += frame
        self._finish(buf, end)

    def _open(self, route: Route, buf: Chunk, pos: int, frame: int) -> tuple[int, int]:
        """Begin to walk a frame that is not whole in one buffer."""
        if len(buf) - pos < min(_MAX_HEADER, frame):
            return pos, min(_MAX_HEADER, frame)
        _, body = decode_response_header(buf, pos + 4, len(buf), route.api_key, route.version)
        self._route = route
        self._stream = response_stream(route.api_key, route.version)
        assert self._stream is not None, f"api {route.api_key} v{route.version} does not stream"
        self._left = frame - (body - pos)
        route.counters.response_bytes += frame
        return body, 0

    def _walk(self, buf: Chunk, pos: int) -> tuple[int, int]:
        """Walk a frame that streams, from records to records, which need no look."""
        stream = self._stream
        assert stream is not None
        seen = stream.feed(buf, pos, min(len(buf), pos + self._left))
        self._left -= seen - pos
        there = len(buf) - seen
        if stream.at_tail:
            return self._tail(stream, buf, seen)
        if stream.skip >= self._left:  # more fields must come
            raise Fault(Reason.MALFORMED_RESPONSE, "records or fields reach beyond their frame")
        if stream.skip:
            self.passing = stream.skip
            self._left -= stream.skip
            return seen, 0
        if there == 0:
            return seen, 0
        if there >= min(self._left, _MAX_ELEMENT):
            raise Fault(Reason.MALFORMED_RESPONSE, "a partition that does not end")
        return seen, min(self._left, max(256, 2 * there))

    def _tail(self, stream: ResponseStream, buf: Chunk, pos: int) -> tuple[int, int]:
        """The end of a streamed frame, where NodeEndpoints are (KIP-951): its length is out, so it stays as it is."""
        if len(buf) - pos < self._left:
            if self._left > self._held_limit:
                raise Fault(Reason.FRAME_TOO_LARGE, f"{self._left} bytes after the records")
            return pos, self._left
        end = pos + self._left
        tail = bytes(buf[pos:end])
        replaced = stream.neutralise(tail, self.context.advertise)
        if replaced != tail:
            self._hand_on(buf, pos, end)
            self.sink.send(replaced)
        assert self._route is not None
        for code in stream.errors:
            self._route.counters.count_error(code)
        self._stream = None
        self._finish(buf, end)
        return end, 0
