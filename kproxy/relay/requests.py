"""The client's bytes: frames found, their responses expected, spans handed on. Pure: it owns no socket and no clock."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from struct import Struct
from typing import Final, Protocol

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.relay.context import Context
from kproxy.relay.conversation import Conversation, begun
from kproxy.relay.fault import Fault
from kproxy.relay.in_flight import MAX_IN_FLIGHT, Expected, InFlight
from kproxy.relay.routes import Chunk, OnRequest, Route, Table
from kproxy.relay.sniff import foreign_protocol
from kproxy.relay.verdicts import Answer, Converse, Forward, Parked
from kproxy.wire.header import client_id_in
from kproxy.wire.skim import acks

_HEAD: Final = Struct(">iIi")
"""Size, api key and version in one, correlation id: what every request begins with."""
_unpack_head: Final = _HEAD.unpack_from
HEAD_BYTES: Final = _HEAD.size
_MIN_SIZE: Final = HEAD_BYTES - 4
_MAX_HEAD: Final = 128 << 10
"""More than any Produce request has before its acks: two names of 32,767 bytes at most, and tagged fields."""
UNTIL_TOLD: Final = 1 << 62
"""Bytes to be held that never come: what is behind waits for something else."""
_PASS: Final = OnRequest.PASS
_ACKS: Final = OnRequest.ACKS


class Outlet(Protocol):
    """Where bytes go, in order; it takes all of them and keeps what the peer does not take yet."""

    def send(self, chunk: Chunk) -> None:
        """Send, or keep a copy: the chunk may lie in a buffer that is used again at once."""

    def send_frame(self, size: bytes, chunks: Sequence[Chunk]) -> None:
        """Send a frame that was put together from chunks, its size first."""


class Owner(Protocol):
    """The connection that both flows are of."""

    def unsteady(self) -> None:
        """Whether to read from either side is to be decided anew before the next read."""

    def resolved(self) -> None:
        """A parked answer is there."""


class RequestFlow:
    """What one client sends: `count` requests, `answered` of them by the proxy at once.

    `passing` bytes of the frame under way go to the broker unseen, whoever moves them. With `last` set the client has
    had its last request answered: what it sends after that is ignored, and its connection ends for that reason. While
    it is `conversing` what comes behind is held, and the client is not to be read. `handling` while an offer decides.
    """

    __slots__ = (
        "_fresh",
        "_held",
        "_highest",
        "_in_flight",
        "_limit",
        "_need",
        "_routes",
        "_table",
        "answered",
        "broker",
        "client",
        "context",
        "conversing",
        "count",
        "handling",
        "last",
        "owner",
        "passing",
    )

    def __init__(
        self,
        table: Table,
        in_flight: InFlight,
        context: Context,
        broker: Outlet,
        client: Outlet,
        limit: int,
        owner: Owner,
    ) -> None:
        self._table = table
        self._routes = table.routes
        self._in_flight = in_flight
        self._limit = limit
        self._held: bytearray | None = bytearray()
        self._need = 0  # until it is known whose connection this is
        self._highest = 0  # correlation id since nothing was in flight
        self._fresh: list[Expected] = []
        self.context = context
        self.broker = broker
        self.client = client
        self.owner = owner
        self.conversing = False
        self.handling = False
        self.passing = 0
        self.count = 0
        self.answered = 0
        self.last: Reason | None = None

    @property
    def under_way(self) -> bool:
        """Whether there is a frame that is not complete, or is held behind a conversation."""
        return bool(self.passing) or bool(self._held)

    @property
    def held_bytes(self) -> int:
        return len(self._held) if self._held else 0

    def feed(self, buf: memoryview, now: float) -> memoryview | None:
        """Take what the client sent; returns the end of it, which the broker is to be sent as it is.

        Raises `Fault` when the client must be closed. `buf` may be used again once that is sent.
        """
        pos = 0
        while self._held is not None:
            if not self._need and not self._introduced(self._held, buf):
                return None
            pos += self._held_more(buf[pos:])
            if len(self._held) < self._need:
                return None
            whole, self._held = memoryview(self._held), None
            self._scan_held(whole, now)
        return self._scan(buf, pos, now) if self.last is None else None

    def _scan_held(self, held: memoryview, now: float) -> None:
        rest = self._scan(held, 0, now)
        if rest is not None:
            self.broker.send(rest)

    def _introduced(self, held: bytearray, buf: memoryview) -> bool:
        """Learn the client id, which every client says in its first request's header; held until it is all there."""
        first = memoryview(held + buf) if held else buf
        client_id, needed = client_id_in(first, self._limit)
        if needed > len(first):
            held += buf
            return False
        self.context.client_id = client_id
        self._need = len(held)
        return True

    def _held_more(self, buf: memoryview) -> int:
        assert self._held is not None
        take = min(self._need - len(self._held), len(buf))
        self._held += buf[:take]
        return take

    def moved(self, count: int) -> None:
        """`count` of the `passing` bytes went to the broker by another way (splice)."""
        self.passing -= count

    def settle(self, done: float) -> None:
        """What was fed last is out at `done`: from then on the time is the broker's."""
        fresh = self._fresh
        for expected in fresh:
            expected.sent = done
        if not self.passing:
            fresh.clear()
        elif len(fresh) > 1:
            del fresh[:-1]

    def _scan(self, buf: memoryview, pos: int, now: float) -> memoryview | None:
        """Look at the frames from `pos` on; returns what of them is still to be sent."""
        start, end = pos, len(buf)
        if self.passing:
            pos += min(self.passing, end - pos)
            self.passing -= pos - start
        while pos < end:
            if end - pos < HEAD_BYTES:
                self._hold(buf, start, pos, HEAD_BYTES)
                return None
            head: tuple[int, int, int] = _unpack_head(buf, pos)
            size, key_and_version, correlation_id = head
            if not _MIN_SIZE <= size <= self._limit:
                raise self._bad_size(size, buf, pos)
            route = self._routes.get(key_and_version) or self._table.route(key_and_version)
            frame_end = pos + 4 + size
            responds = True
            if route.on_request is _ACKS:
                wanted = acks(buf, pos + 4, min(end, frame_end))
                if wanted is None:
                    if frame_end <= end or end - pos > _MAX_HEAD:
                        raise Fault(Reason.MALFORMED_REQUEST, "a Produce request whose acks are not found", 0)
                    self._hold(buf, start, pos, min(size + 4, 2 * (end - pos)))
                    return None
                responds = wanted != 0
            elif route.on_request is not _PASS:
                self._check_held(route, size)
                if frame_end > end:
                    self._hold(buf, start, pos, size + 4)
                    return None
                if pos > start:
                    self.broker.send(buf[start:pos])
                self._whole(route, buf[pos + 4 : frame_end], correlation_id, now)
                pos = start = frame_end if self._takes_more(buf, frame_end) else end
                continue
            self._expect(route, correlation_id, size, now, responds)
            if frame_end > end:
                self.passing = frame_end - end
                frame_end = end
            pos = frame_end
        if pos == start:
            return None
        return buf[start:pos] if start else buf

    def _hold(self, buf: memoryview, start: int, pos: int, need: int) -> None:
        """Hand on what is before `pos`; keep the rest until there are `need` bytes of it."""
        if pos > start:
            self.broker.send(buf[start:pos])
        self._held = bytearray(buf[pos:])
        self._need = need

    def _check_held(self, route: Route, size: int) -> None:
        limit = route.offer.request_limit
        if size > limit:
            detail = f"a request of {size} bytes must be held, the limit is {limit}"
            raise Fault(Reason.FRAME_TOO_LARGE, detail, route.api_key)

    def _expect(self, route: Route, correlation_id: int, size: int, now: float, responds: bool) -> None:
        counters = route.counters
        counters.requests += 1
        self.count += 1
        counters.request_bytes += size + 4
        expected = Expected(correlation_id, route, now)
        self._fresh.append(expected)  # with acks=0 too: the last of them is the frame that may be under way
        if responds:
            if correlation_id <= self._highest and self._in_flight:
                self._check_new(correlation_id, route)
            else:
                self._highest = correlation_id
            self._in_flight.append(expected)

    def _check_new(self, correlation_id: int, route: Route) -> None:
        """A client that has an id twice in flight could not tell the responses apart.

        Clients count upwards, so hardly any id comes here; one that does not costs a bounded search.
        """
        for expected in islice(self._in_flight, MAX_IN_FLIGHT):
            if expected.correlation_id == correlation_id:
                detail = f"correlation id {correlation_id} is still in flight"
                raise Fault(Reason.CORRELATION_REUSED, detail, route.api_key)

    def _whole(self, route: Route, frame: memoryview, correlation_id: int, now: float) -> None:
        handler = route.offer.request
        assert handler is not None
        self.handling = True
        verdict = handler(self.context, frame)
        decision = begun(verdict, self) if isinstance(verdict, Converse) else verdict
        try:
            self._expect(route, correlation_id, len(frame), now, responds=True)
        except Fault:
            if isinstance(decision, Conversation | Parked):
                decision.abandon()
            raise
        if isinstance(decision, Conversation):
            self._converse(decision)
        elif isinstance(decision, Parked) and decision.frame is None:
            self._park(decision)
        else:
            self._decided(decision, route)
        self.handling = False

    def _takes_more(self, buf: memoryview, pos: int) -> bool:
        """Whether what is behind a request that was held is to be looked at now; held where it is later."""
        if self.conversing:
            self._hold(buf, pos, pos, UNTIL_TOLD)
            return False
        return self.last is None

    def _decided(self, verdict: Forward | Answer | Parked, route: Route) -> None:
        """Send what there is to send; a parked answer that was there at once is as any."""
        if not isinstance(verdict, Parked) and verdict.last is not None:
            self.last = verdict.last
            self.owner.unsteady()
        frame = verdict.frame
        assert frame is not None
        if isinstance(verdict, Forward):
            self.broker.send(frame)
        elif len(self._in_flight) > 1:
            self._in_flight[-1].answer = frame
        else:
            self._in_flight.pop()
            self._fresh.clear()
            self.answered += 1
            route.counters.responses += 1
            route.counters.response_bytes += len(frame)
            self.client.send(frame)

    def _park(self, parked: Parked) -> None:
        self._in_flight[-1].answer = parked
        parked.wait(self.owner.resolved)

    def _converse(self, conversation: Conversation) -> None:
        expected = self._in_flight[-1]
        expected.answer = conversation
        self.conversing = True
        self.owner.unsteady()
        self.ask(expected, conversation.request)

    def ask(self, expected: Expected, request: bytes) -> None:
        """Send a conversation's request, whose response is the next that comes for what is expected."""
        _, _, expected.correlation_id = _unpack_head(request)
        self.broker.send(request)

    def go_on(self, now: float) -> None:
        """The conversation is over: take what was held behind it."""
        self.conversing = False
        held, self._held = self._held, None
        if held:
            try:
                self._scan_held(memoryview(held), now)
            except MalformedMessageError as error:  # not the broker's fault, whose response has brought us here
                raise Fault(Reason.MALFORMED_REQUEST, str(error)) from error
            self.settle(now)

    def _bad_size(self, size: int, buf: memoryview, pos: int) -> Fault:
        reason = foreign_protocol(bytes(buf[pos : pos + HEAD_BYTES]))
        if reason is not None:
            return Fault(reason, "the client does not speak Kafka in plaintext")
        if size > self._limit:
            return Fault(Reason.FRAME_TOO_LARGE, f"a request of {size} bytes, the limit is {self._limit}")
        return Fault(Reason.INVALID_FRAME_SIZE, f"a request of {size} bytes")
