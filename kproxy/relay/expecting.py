"""What the client waits for: each of its requests is counted, timed and expected to be answered in its turn. Pure."""

from __future__ import annotations

from itertools import islice

from kproxy.observe.reasons import Reason
from kproxy.producers.produce_rewrite import ProduceRewrite
from kproxy.protocol.api_table import Route
from kproxy.protocol.fault import Fault
from kproxy.relay.flow import Flow, Outlet
from kproxy.relay.in_flight import MAX_IN_FLIGHT, Expected, InFlight


class Expecting(Flow):
    """A flow of requests, which notes the responses that are to come.

    The last request of what was fed is noted when it is out: the broker has it the sooner, by what noting takes when
    nothing of it is in the processor's caches.
    """

    __slots__ = ("_fresh", "_highest", "_id", "_in_flight", "_received", "_responds", "_rewrite", "_route", "_size")

    def __init__(self, in_flight: InFlight, broker: Outlet) -> None:
        super().__init__(sink=broker)
        self._in_flight = in_flight
        self._highest = 0  # correlation id since nothing was in flight
        self._fresh: list[Expected] = []  # of what was fed last
        self._rewrite: ProduceRewrite | None = None  # of the frame that is under way
        self._route: Route | None = None  # of a request that is not noted yet, as all that follows
        self._id = 0
        self._size = 0
        self._received = 0.0
        self._responds = False

    def _found(self, route: Route, correlation_id: int, size: int, now: float, responds: bool) -> None:
        """There is a request: note the one before; raises `Fault` where its response could not be told from another."""
        if self._route is not None:
            self.note()
        if responds:
            if correlation_id <= self._highest and self._in_flight.first is not None:
                self._check_new(correlation_id, route)
            else:
                self._highest = correlation_id
        self._route = route
        self._id = correlation_id
        self._size = size
        self._received = now
        self._responds = responds

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

    def _check_new(self, correlation_id: int, route: Route) -> None:
        """A client that has an id twice in flight could not tell the responses apart.

        Clients count upwards, so hardly any id comes here; one that does not costs a bounded search.
        """
        for expected in islice(self._in_flight, MAX_IN_FLIGHT):
            if expected.correlation_id == correlation_id:
                detail = f"correlation id {correlation_id} is still in flight"
                raise Fault(Reason.CORRELATION_REUSED, detail, route.api_key)

    def settle(self, done: float) -> None:
        """What was fed last is out at `done`: from then on the time is the broker's."""
        self.note()
        fresh = self._fresh
        for expected in fresh:
            expected.sent = done
        if not self.passing and self._rewrite is None:
            fresh.clear()
        elif len(fresh) > 1:
            del fresh[:-1]
