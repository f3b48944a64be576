# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The client's bytes: finds the requests in them, expects their responses, and sends them on.

`Connection` calls `feed` with whatever it reads from the client. The flow owns no socket and no clock.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiTable, ChooseDetour, Chunk, OnRequest, Route
from kproxy.protocol.body_rewriter import BodyRewriter
from kproxy.protocol.context import MAX_NAME, Context
from kproxy.protocol.fault import Fault, RequestFault
from kproxy.protocol.outcomes import Answer, AskBroker, Deferred, Forward, Hold, Incremental
from kproxy.protocol.sasl_tokens import AUTHENTICATE_V0, BARE, authenticate, is_bare
from kproxy.relay.broker_dialogue import BrokerDialogue, begun
from kproxy.relay.flow import SHIFT, SMALL, TURN, UNTIL_RESUMED, Flow, Outlet, Owner
from kproxy.relay.in_flight import Expected, InFlight
from kproxy.relay.local_responses import LocalResponses
from kproxy.relay.sniff import no_request
from kproxy.wire.header import client_id_in
from kproxy.wire.primitives import INT32
from kproxy.wire.primitives import frame as framed
from kproxy.wire.skim import ACKS_BITS, MOST_ACKS, acks

_HEAD: Final = Struct(">iIi")
"""Size, api key and version in one, and correlation id: the start of every request."""
_unpack_head: Final = _HEAD.unpack_from
HEAD_BYTES: Final = _HEAD.size
_MIN_SIZE: Final = HEAD_BYTES - 4
_MAX_HEAD: Final = 128 << 10
"""More bytes than any Produce request has before its acks: two names of 32,767 at most, and tagged fields."""
FIRST_HELD: Final = 1 << 20
"""The most bytes that are held of a request before any has been answered, of a client of which nothing is known.

It takes what honest clients begin with: franz-go asks for versions once for each broker, not for each connection, so
that a connection may begin with Metadata of 18,000 topics, or with a push of telemetry. One that has authenticated to
kproxy has shown who it is, and may have held what the API needs.
"""
_AUTHENTICATE: Final = AUTHENTICATE_V0 >> 16
_PASS: Final = OnRequest.PASS
_ACKS: Final = OnRequest.ACKS
_WHOLE: Final = OnRequest.WHOLE


class RequestFlow(Flow):
    """What one client sends. Each request is counted, timed, and expected to be answered in its turn.

    The last request of what was fed is noted (`note`) only after it is sent, so that the broker gets it sooner. Noting
    takes a while when what it needs is not in the processor's caches.
    """

    __slots__ = (
        "_asked_last",
        "_chosen",
        "_fresh",
        "_id",
        "_in_flight",
        "_own",
        "_received",
        "_responds",
        "_rewrite",
        "_route",
        "_route_last",
        "_routes",
        "_size",
        "_table",
        "_working",
        "asking_broker",
        "context",
        "handling",
        "last",
        "last_detail",
        "limit",
        "suspended",
        "throttled",
    )

    def __init__(
        self,
        table: ApiTable,
        in_flight: InFlight,
        context: Context,
        broker: Outlet,
        own: LocalResponses,
        limit: int,
        owner: Owner,
    ) -> None:
        super().__init__(broker, owner)
        self._in_flight = in_flight
        self._fresh: list[Expected] = []  # the requests of what was fed last
        self._rewrite: BodyRewriter | None = None  # of the frame under way
        self._route: Route | None = None  # of a request that is not noted yet, as are the next four
        self._id = 0
        self._size = 0
        self._received = 0.0
        self._responds = False
        self._table = table
        self._asked_last = -1  # api key and version in one; most requests of a connection are alike
        self._chosen: Route | None = None  # of the request that is held, where its API has detours
        self._route_last: Route
        self._routes = table.routes
        self._own = own
        self.limit = limit
        self._held = bytearray()  # empty, so that the first bytes are searched for the client id
        self.context = context
        self.asking_broker = False
        """A dialogue is under way: what comes behind it is held, and the client is not to be read."""
        self._working: Incremental | None = None  # the answer in steps that is under way
        self.handling = False
        """A policy is deciding on a request."""
        self.throttled = False
        """What comes behind the present request is held."""
        self.suspended = False
        """The same, while kproxy authenticates again to the broker."""
        self.last: Reason | None = None
        """Set once the client's last request has come: later bytes are ignored. The connection ends for it."""
        self.last_detail = ""
        """What the log says of it."""

    @property
    def last_api(self) -> int:
        """The api key of the last request; -1 before the first."""
        return self._route_last.api_key if self.count else -1

    @property
    def under_way(self) -> bool:
        """True while a frame is not complete, or is held for later."""
        return bool(self.passing) or bool(self._held) or self._rewrite is not None

    @property
    def between(self) -> bool:
        """True when the broker has no request in part, and no dialogue is under way: kproxy may ask on its own."""
        return not self.passing and self._rewrite is None and not self.asking_broker

    @property
    def holding(self) -> bool:
        """True while the client is not to be read for what is held here: behind an answer, or for the next turn."""
        return self.asking_broker or self.resting or self._working is not None

    @property
    def may_go_on(self) -> bool:
        """True when nothing here stands in the way of `go_on`: the turn is over, or the answer in steps is there."""
        return self.resting or (self._working is not None and self._working.done)

    def outdate(self) -> None:
        """Use the stale table for requests that begin from now on: the client's topology is gone."""
        self._table = self._table.stale
        self._routes = self._table.routes
        self._asked_last = -1
        self._chosen = None

    def feed(self, buf: Chunk, now: float) -> Chunk | None:
        """Take what the client sent; return the end of it, which is to be sent to the broker as it is.

        Raises `Fault` when the client must be closed. `buf` may be reused once the returned part is sent.
        """
        pos = 0
        self._turn = 0 if self.throttled or self.suspended else TURN
        if self._held is not None:
            if not self._need and not self._introduced(self._held, buf):
                return None
            pos = self._complete(buf, now)
            if pos < 0:
                return None
        return self._scan(buf, pos, now) if self.last is None else None

    def _hold(self, buf: Chunk, start: int, pos: int, need: int) -> None:
        """As `Flow`. A request that is found malformed before it is all there is at fault as any."""
        try:
            super()._hold(buf, start, pos, need)
        except MalformedMessageError as error:
            raise RequestFault(Reason.MALFORMED_REQUEST, str(error)) from error

    def _complete(self, buf: Chunk, now: float) -> int:
        """As `Flow`, and `_hold`."""
        try:
            return super()._complete(buf, now)
        except MalformedMessageError as error:
            raise RequestFault(Reason.MALFORMED_REQUEST, str(error)) from error

    def _introduced(self, held: bytearray, buf: Chunk) -> bool:
        """Read the client id from the first request's header; hold the bytes and return False until it is all there."""
        first = memoryview(held + buf) if held else buf
        if not self.count and is_bare(first):
            self.context.unframed, self._need = BARE, len(held)
            return True
        client_id, needed = client_id_in(first, self.limit)
        if needed > len(first):
            held += buf
            if len(held) > SMALL:  # a client id may have 32 KiB
                self._owner.unsteady()
            return False
        if client_id is not None:
            self.context.client_id = client_id[:MAX_NAME]
        self._need = len(held)
        return True

    def cut(self) -> None:
        """Forget the frame under way, whose end does not come, or does not count. No broker answers a part of one."""
        self._held = None
        if self.passing or self._rewrite is not None:
            self.note()
            self._in_flight.drop_last(self._fresh[-1])
        self.passing, self._rewrite = 0, None

    def moved(self, count: int) -> None:
        """Note that `count` of the `passing` bytes went to the broker by another way (splice)."""
        self.passing -= count

    # One function, since each call in it costs every request as much as several lines.
    def _scan(self, buf: Chunk, pos: int, now: float) -> Chunk | None:  # noqa: PLR0912, PLR0915
        """Look at what comes from `pos` on; return what of it is still to be sent."""
        if self.context.unframed is not None:
            return self._scan_token(buf, pos, now)
        start, end, need = pos, len(buf), 0
        try:
            if self.passing or self._rewrite is not None:
                buf, pos, need = self._pass_on(buf, pos)
            while pos < end and not need:
                if end - pos < HEAD_BYTES or self._turn <= 0:
                    need = HEAD_BYTES if self._turn > 0 else self._rest()
                    break
                self._turn -= 1
                head: tuple[int, int, int] = _unpack_head(buf, pos)
                size, key_and_version, correlation_id = head
                if not _MIN_SIZE <= size <= self.limit:
                    raise no_request(bytes(buf[pos : pos + HEAD_BYTES]), size, self.limit)
                route = self._route_last if key_and_version == self._asked_last else self._route_of(key_and_version)
                frame_end = pos + 4 + size
                responds = True
                if route.on_request is _ACKS:
                    wanted = acks(buf, pos + 4, frame_end if frame_end < end else end)
                    if wanted is None:
                        need = _more_to_acks(end - pos, size + 4)
                        self._keep_choice(route)
                        break
                    route = route if wanted <= MOST_ACKS else route.in_transaction or route
                    responds = wanted & ACKS_BITS != 0
                elif route.on_request is _WHOLE and frame_end > end:
                    need = self._collect(route, size)
                    break
                if route.before is not None and self._asks(route, buf, start, pos, now):
                    start, need = pos, UNTIL_RESUMED
                    break
                if route.on_request is _WHOLE:
                    self._to_hold(route, size)
                    self._send(buf, start, pos)
                    start = pos
                    self._whole(route, memoryview(buf)[pos + 4 : frame_end], correlation_id, now)
                    pos = start = frame_end if self._takes_more(buf, frame_end) else end
                    continue
                rewrites = route.rewriter is not None and self._rewrites(route, buf, pos + 4, size)
                self._found(route, correlation_id, size, now, responds)
                if rewrites:
                    buf, pos, need = self._pass_on(buf, pos)
                    continue
                beyond = frame_end - end
                self.passing = beyond if beyond > 0 else 0
                pos = end if beyond > 0 else frame_end
        except (Fault, MalformedMessageError) as error:
            raise self._at_fault(error, buf, start, pos) from error
        if need:
            self._hold(buf, start, pos, need)
            return None
        rest = buf[start:pos] if start else buf
        return rest if pos > start else None

    def _at_fault(self, error: Fault | MalformedMessageError, buf: Chunk, start: int, pos: int) -> Fault:
        """Send what came before the request at `pos`, which is at fault; return what ends the connection behind it."""
        if not isinstance(error, Fault):
            error = Fault(Reason.MALFORMED_REQUEST, str(error))
        elif error.reason is Reason.BROKER_RESET:
            raise error
        self._send(buf, start, pos)
        return RequestFault(error.reason, error.detail, error.api_key)

    def _found(self, route: Route, correlation_id: int, size: int, now: float, responds: bool) -> None:
        """Note the request before, remember this one.

        Its correlation id may be in flight already (kafka-php sends the API key as the id). Brokers answer in order and
        do not look at it.
        """
        if self._route is not None:
            self.note()
        self._route = route
        self._id = correlation_id
        self._size = size
        self._received = now
        self._responds = responds
        if route.request_meter is not None:
            milliseconds = route.request_meter(self.context, size + 4, now)
            if milliseconds:
                self._owner.throttle(milliseconds / 1000)
                self._turn = 0

    def note(self) -> None:
        """Count the request that was found last, and wait for its response."""
        route = self._route
        if route is None:
            return
        self._route = None
        counters = route.counters
        counters.requests += 1
        self.count += 1
        counters.request_bytes += self._size + 4
        expected = Expected(self._id, route, self._received)
        self._fresh.append(expected)  # with acks=0 too: the last of them is the frame that may be under way
        if self._responds:
            self._in_flight.append(expected)

    def settle(self, done: float) -> None:
        """Set the time from which the broker is waited for: what was fed last is out at `done`."""
        self.note()
        fresh = self._fresh
        for expected in fresh:
            expected.sent = done
        if not self.passing and self._rewrite is None:
            fresh.clear()
        elif len(fresh) > 1:
            del fresh[:-1]

    def _rewrites(self, route: Route, buf: Chunk, pos: int, size: int) -> bool:
        """Return whether the body of the request at `pos` may have to change; if so, its rewriter is at work."""
        assert route.rewriter is not None
        self._rewrite = route.rewriter(self.context, route.version, buf, pos, size)
        if self._rewrite is None:
            return False
        self.passing = self._rewrite.body - pos + 4
        return True

    def _pass_on(self, buf: Chunk, pos: int) -> tuple[Chunk, int, int]:
        """Go on with the frame under way, whose body may change.

        Returns the buffer, or a copy if bytes had to change and it was read-only; the position reached; and how many
        bytes are wanted from there on, 0 for any.
        """
        end = len(buf)
        while pos < end:
            if self.passing:
                step = min(self.passing, end - pos)
                self.passing -= step
                pos += step
                continue
            rewrite = self._rewrite
            if rewrite is None:
                break
            if self._turn <= 0 and not self.throttled and not self.suspended:
                return buf, pos, self._rest()
            self._turn -= 1
            pos, need = rewrite.look(buf, pos)
            if need:
                return buf, pos, need
            head = None if rewrite.over else rewrite.head(buf, pos)
            if head is not None:
                view = memoryview(bytearray(buf)) if isinstance(buf, bytes) else buf
                view[pos : pos + len(head)] = head
                buf = view
                pos += len(head)
            self.passing = rewrite.passing
            if rewrite.over:
                self._rewrite = None
        return buf, pos, 0

    def _asks(self, route: Route, buf: Chunk, start: int, pos: int, now: float) -> bool:
        """Ask the broker what must be known before the request at `pos`, or hold it; send what is before it.

        Return False where there is nothing to do.
        """
        assert route.before is not None
        steps = route.before(self.context, buf, pos + 4, len(buf))
        if steps is None:
            return False
        if isinstance(steps, Hold):
            self._send(buf, start, pos)
            if self._asked_last < 0:  # no second detour
                self._chosen = self._table.route(route.api_key << 16 | route.version)
            self._owner.throttle(steps.seconds)
            self._rest()
            return True
        question = BrokerDialogue(steps, self, own=True)
        question.step(None)
        self._send(buf, start, pos)
        self._keep_choice(route)
        self.note()
        expected = Expected(0, route, now)
        self._in_flight.append(expected)
        self._own.ask(expected, question)
        self.asking_broker = True
        self._owner.unsteady()
        return True

    def _send(self, buf: Chunk, start: int, end: int) -> None:
        if end > start:
            self.sink.send(buf[start:end])

    def _route_of(self, key_and_version: int) -> Route:
        route, self._chosen = self._chosen, None
        if route is None:
            route = self._routes.get(key_and_version) or self._table.route(key_and_version)
            self._asked_last = key_and_version
            if route.detour is not None:
                route = self._detoured(route, route.detour)
        self._route_last = route
        return route

    def _detoured(self, route: Route, choose: ChooseDetour) -> Route:
        """Return the route of this one request. Each request of such an API is asked about once."""
        self._asked_last = -1
        detour = choose(self.context, route.version)
        return route if detour is None else route.by(detour)

    def _keep_choice(self, route: Route) -> None:
        """Have the request that is held now, and looked at again, keep its route."""
        if self._asked_last < 0:
            self._chosen = route

    def _to_hold(self, route: Route, size: int) -> int:
        """Return the bytes to hold of a request that must be whole; raises `Fault` where they are too many."""
        limit, before = route.policy.request_limit, ""
        if size > FIRST_HELD and not self._owner.answered and self.context.principal is None:
            limit, before = FIRST_HELD, " before the first response"
        if size > limit:
            detail = f"a request of {size} bytes must be held, the limit{before} is {limit}"
            raise Fault(Reason.FRAME_TOO_LARGE, detail, route.api_key)
        return size + 4

    def _collect(self, route: Route, size: int) -> int:
        """Return the bytes to hold of a request that is not all there and must be whole; raises as `_to_hold`."""
        need = self._to_hold(route, size)
        self._arriving = route.walk_request()
        self._keep_choice(route)
        return need

    def _whole(self, route: Route, frame: memoryview, correlation_id: int, now: float) -> None:
        handler = route.policy.request
        assert handler is not None
        self._turn -= len(frame) >> SHIFT
        self.handling = True
        self.context.walk, self._arriving = self._arriving, None
        outcome = handler(self.context, frame)
        self.context.walk = None
        if outcome is None:
            outcome = Forward(framed(frame))
        elif isinstance(outcome, Forward) and outcome.unseen:
            route = route.unseen()
        decision = begun(outcome, self) if isinstance(outcome, AskBroker) else outcome
        self._found(route, correlation_id, len(frame), now, responds=True)
        self.note()
        if isinstance(decision, BrokerDialogue):
            self.asking_broker = True
        elif isinstance(decision, Incremental):
            self._working = decision
        else:
            self.last = decision.last
            if isinstance(decision, Answer | Deferred):
                self.last_detail = decision.detail
        if self.holding or self.last is not None:
            self._owner.unsteady()
        self._own.decided(decision)
        self.handling = False

    def _scan_token(self, buf: Chunk, pos: int, now: float) -> Chunk | None:
        """Take the SASL token at `pos`, a length and its bytes; what is behind it waits for the broker's answer."""
        self._route_last, self._asked_last = self._table.route(AUTHENTICATE_V0), -1
        need = self._token_bytes(buf, pos) if self._turn > 0 else self._rest()
        if len(buf) - pos < need:
            self._hold(buf, pos, pos, need)
            return None
        request = authenticate(self.context.client_id, buf[pos + INT32.size : pos + need])
        self._whole(self._route_last, memoryview(request), 0, now)
        return self._scan(buf, pos + need, now) if self._takes_more(buf, pos + need) else None

    def _token_bytes(self, buf: Chunk, pos: int) -> int:
        """Return how many bytes must be there: those of the length, or of the whole token."""
        if len(buf) - pos < INT32.size:
            return INT32.size
        (size,) = INT32.unpack_from(buf, pos)
        if size < 0:
            raise Fault(Reason.INVALID_FRAME_SIZE, f"a SASL token of {size} bytes", self.last_api)
        return self._to_hold(self._route_last, size)

    def _takes_more(self, buf: Chunk, pos: int) -> bool:
        """Return whether to look at what is behind a request now; behind one that is worked on it is held instead."""
        if self.asking_broker or self._working is not None:
            self._hold(buf, pos, pos, UNTIL_RESUMED)
            return False
        return self.last is None

    def wait_for(self, answer: Incremental) -> None:
        """Hold what comes until the dialogue's answer, which is worked out in steps, is there."""
        self.asking_broker = False
        self._working = answer
        self._owner.work(answer)

    def go_on(self, now: float) -> None:
        """Take what was held: the dialogue or the answer in steps before it is over, or it is this flow's turn."""
        self.asking_broker = False
        self._working = None
        if self.last_api == _AUTHENTICATE and self.context.client_id is None and self.context.unframed is None:
            self._meet(now)
        else:
            self._take_up(now, Reason.MALFORMED_REQUEST, 0 if self.suspended else TURN)
        self.settle(now)

    def _meet(self, now: float) -> None:
        """Take what comes from a client that has sent tokens only as its first request, which has its client id."""
        held, self._held, self._need = self._held, bytearray(), 0
        self.resting = False
        rest = self.feed(bytes(held or b""), now)
        if rest is not None:
            self.sink.send(rest)


def _more_to_acks(there: int, frame: int) -> int:
    """Return how many bytes of a Produce request to wait for: the acks are not among those that are there."""
    if frame <= there or there > _MAX_HEAD:
        raise Fault(Reason.MALFORMED_REQUEST, "a Produce request whose acks are not found", 0)
    return min(frame, 2 * there)
