"""The order in which the pump handles requests that come together: relayed ones first, and no client is forgotten."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from struct import Struct

from hypothesis import given
from hypothesis import strategies as st

from kproxy.config import Limits, Timeouts
from kproxy.protocol.api_table import ApiPolicy, ApiTable, OnRequest
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Answer, Forward
from kproxy.relay.pump import Pump
from kproxy.wire.primitives import frame as framed
from tests.unit.relay.sockets import Backend, pair, request

OWN, RELAYED, VERSION = 72, 12, 0
_ID = Struct(">4xi")

PHASES = st.lists(
    st.lists(st.tuples(st.integers(0, 39), st.sampled_from([OWN, RELAYED])), max_size=60, unique_by=lambda one: one[0]),
    min_size=1,
    max_size=4,
)
"""The clients that send at the same time, and the kind of their request: one request of a client at most."""


class Room:
    """Connections of a pump without a running loop: `settle` polls. `handled` are the requests' ids."""

    def __init__(self) -> None:
        self.pump = Pump(Limits(), Timeouts())
        self.handled: list[int] = []
        self.looks = 0
        self._backend = Backend()
        policies = {
            OWN: ApiPolicy(on_request=OnRequest.WHOLE, request=self._own),
            RELAYED: ApiPolicy(on_request=OnRequest.WHOLE, request=self._relayed),
        }
        self._table = ApiTable(self._backend.counters, policies)
        self._far: list[tuple[socket.socket, socket.socket]] = []

    def _own(self, context: Context, frame: memoryview) -> Answer:
        del context
        self.handled.append(_ID.unpack_from(frame)[0])
        return Answer(framed(bytes(frame[4:8])))

    def _relayed(self, context: Context, frame: memoryview) -> Forward:
        del context
        self.handled.append(_ID.unpack_from(frame)[0])
        return Forward(framed(bytes(frame)))

    def client(self, number: int) -> socket.socket:
        """Return the far end of a client's connection."""
        while len(self._far) <= number:
            (client, near), (broker, ours) = pair(), pair()
            self.pump.relay(Context(self._backend, None, "c:1", "p"), self._table, Limits(), near, ours, "b:9092")
            self._far.append((client, broker))
        return self._far[number][0]

    def settle(self) -> None:
        """Poll until nothing is left to be done; brokers read what they are sent, and answer nothing."""
        while events := self.pump._epoll.poll(0):
            before = len(self.handled)
            self.pump._round(events, time.monotonic())
            assert len(self.handled) > before, "a look at epoll that brings nobody on"
            self.looks += 1

    def close(self) -> None:
        """Close everything."""
        self.pump._close_everything()
        for client, broker in self._far:
            client.close()
            broker.close()


@contextmanager
def room() -> Iterator[Room]:
    """Yield a room; only its end needs Trio."""
    made = Room()
    try:
        yield made
    finally:
        made.close()


@given(PHASES)
def test_what_is_relayed_comes_first(phases: Sequence[Sequence[tuple[int, int]]]) -> None:
    """Clients wait for all others after a request that the proxy itself answered, and each poll serves some."""
    numbers, own_last = count(1), dict[int, bool]()
    with room() as all_of_them:
        for phase in phases:
            for client, _ in phase:
                all_of_them.client(client)
            of: dict[int, int] = {}
            for (client, kind), number in zip(phase, numbers, strict=False):
                of[number] = client
                all_of_them.client(client).send(request(number, key=kind, version=VERSION))
            all_of_them.handled.clear()
            all_of_them.settle()
            assert sorted(all_of_them.handled) == sorted(of)
            waited = [own_last.get(of[number], False) for number in all_of_them.handled]
            assert waited == sorted(waited)
            own_last |= {client: kind == OWN for client, kind in phase}
