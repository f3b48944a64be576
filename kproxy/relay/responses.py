# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The broker's bytes: matches each frame with the request it answers, and rewrites it where a policy says so.

`Connection` calls `feed` with whatever it reads from the broker.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk, OnResponse, Route
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Deferred, Incremental
from kproxy.relay.broker_dialogue import BrokerDialogue
from kproxy.relay.flow import SHIFT, TURN, UNTIL_RESUMED, Flow, Outlet, Owner
from kproxy.relay.in_flight import Expected, InFlight
from kproxy.relay.local_responses import LocalResponses
from kproxy.relay.response_errors import count, count_codes
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import decode_response_header
from kproxy.wire.skim import ResponseStream, response_stream

_HEAD: Final = Struct(">ii")
"""Size and correlation id: the start of every response."""
_unpack_head: Final = _HEAD.unpack_from
HEAD_BYTES: Final = _HEAD.size
_ASKED: Final = Struct(">4xhh")
"""Api key and version, behind the size of a request."""
_VERSIONS_ALIKE: Final = ApiKey.SASL_HANDSHAKE
"""An API whose responses are the same in all versions; kproxy asks by v1 for a client that sends v0."""
_NOTHING: Final = b""
_PASS: Final = OnResponse.PASS
_STREAM: Final = OnResponse.STREAM
_INT32: Final = Struct(">i")
_MAX_HEADER: Final = 64
"""More than any response header before a stream: size, correlation id, an empty or small section of tagged fields."""
_MAX_ELEMENT: Final = 4 << 20
"""More than any partition's fields before its records: an aborted transaction is 16 bytes."""


class ResponseFlow(Flow):
    """What one broker sends; `limit` bounds a frame, `held_limit` what is held of one that must be whole.

    Positions are in the buffer under scan. A method that looks at a frame returns the position reached, and how many
    bytes it needs from there on to go on, 0 for any.
    """

    __slots__ = (
        "_begun",
        "_finished",
        "_finished_last",
        "_in_flight",
        "_left",
        "_own",
        "_route",
        "_start",
        "_stream",
        "context",
        "held_limit",
        "limit",
        "meters",
        "waiting",
    )

    def __init__(
        self,
        in_flight: InFlight,
        context: Context,
        client: Outlet,
        own: LocalResponses,
        limit: int,
        held_limit: int,
        owner: Owner,
    ) -> None:
        super().__init__(client, owner)
        self.context = context
        self.held_limit = held_limit
        self._start = 0  # of the span that is not handed on yet
        self._route: Route | None = None  # of the frame that is walked
        self._stream: ResponseStream | None = None
        self._left = 0  # bytes of that frame which the stream has not seen
        self._in_flight = in_flight
        self._own = own
        self.limit = limit
        self._begun: Expected | None = None
        self._finished: Expected | None = None  # of what was fed last: the first, linked to the others by `behind`
        self._finished_last: Expected | None = None
        self.meters = False
        """True when a frame's first bytes may have to change where they lie."""
        self.waiting = False
        """True while bytes are held behind a deferred response or for the next turn: the broker is not to be read."""

    @property
    def under_way(self) -> bool:
        """True while a frame is not complete, or is held behind a parked answer."""
        return self._begun is not None or self._held is not None

    def feed(self, buf: Chunk, now: float) -> Chunk | None:
        """Take what the broker sent; return the end of it, which is to be sent to the client as it is.

        Raises `Fault` when both must be closed. `buf` may be reused once the returned part is sent.
        """
        pos = 0
        self._turn = TURN
        if self.meters and isinstance(buf, bytes):
            buf = memoryview(bytearray(buf))
        if self._held is not None:
            pos = self._complete(buf, now)
            if pos < 0:
                return None
        return self._scan(buf, pos, now)

    def moved(self, count: int) -> None:
        """Note that `count` of the `passing` bytes went to the client by another way (splice)."""
        self.passing -= count
        if not self.passing and self._stream is None:
            self._start = 0
            self._finish(_NOTHING, 0)

    def _scan(self, buf: Chunk, pos: int, now: float) -> Chunk | None:
        """Look at the frames from `pos` on; return what of them is still to be sent."""
        self._start, end = pos, len(buf)
        while pos < end:
            if self.passing:
                step = min(self.passing, end - pos)
                self.passing -= step
                pos += step
                if self.passing == 0 and self._stream is None:
                    self._finish(buf, pos)
                continue
            if self._turn <= 0:
                need = self._wait()
                self._rest()
            else:
                self._turn -= 1
                pos, need = self._walk(buf, pos) if self._stream is not None else self._begin(buf, pos, now)
            if need:
                self._hold(buf, self._start, pos, need)
                return None
        if pos == self._start:
            return None
        return buf[self._start :] if self._start else buf

    def _begin(self, buf: Chunk, pos: int, now: float) -> tuple[int, int]:
        """Look at the first bytes of a frame, and decide how it is treated."""
        there = len(buf) - pos
        if there < HEAD_BYTES:
            return pos, HEAD_BYTES
        head: tuple[int, int] = _unpack_head(buf, pos)
        size, correlation_id = head
        frame = size + 4
        expected = self._begun
        if expected is None:
            expected = self._in_flight.first
            if expected is None:
                raise Fault(Reason.MALFORMED_RESPONSE, "the broker sent what nobody asked for")
            if expected.answer is not None and isinstance(expected.answer, Deferred):
                return pos, self._wait()
            if expected.correlation_id != correlation_id or not 4 <= size <= self.limit:
                raise self._not_that(expected, size, correlation_id)
            self._begun = expected
            expected.first_byte = now
        route = expected.route
        if expected.answer is None:
            if route.on_response is _PASS:
                return self._pass(route, buf, pos, frame)
            if there < frame and route.on_response is _STREAM:
                return self._open(route, buf, pos, frame)
        if there >= frame:
            if expected.answer is None:
                self._rewrite(route, buf, pos, frame)
            else:
                self._step(expected, buf, pos, frame, now)
            return pos + frame, 0
        if frame > self.held_limit:
            detail = f"a response of {size} bytes must be held, the limit is {self.held_limit}"
            raise Fault(Reason.FRAME_TOO_LARGE, detail, route.api_key)
        self._arriving = route.walk_response() if _is_of_route(expected) else None
        return pos, frame

    def _meter(self, route: Route, buf: Chunk, pos: int, frame: int) -> None:
        """Count a frame, and tell the client for how long it is throttled; what the broker tells may be longer."""
        assert route.response_meter is not None
        assert self._begun is not None
        milliseconds = route.response_meter(self.context, frame, self._begun.first_byte)
        if not milliseconds:
            return
        self._owner.throttle(milliseconds / 1000)
        if not route.tells_throttle:
            return
        at = pos + route.body_at
        if frame < route.body_at + 4 or buf[pos + HEAD_BYTES : at] not in (b"", b"\0"):
            return  # no broker sends tagged fields in this header; the field would be elsewhere
        (told,) = _INT32.unpack_from(buf, at)
        if milliseconds > told:
            _INT32.pack_into(buf, at, milliseconds)

    def _wait(self) -> int:
        """Return the `need` of `_hold` for what comes from here on."""
        self.waiting = True
        return UNTIL_RESUMED

    def _not_that(self, expected: Expected, size: int, correlation_id: int) -> Fault:
        key = expected.route.api_key
        if expected.correlation_id != correlation_id:
            detail = f"the broker answered request {correlation_id}, next is {expected.correlation_id}"
            return Fault(Reason.CORRELATION_MISMATCH, detail, key)
        reason = Reason.FRAME_TOO_LARGE if size > self.limit else Reason.INVALID_FRAME_SIZE
        return Fault(reason, f"a response of {size} bytes", key)

    def _step(self, expected: Expected, buf: Chunk, pos: int, frame: int, now: float) -> None:
        """Handle a response to the proxy's own question: ask the broker more, or answer the client."""
        dialogue = expected.answer
        assert isinstance(dialogue, BrokerDialogue)
        end = pos + frame
        self._hand_on(buf, pos, end)
        chunks = None
        if _is_of_route(expected):
            self._count_errors(expected.route, buf, pos, frame)
            chunks = self._respond(expected.route, buf, pos + 4, end)
        answer = dialogue.step(bytes(buf[pos + 4 : end]) if chunks is None else b"".join(chunks))
        if answer is None:
            self._begun = None
            # Count the broker's time as one stretch: the rest is the proxy's.
            expected.sent = now - (expected.first_byte - expected.sent)
            self._own.ask(expected, dialogue)
            return
        if dialogue.own:
            self._begun = None
            self._in_flight.pop()
        elif answer.frame is not None:
            expected.route.counters.response_bytes += len(answer.frame)
            if answer.frame:  # a broker does not answer the last token of GSSAPI
                self.sink.send(answer.frame)
            self._finish(buf, end)
        else:
            assert isinstance(answer, Deferred)
            self._begun = None
            self._own.park(expected, answer)
            if isinstance(answer, Incremental):
                dialogue.requests.wait_for(answer)
                return
        dialogue.requests.go_on(now)

    def _hand_on(self, buf: Chunk, pos: int, end: int) -> None:
        """Send the span before `pos`; the bytes from there to `end` are not sent as they are."""
        if pos > self._start:
            self.sink.send(buf[self._start : pos])
        self._start = end

    def _pass(self, route: Route, buf: Chunk, pos: int, frame: int) -> tuple[int, int]:
        """Let a frame through as it is, once its error codes were seen."""
        need = frame if frame <= route.gathers and frame <= self.held_limit else min(route.head_bytes, frame)
        if len(buf) - pos < need:
            return pos, need
        if route.response_meter is not None:
            self._meter(route, buf, pos, frame)
        self._count_errors(route, buf, pos, frame)
        route.counters.response_bytes += frame
        self.passing = frame
        return pos, 0

    def _count_errors(self, route: Route, buf: Chunk, pos: int, frame: int) -> None:
        assert self._begun is not None
        self._turn -= count(self.context, route, buf, pos, frame, self._begun.first_byte)

    def _rewrite(self, route: Route, buf: Chunk, pos: int, frame: int) -> None:
        """Send a whole frame as its policy rewrites it."""
        end = pos + frame
        if route.response_meter is not None:
            self._meter(route, buf, pos, frame)
        glance = route.glance
        nothing = glance is not None and glance.nothing(buf, pos + 4, end)
        chunks = None
        if not nothing:
            self._count_errors(route, buf, pos, frame)
            self._turn -= frame >> SHIFT
            chunks = self._respond(route, buf, pos + 4, end)
        if chunks is not None:
            self._hand_on(buf, pos, end)
            frame = 4 + sum(map(len, chunks))
            self.sink.send_frame(_INT32.pack(frame - 4), chunks)
        route.counters.response_bytes += frame
        self._finish(buf, end)

    def _respond(self, route: Route, buf: Chunk, start: int, end: int) -> Sequence[Chunk] | None:
        """Return what the policy puts in place of a whole frame, which is there without its size; None to leave it."""
        self.context.walk, self._arriving = self._arriving, None
        try:
            chunks = route.respond(self.context, memoryview(buf)[start:end])
        except Fault:
            self._hand_on(buf, start - 4, start - 4)  # responses before it that came at once: they may tell of records
            raise
        self.context.walk = None
        return chunks

    def _open(self, route: Route, buf: Chunk, pos: int, frame: int) -> tuple[int, int]:
        """Begin to walk a frame that is not whole in one buffer."""
        if len(buf) - pos < min(_MAX_HEADER, frame):
            return pos, min(_MAX_HEADER, frame)
        _, body = decode_response_header(buf, pos + 4, len(buf), route.api_key, route.version)
        if route.response_meter is not None:
            self._meter(route, buf, pos, frame)
        self._route = route
        self._stream = response_stream(route.api_key, route.version)
        assert self._stream is not None, f"api {route.api_key} v{route.version} does not stream"
        self._left = frame - (body - pos)
        route.counters.response_bytes += frame
        return body, 0

    def _walk(self, buf: Chunk, pos: int) -> tuple[int, int]:
        """Walk a streamed frame from records to records, which pass unseen."""
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
        """Replace the addresses in NodeEndpoints (KIP-951), at a streamed frame's end; its length is already out."""
        if len(buf) - pos < self._left:
            if self._left > self.held_limit:
                raise Fault(Reason.FRAME_TOO_LARGE, f"{self._left} bytes after the records")
            return pos, self._left
        end = pos + self._left
        tail = bytes(buf[pos:end])
        replaced = stream.neutralise(tail, self.context.advertise)
        if replaced != tail:
            self._hand_on(buf, pos, end)
            self.sink.send(replaced)
        assert self._route is not None
        assert self._begun is not None
        count_codes(self.context, self._route, stream.errors, self._begun.first_byte)
        self._stream = None
        self._finish(buf, end)
        return end, 0

    def _finish(self, buf: Chunk, pos: int) -> None:
        """End the frame at `pos`, which is complete; send the proxy's own answers that are due behind it."""
        in_flight = self._in_flight
        finished = in_flight.pop()
        if self._finished_last is None:
            self._finished = finished
        else:
            self._finished_last.behind = finished
        self._finished_last = finished
        self._begun = None
        self.count += 1
        due = in_flight.first
        if due is not None and due.answer is not None:
            self._hand_on(buf, pos, pos)
            self._own.send_due()

    def go_on(self, now: float) -> None:
        """Send a parked answer if it is there and due, and then what has waited behind it."""
        self._own.send_due()
        if self.waiting:
            self.waiting = False
            self._take_up(now, Reason.MALFORMED_RESPONSE)

    def settle(self, done: float) -> None:
        """Observe how long each response took, and how much of that here: what was fed last is out at `done`."""
        expected = self._finished
        self._finished = self._finished_last = None
        while expected is not None:
            counters = expected.route.counters
            counters.responses += 1
            # Both may be times of one round of events, which began at the first byte's time.
            waited = expected.first_byte - expected.sent
            upstream = waited if waited > 0.0 else 0.0
            counters.upstream.observe(upstream)
            counters.proxy.observe(done - expected.received - upstream)
            behind = expected.behind
            expected.behind = None  # as InFlight.pop
            expected = behind


def _is_of_route(expected: Expected) -> bool:
    """True when the response due is of the API and version of the client's request; a dialogue may ask for others.

    The rooms then see the broker's response before the dialogue does, as they see one that goes to a client.
    """
    dialogue = expected.answer
    if not isinstance(dialogue, BrokerDialogue):
        return True
    key, version = _ASKED.unpack_from(dialogue.request)
    route = expected.route
    return bool(key == route.api_key and (version == route.version or key == _VERSIONS_ALIKE))
