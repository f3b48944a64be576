# This module is compiled (by mypyc).
"""One client connection and its broker connection: reads what arrives on their sockets and feeds it to the flows.

The acceptor has the pump make one once the broker is connected. The pump calls it for every epoll event.
"""

from __future__ import annotations

import errno
import socket
import time
from typing import TYPE_CHECKING, Final

from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where
from kproxy.protocol.api_table import ApiTable, Chunk
from kproxy.protocol.connections import ConnectionInfo
from kproxy.protocol.context import OUTDATED, Context
from kproxy.protocol.fault import Fault, RequestFault
from kproxy.relay.endpoint import GONE, OUT, Endpoint, EndpointOwner
from kproxy.relay.flow import SMALL
from kproxy.relay.host import Host, Renewing
from kproxy.relay.in_flight import MAX_IN_FLIGHT, InFlight
from kproxy.relay.lifecycle import Event, Lifecycle, State
from kproxy.relay.local_responses import LocalResponses
from kproxy.relay.requests import RequestFlow
from kproxy.relay.responses import ResponseFlow
from kproxy.relay.splice import PIPE_BYTES, SPLICE_FROM, NoPipeError

if TYPE_CHECKING:
    from kproxy.config import Limits
    from kproxy.protocol.outcomes import Incremental
    from kproxy.relay.destination import Destination

_clock: Final = time.monotonic
_SOON: Final = 15.0
"""Seconds: a broker that turns a client away does so at once, and one that limits the rate, after the quota's window.

Later ends are others': an idle broker's, or of a client that nothing is answered (acks=0).
"""
_MOST_WAITING: Final = 1 << 20
"""Bytes of kproxy's own answers that wait for those of the broker; beyond it the client is not read."""
_OPEN: Final = State.OPEN
_DRAINING: Final = State.DRAINING
_ANSWERING: Final = State.ANSWERING
_FLUSHING: Final = State.FLUSHING
_CLOSED: Final = State.CLOSED
_DRAIN: Final = Event.DRAIN
_CLOSE: Final = Event.CLOSE
GLANCE_BYTES: Final = 4 << 10
"""The size of a read, into bytes of its own, where a frame is probably short or its body will be spliced."""
_DRAINED_BYTES: Final = 128 << 10
"""Where records of TLS are small, so many bytes are read of what a client has sent when a drain begins."""
_IN_MID_FRAME: Final = "the connection ended in mid-frame"
_SPLICES: Final = 4
"""The most splices of one connection in a row, so that one large body does not keep the others waiting."""


class Connection(EndpointOwner):
    """Two sockets, the flows between them, and the connection's state (kproxy.relay.lifecycle)."""

    __slots__ = (
        "_both_plain",
        "_holds",
        "_steady",
        "_throttled_until",
        "broker",
        "client",
        "context",
        "destination",
        "in_flight",
        "life",
        "own",
        "progress",
        "pump",
        "received",
        "renewal",
        "requests",
        "responses",
        "upstream",
    )

    def __init__(
        self,
        pump: Host,
        context: Context,
        table: ApiTable,
        limits: Limits,
        client: socket.socket,
        broker: socket.socket,
        upstream: str,
    ) -> None:
        super().__init__(pump.next_id())
        self.pump = pump
        self.context = context
        context.id = self.id
        self.upstream = upstream
        """The broker's address, "host:port"."""
        context.opened = time.time()
        self.received = 0
        """Bytes that came from the client."""
        self.progress = _clock()
        """When bytes last moved: seconds, monotonic."""
        self.life = Lifecycle()
        self.in_flight = InFlight()
        self.client = pump.endpoint(client, self, is_client=True)
        self.broker = pump.endpoint(broker, self, is_client=False)
        self._both_plain = self.client.plain and self.broker.plain
        self.own = LocalResponses(self.in_flight, self.broker, self.client, self)
        self.requests = RequestFlow(
            table, self.in_flight, context, self.broker, self.own, limits.max_request_bytes, self
        )
        self.responses = ResponseFlow(
            self.in_flight, context, self.client, self.own, limits.max_response_bytes, limits.max_held_bytes, self
        )
        self.responses.meters = table.meters_responses
        self.destination: Destination | None = None
        """Who authenticates kproxy to the broker again, where that ends sessions."""
        self.renewal: Renewing | None = None
        """kproxy's login at the broker, while one is under way here."""
        self._holds = False  # whether to note what is held after each read
        self._throttled_until = 0.0  # when a client is read again that is throttled (`requests.throttled`)
        self._steady = True
        """True while both sides are read and nothing is about to change that: a read needs no `_balance`."""

    def limit(self, limits: Limits) -> None:
        """Take other limits of frames from the next one on."""
        self.requests.limit = limits.max_request_bytes
        self.responses.limit, self.responses.held_limit = limits.max_response_bytes, limits.max_held_bytes

    def event(self, endpoint: Endpoint, mask: int, now: float) -> None:
        """Handle the events that epoll reported for one of the sockets at `now`; raises as `readable`."""
        if mask & OUT:
            self.writable(endpoint)
            if mask == OUT or self.closed:
                return
        if endpoint.reading:
            self.readable(endpoint, now)
        elif mask & GONE:
            self.hung_up(endpoint)
        else:
            endpoint.ignore()

    def readable(self, source: Endpoint, now: float) -> None:
        """Read from a socket that became readable at `now`, and feed its flow.

        Raises `Fault` or `MalformedMessageError` when the connection must be closed.
        """
        flow: RequestFlow | ResponseFlow
        buf: Chunk
        if source.is_client:
            flow, sink = self.requests, self.broker
        else:
            flow, sink = self.responses, self.client
        if self._both_plain and flow.passing >= SPLICE_FROM and self._splice(source, sink, flow):
            return
        try:
            buf = source.receive(GLANCE_BYTES) if source.brief else self.pump.receive(source)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            source.lose(error)
            self._ended(source)
            return
        count = len(buf)
        if not count:
            self._ended(source)
            return
        self.progress = now
        if source.is_client:
            self.received += count
        try:
            rest = flow.feed(buf, now)
        except RequestFault as fault:
            self._refuse(fault)
            rest = None
        if rest is not None:
            sink.send(rest)
        done = self.pump.done = _clock()
        flow.settle(done)
        large = self._both_plain and flow.passing >= SPLICE_FROM
        # A client may send a frame in many small records of TLS: more of it is there, or soon will be.
        source.brief = (large or count < GLANCE_BYTES) if source.plain else not flow.under_way
        if large and not sink.blocked:
            self._splice(source, sink, flow)
        blocked = sink.blocked or self.client.blocked
        if blocked or not self._steady or self.in_flight.count > MAX_IN_FLIGHT:
            self._balance()
        elif self._holds:
            self._note_held()

    def _splice(self, source: Endpoint, sink: Endpoint, flow: RequestFlow | ResponseFlow) -> bool:
        """Move the body under way inside the kernel; returns True when anything was done, or the source has ended."""
        counters = self.context.cluster.counters
        for _ in range(_SPLICES):
            if sink.blocked or flow.passing < SPLICE_FROM:
                break
            wanted = min(flow.passing, PIPE_BYTES)
            try:
                moved = sink.splice_from(source, wanted)
            except NoPipeError:
                return False
            if moved is None:
                break
            if not moved:
                self._ended(source)
                return True
            counters.spliced_bytes += moved
            if source.is_client:
                self.received += moved
            flow.moved(moved)
            if moved < wanted:  # another try nearly always finds nothing, and that costs an exception
                break
        self.progress = _clock()
        flow.settle(self.progress)
        if not self._steady or sink.blocked:
            self._balance()
        return True

    def writable(self, sink: Endpoint) -> None:
        """Send what waited for this peer, and resume reading what was paused for it."""
        self.progress = _clock()
        if sink.flush():
            self._balance()
        else:
            self._note_held()

    def hung_up(self, endpoint: Endpoint) -> None:
        """Handle a reset of a socket that is not read now. What a peer sent before it can still be read later."""
        if endpoint.is_client or endpoint.blocked:
            endpoint.lose(ConnectionResetError(errno.ECONNRESET, "reset while paused"))
        endpoint.mute()
        if endpoint.is_client:
            self._balance()

    def client_gone(self) -> None:
        """As `EndpointOwner`."""
        self._both_plain = self._steady = False

    def unsteady(self) -> None:
        """As `Owner`."""
        self._steady = False

    def throttle(self, seconds: float) -> None:
        """As `Owner`."""
        self._throttled_until = max(self._throttled_until, _clock() + seconds)
        self._steady = False
        self.requests.throttled = True
        self.pump.throttle(self.id, self._throttled_until)

    def resume(self) -> None:
        """Read the client again if its time is over; raises as `readable`."""
        now = _clock()
        if self.requests.throttled and now >= self._throttled_until:
            self.requests.throttled = False
            self.progress = now  # the client may have been held in mid-request, and has its time from now on
            self._balance()

    def answered_here(self) -> None:
        """As `Owner`."""
        self.client.costly = True

    def resolved(self) -> None:
        """As `Owner`; never raises. While a request is handled, the answer waits until that is done."""
        self._steady = False
        if not self.requests.handling and not self.closed:
            try:
                self._balance()
            except Exception as error:  # one connection's failure is never another's
                self.pump.failed(self.broker, error)

    def end_for(self, reason: Reason, detail: str) -> None:
        """As `Owner`."""
        self._steady = False
        self.requests.last, self.requests.last_detail = reason, detail

    def work(self, stepwise: Incremental) -> None:
        """As `Owner`."""
        self.pump.work(self, stepwise)

    def go_on(self, now: float) -> None:
        """Take what the flows held back for this turn; raises as `readable`."""
        try:
            if self._responses_may_go_on:
                self.responses.go_on(now)
                self.responses.settle(_clock())
            if self._requests_may_go_on:
                self.requests.go_on(now)
        except RequestFault as fault:
            self._refuse(fault)
        self._balance()

    def failed(self, error: Exception) -> None:
        """As `Asking` of kproxy.relay.deferred_work."""
        self.pump.failed(self.client, error)

    def outdate(self) -> None:
        """Make this a stale connection from now on, whatever the cluster's epoch is."""
        self.context.epoch = OUTDATED
        self.requests.outdate()

    def drain(self, reason: Reason) -> None:
        """Answer what was received, take no more, then close for the reason."""
        self.life.take(_DRAIN, reason)
        if self.client.reading:
            self._steady = self._steady or not self.client.plain  # to balance in between would end the reading
            begun = self.received
            before = begun - 1
            while self.client.reading and before < self.received < begun + _DRAINED_BYTES:
                before = self.received
                self.client.brief = False  # reads all that is there, as far as the scratch buffer reaches
                self.readable(self.client, _clock())
                if self.client.plain:
                    break  # with TLS that was as far as the first record that is not full
        if not self.closed:
            self._balance()

    @property
    def closed(self) -> bool:
        """True when both sockets are given up."""
        return self.life.state is _CLOSED

    def _catch_up(self) -> None:
        """Send the parked answers that are there and due, and the responses that waited behind them."""
        before, now = self.answered, _clock()
        try:
            self.responses.go_on(now)
        except RequestFault as fault:  # what was held behind a dialogue is looked at when that is over
            self._refuse(fault)
        if self.answered > before:
            self.progress = now
        self.responses.settle(_clock())

    def _answer_in_flight(self) -> None:
        """Answer what a broker of an earlier epoch still has; an answer is progress: the client gets time to read."""
        before = self.answered
        self.own.answer_in_flight(self.context)
        if self.answered > before:
            self.progress = _clock()

    def _refuse(self, fault: RequestFault) -> None:
        """Take no more requests, and end the connection once those before the one at fault are answered."""
        self.requests.cut()
        self.requests.settle(_clock())
        self.responses.settle(_clock())
        self.requests.handling = False
        self.end_for(fault.reason, fault.detail)

    def _ended(self, source: Endpoint) -> None:
        source.pause()
        if source.is_client:
            self._client_ended()
        elif self.responses.under_way:
            raise Fault(Reason.TRUNCATED_RESPONSE, _IN_MID_FRAME)
        elif self.renewal is None or not self.renewal.broker_ended():
            self._broker_ended()

    def _client_ended(self) -> None:
        """Have the broker get what the client has sent, be it by a FIN or a reset, between two requests or in one."""
        reason = Reason.CLIENT_CLOSED
        if self.requests.under_way:
            reason, self.requests.last_detail = Reason.TRUNCATED_REQUEST, _IN_MID_FRAME
            self.requests.cut()
        self.life.take(Event.CLIENT_ENDED, reason)
        self._balance()

    def _broker_ended(self) -> None:
        if self.life.reason is None:
            self.requests.last_detail = self._why_the_broker_ended()
        self.life.take(Event.BROKER_ENDED, Reason.BROKER_CLOSED)
        self._abandon()
        self._balance()

    @property
    def answered(self) -> int:
        """The number of requests whose response is out, from the broker or from the proxy itself."""
        return self.responses.count + self.own.count

    @property
    def in_mid_request(self) -> bool:
        """True when the client, which is being read, has sent only part of a request."""
        return self.requests.under_way and self.client.reading and not self.broker.blocked

    @property
    def stalled(self) -> bool:
        """True when a peer we are reading from has sent only part of a frame.

        A peer that is itself blocked does not count: a consumer may leave a response half read while it works on
        another.
        """
        return self.in_mid_request or (self.responses.under_way and self.broker.reading and not self.client.blocked)

    @property
    def why_it_ends(self) -> tuple[Reason, str]:
        """The reason, and a detail for the log; whatever was to end the connection, a client's reset comes first."""
        if self.client.gone:
            return Reason.CLIENT_RESET, self.client.gone
        assert self.life.reason is not None
        return self.life.reason, self.requests.last_detail

    @property
    def ending(self) -> bool:
        """True when the client is no longer read, and the connection closes once everything owed is out."""
        return self.life.state >= _ANSWERING

    def _balance(self) -> None:
        """Decide which sides to read: each, as far as the other takes it. Close when everything owed is out."""
        client, broker = self.client, self.broker
        due = self.in_flight.first
        if due is not None and due.answer is not None:
            self._catch_up()
        self._move_on()
        if self.renewal is not None:
            self.renewal.look()
        ending = self.ending
        if ending and client.gone:
            self.own.abandon_parked()
            self._catch_up()
        if ending and self.in_flight and self.context.stale and not self.responses.under_way:
            self._answer_in_flight()
        if ending and not self.in_flight and not client.blocked and not broker.blocked:
            self.close(*self.why_it_ends)
            return
        holding, waiting = self._holding, self.responses.waiting
        takes_requests = self._takes_requests
        self._read(
            client, not ending and takes_requests and not holding, "" if holding and takes_requests else "upstream"
        )
        owed = not ending or bool(self.in_flight)
        takes_responses = owed and self.life.state is not _FLUSHING and not client.blocked and not waiting
        self._read(broker, takes_responses, "" if self.responses.resting and not client.blocked else "downstream")
        self._steady = client.reading and broker.reading and self.life.state is _OPEN and not self._stops
        if self._responses_may_go_on or self._requests_may_go_on:
            client.costly = broker.costly = True
            self.pump.go_on_later(self)
        self._note_held()

    def _note_held(self) -> None:
        """Tell the pump how much is held here; it may close this connection or another one for that."""
        if self.closed:
            return
        requests = self.requests.held_bytes + self.broker.pending_bytes
        responses = self.responses.held_bytes + self.client.pending_bytes + self.own.waiting_bytes
        if self._holds or requests > SMALL or responses > SMALL:
            self._holds = self.pump.holds(self, requests, responses)
        self._holds = self._holds or self.requests.collecting or self.responses.collecting

    def evict(self, detail: str) -> None:
        """As `Holder` of kproxy.relay.held_bytes."""
        try:
            self.close(Reason.MEMORY_LIMIT, detail)
        except Exception as error:  # one connection's failure is never another's
            self.pump.failed(self.client, error)

    @property
    def _holding(self) -> bool:
        """True while the client is not to be read for what is held here, or is to wait between two requests."""
        requests = self.requests
        return requests.holding or (self._stops and not requests.under_way)

    @property
    def _stops(self) -> bool:
        """True while what comes behind the client's present request waits."""
        return self.requests.throttled or self.requests.suspended

    @property
    def _takes_requests(self) -> bool:
        """True when both peers take what is sent, and not too much is in flight, or waits to be answered here."""
        if self.client.blocked or self.broker.blocked or self.own.waiting_bytes > _MOST_WAITING:
            return False
        return self.in_flight.count <= MAX_IN_FLIGHT

    @property
    def _responses_may_go_on(self) -> bool:
        """True when responses are held back that may be looked at in the next turn."""
        return self.responses.resting and not self.client.blocked

    @property
    def _requests_may_go_on(self) -> bool:
        """True when the same holds for requests."""
        requests = self.requests
        waits = requests.throttled or (requests.suspended and requests.between)
        return requests.may_go_on and not waits and not self.ending and self._takes_requests

    def _move_on(self) -> None:
        """Go to the next state if what was read leads there."""
        state = self.life.state
        if state is not _OPEN and state is not _DRAINING:
            return
        if self.requests.last is not None:
            self.life.take(Event.LAST_REQUEST, self.requests.last)
        elif state is _DRAINING and not self.requests.under_way:
            self.life.take(Event.BETWEEN_REQUESTS)

    def _read(self, endpoint: Endpoint, wanted: bool, side: str) -> None:
        if wanted == endpoint.reading:
            return
        if wanted:
            endpoint.resume()
            return
        endpoint.pause()
        if side and not self.ending:
            self.context.cluster.counters.pauses[side] += 1

    @property
    def paused(self) -> tuple[str, ...]:
        """The directions that backpressure holds: "upstream" when requests are not read, "downstream" responses."""
        if self.ending:
            return ()
        upstream = not self.client.reading and not (self._holding and self._takes_requests)
        downstream = not self.broker.reading and (self.client.blocked or not self.responses.resting)
        held = (("upstream", upstream), ("downstream", downstream))
        return tuple(side for side, is_held in held if is_held)

    @property
    def info(self) -> ConnectionInfo:
        """The connection's record at this moment."""
        context = self.context
        return ConnectionInfo(
            self.id,
            context.cluster.counters.name,
            context.node_id,
            context.client,
            context.host,
            context.port,
            self.upstream,
            self.context.opened,
            context.epoch,
            context.client_id,
            context.principal,
            context.software,
            context.metadata_version,
            context.kip_1242,
            context.is_member,
            self.requests.last_api,
            self.requests.count,
            self.answered,
            self.received,
            self.client.sent,
            self.in_flight.count,
            self.paused,
        )

    @property
    def held_bytes(self) -> int:
        """Bytes that the process holds for a peer that lags and for frames that must be whole."""
        flows = self.requests.held_bytes + self.responses.held_bytes
        return flows + self.client.pending_bytes + self.broker.pending_bytes + self.own.waiting_bytes

    def close(self, reason: Reason, detail: str = "") -> None:
        """Close both sides now; the pump counts and logs the reason."""
        if reason is Reason.BROKER_RESET and (why := self._why_the_broker_ended()):
            detail = f"{detail}; {why}" if detail else why
        if self.life.take(_CLOSE, reason):
            try:
                self.requests.note()
            except Exception as error:  # the sockets must be given up all the same
                self.pump.fault(Where.CLOSE, error)
            self.pump.holds(self, 0, 0)
            self.pump.closed(self.id, reason, detail)
            self._abandon()

    def _why_the_broker_ended(self) -> str:
        """Return why the broker may have ended the connection; note that it turned the client away, if it did."""
        unknown = self._unknown_to_broker()
        answered = self.responses.count or self.responses.under_way or not self.broker.plain  # TLS was a first answer
        if not unknown and not answered and time.time() - self.context.opened < _SOON:
            self.context.cluster.counters.turned_away.note(self.upstream, _clock())
        return unknown

    def _unknown_to_broker(self) -> str:
        """Return why the broker may have ended the connection, if the request that it was to answer is that old.

        Brokers that have answered its like do know it.
        """
        due = self.in_flight.first
        if due is None or not due.route.removed or due.route.counters.responses:
            return ""
        return f"{due.route.removed} was in flight, which brokers do not know from Kafka 4 on (KIP-896)"

    def _abandon(self) -> None:
        """Drop everything in flight; what was working out an answer is notified (`abandon`)."""
        abandoned = list(self.in_flight)
        self.in_flight.clear()
        self.own.waiting_bytes = 0
        if self.renewal is not None:
            self.renewal.look()
        for expected in abandoned:
            try:
                expected.abandon()
            except Exception as error:  # one answer's failure is never another's
                self.pump.fault(Where.CLOSE, error)
