"""A client connection and its broker connection: reads what there is, and lets the flows decide."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk, Table
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.relay.endpoint import GONE, OUT, Endpoint
from kproxy.relay.in_flight import MAX_IN_FLIGHT
from kproxy.relay.requests import RequestFlow
from kproxy.relay.responses import ResponseFlow
from kproxy.relay.sides import Sides
from kproxy.relay.splice import PIPE_BYTES, SPLICE_FROM, NoPipeError

if TYPE_CHECKING:
    from kproxy.config import Limits
    from kproxy.protocol.outcomes import Stepwise
    from kproxy.relay.pump import Pump

_clock: Final = time.monotonic
GLANCE_BYTES: Final = 4 << 10
"""What is read, into bytes of its own, where a frame is probably short or its body to be spliced."""
_SPLICES: Final = 4
"""Splices of one connection in a row, so that one large body does not keep the others waiting."""


class Connection(Sides):
    """`opened` in seconds since the Unix epoch; `received` bytes of the client's; `upstream` is "host:port"."""

    __slots__ = ("opened", "pump", "received", "upstream")

    def __init__(
        self,
        pump: Pump,
        context: Context,
        table: Table,
        limits: Limits,
        client: socket.socket,
        broker: socket.socket,
        upstream: str,
    ) -> None:
        of_client = pump.endpoint(client, self, is_client=True)
        of_broker = pump.endpoint(broker, self, is_client=False)
        super().__init__(pump.next_id(), context, table, limits, of_client, of_broker)
        self.pump = pump
        self.upstream = upstream
        self.opened = time.time()
        self.received = 0

    def event(self, endpoint: Endpoint, mask: int, now: float) -> None:
        """What epoll said of one of the sockets at `now`; raises as `readable`."""
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
        """Take what a socket has had since `now`.

        Raises `Fault` or `MalformedMessageError` when the connection must be closed.
        """
        flow: RequestFlow | ResponseFlow
        buf: Chunk
        if source.is_client:
            flow, sink = self.requests, self.broker
        else:
            flow, sink = self.responses, self.client
        if flow.passing >= SPLICE_FROM and self._splice(source, sink, flow):
            return
        try:
            buf = source.receive(GLANCE_BYTES) if source.brief else self.pump.receive(source)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            raise source.broken(error) from error
        count = len(buf)
        if not count:
            self._ended(source)
            return
        self.progress = now
        if source.is_client:
            self.received += count
        rest = flow.feed(buf, now)
        if rest is not None:
            sink.send(rest)
        flow.settle(_clock())
        large = flow.passing >= SPLICE_FROM
        source.brief = large or count < GLANCE_BYTES
        if large and not sink.blocked:
            self._splice(source, sink, flow)
        blocked = sink.blocked or self.client.blocked
        if blocked or not self._steady or self.in_flight.count > MAX_IN_FLIGHT:
            self._balance()

    def _splice(self, source: Endpoint, sink: Endpoint, flow: RequestFlow | ResponseFlow) -> bool:
        """Move the body under way inside the kernel; returns whether anything was done, an end included."""
        counters = self.context.backend.counters
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
            if moved < wanted:  # one more nearly always finds nothing, and that costs an exception
                break
        self.progress = _clock()
        flow.settle(self.progress)
        if not self._steady or sink.blocked:
            self._balance()
        return True

    def writable(self, sink: Endpoint) -> None:
        """Send what waited for this peer, and read again what was paused for it."""
        self.progress = _clock()
        if sink.flush():
            self._balance()

    def hung_up(self, endpoint: Endpoint) -> None:
        """A socket that is not read at the moment was reset. What a broker said before that can still be read."""
        if endpoint.is_client or endpoint.blocked:
            raise Fault(Reason.CLIENT_RESET if endpoint.is_client else Reason.BROKER_RESET, "reset while paused")
        endpoint.mute()

    def resolved(self) -> None:
        """As `Owner`; never raises. In the midst of a request the answer waits until that is dealt with."""
        self._steady = False
        if not self.requests.handling and not self.closed:
            try:
                self._balance()
            except Exception as error:  # one connection's failure is never another's
                self.pump.failed(self.broker, error)

    def work(self, stepwise: Stepwise) -> None:
        """As `Owner`."""
        self.pump.backlog.add(self, stepwise)

    def failed(self, error: Exception) -> None:
        """As `Asking`."""
        self.pump.failed(self.client, error)

    def part(self, reason: Reason) -> None:
        """Answer what was received, take no more, then close for the reason.

        At once where a 129 of an earlier epoch still waits its turn: its client is to be told of the present one.
        """
        if self.context.told_in not in (None, self.context.backend.epoch):
            self.close(reason)
            return
        self.parting = reason
        if self.client.reading:
            self.client.brief = False  # all that is there, as far as the scratch buffer reaches
            self.readable(self.client, _clock())
        if not self.closed:
            self._balance()

    def _leave(self, reason: Reason, detail: str) -> None:
        self.pump.closed(self, reason, detail)
