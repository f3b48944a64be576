"""The client's bytes: frames found, their responses expected, spans handed on. Pure: it owns no socket and no clock."""

from __future__ import annotations

from itertools import islice
from struct import Struct
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.relay.context import Context
from kproxy.relay.conversation import Conversation, begun
from kproxy.relay.fault import Fault
from kproxy.relay.flow import UNTIL_TOLD, Flow, Outlet, Owner
from kproxy.relay.in_flight import MAX_IN_FLIGHT, Expected, InFlight
from kproxy.relay.routes import OnRequest, Route, Table
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
_PASS: Final = OnRequest.PASS
_ACKS: Final = OnRequest.ACKS


class RequestFlow(Flow):
    """What one client sends: `count` requests, `answered` of them by the proxy at once.

    With `last` set the client has had its last request answered: what it sends after that is ignored, and its
    connection ends for that reason. While it is `conversing` what comes behind is held, and the client is not to be
    read. `handling` while an offer decides.
    """

    __slots__ = (
        "_fresh",
        "_highest",
        "_in_flight",
        "_limit",
        "_routes",
        "_table",
        "answered",
        "client",
        "context",
        "conversing",
        "handling",
        "last",
        "owner",
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
        super().__init__(sink=broker)
        self._table = table
        self._routes = table.routes
        self._in_flight = in_flight
        self._limit = limit
        self._held = bytearray()  # of the need of nothing, until it is known whose connection this is
        self._highest = 0  # correlation id since nothing was in flight
        self._fresh: list[Expected] = []
        self.context = context
        self.client = client
        self.owner = owner
        self.conversing = False
        self.handling = False
        self.answered = 0
        self.last: Reason | None = None

    @property
    def under_way(self) -> bool:
        """Whether there is a frame that is not complete, or is held behind a conversation."""
        return bool(self.passing) or bool(self._held)

    def feed(self, buf: memoryview, now: float) -> memoryview | None:
        """Take what the client sent; returns the end of it, which the broker is to be sent as it is.

        Raises `Fault` when the client must be closed. `buf` may be used again once that is sent.
        """
        pos = 0
        if self._held is not None:
            if not self._need and not self._introduced(self._held, buf):
                return None
            pos = self._complete(buf, now)
            if pos < 0:
                return None
        return self._scan(buf, pos, now) if self.last is None else None

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
                self._hold_on(buf, start, pos, HEAD_BYTES)
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
                    self._hold_on(buf, start, pos, min(size + 4, 2 * (end - pos)))
                    return None
                responds = wanted != 0
            elif route.on_request is not _PASS:
                self._check_held(route, size)
                if frame_end > end:
                    self._hold_on(buf, start, pos, size + 4)
                    return None
                if pos > start:
                    self.sink.send(buf[start:pos])
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

    def _hold_on(self, buf: memoryview, start: int, pos: int, need: int) -> None:
        """Send what is before `pos`; hold the rest until there are `need` bytes of it."""
        if pos > start:
            self.sink.send(buf[start:pos])
        self._hold(buf, pos, need)

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
            self._hold(buf, pos, UNTIL_TOLD)
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
            self.sink.send(frame)
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
        self.sink.send(request)

    def go_on(self, now: float) -> None:
        """The conversation is over: take what was held behind it."""
        self.conversing = False
        self._take_up(now, Reason.MALFORMED_REQUEST)
        self.settle(now)

    def _bad_size(self, size: int, buf: memoryview, pos: int) -> Fault:
        reason = foreign_protocol(bytes(buf[pos : pos + HEAD_BYTES]))
        if reason is not None:
            return Fault(reason, "the client does not speak Kafka in plaintext")
        if size > self._limit:
            return Fault(Reason.FRAME_TOO_LARGE, f"a request of {size} bytes, the limit is {self._limit}")
        return Fault(Reason.INVALID_FRAME_SIZE, f"a request of {size} bytes")
