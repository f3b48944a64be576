"""The relay's work for a request, counted over real sockets: no wall time, so a busy machine changes nothing."""

from __future__ import annotations

import gc
import socket
import sys
import threading
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

import pytest
import trio

from kproxy.config import Limits, Timeouts
from kproxy.relay.pump import SCRATCH_BYTES, Pump
from kproxy.relay.splice import SPLICE_FROM
from tests.unit.relay.flows import Relay as Flows
from tests.unit.relay.sockets import request as pipelined

from .counted import counted
from .frames import Fetch, OneRecordProduce
from .virtual_cluster import VirtualCluster

MIB: Final = 1 << 20
REQUESTS: Final = 500
SYSTEM_CALLS: Final = {"socket.recv": 2, "socket.send": 2}
"""For a small request and its response: each is read once and sent once."""
FUNCTION_CALLS: Final = 26
BUILTIN_CALLS: Final = 24
POLLS: Final = frozenset({"epoll.poll", "epoll.fileno"})
"""How many events one poll brings depends on time."""
KEPT_BLOCKS: Final = 100
"""Blocks of memory that 2,000 requests may leave behind: the interpreter's own caches."""
EXTRA_BYTES: Final = 256 << 10
"""Bytes that may be allocated while a frame of any size passes."""


@contextmanager
def connected() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The two ends of a TCP connection; the second is non-blocking, as the relay wants it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname(), 30)
        far, _ = listener.accept()
    with near, far:
        near.settimeout(30)
        far.setblocking(False)
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield near, far


@dataclass(slots=True)
class Peers:
    """A client and a broker with the relay between them; each must get what the other sent."""

    client: socket.socket
    broker: socket.socket
    cluster: VirtualCluster
    _buffer: bytearray = field(default_factory=lambda: bytearray(MIB))

    def _expect(self, receiver: socket.socket, sent: bytes) -> None:
        """Receive exactly what was sent; no memory is allocated for it, since allocations are measured."""
        expected, position, buffer = memoryview(sent), 0, memoryview(self._buffer)
        while position < len(sent):
            count = receiver.recv_into(buffer[: len(sent) - position])
            assert count, f"closed after {position} of {len(sent)} bytes"
            assert buffer[:count] == expected[position : position + count], f"other bytes after {position}"
            position += count

    def exchange(self, request: bytes, response: bytes, times: int = 1) -> None:
        """Send requests one after the other, each answered; it blocks, so it must run in a thread."""
        for _ in range(times):
            self.client.sendall(request)
            self._expect(self.broker, request)
            self.broker.sendall(response)
            self._expect(self.client, response)

    def carry(self, sender: socket.socket, receiver: socket.socket, frame: bytes) -> None:
        """Send a frame that fills every buffer on its way, and take it at the same time."""
        sending = threading.Thread(target=sender.sendall, args=(frame,))
        sending.start()
        self._expect(receiver, frame)
        sending.join()

    def large(self, request: bytes, response: bytes) -> None:
        """Carry a request and its response, either of which may be large."""
        self.carry(self.client, self.broker, request)
        self.carry(self.broker, self.client, response)


@asynccontextmanager
async def relayed(cluster: VirtualCluster | None = None) -> AsyncIterator[Peers]:
    """Yield one connection in a running pump."""
    cluster, pump = cluster or VirtualCluster(), Pump(Limits(), Timeouts())
    with connected() as (client, from_client), connected() as (broker, to_broker):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pump.run)
            pump.relay(cluster.context(), cluster.table, Limits(), from_client, to_broker, "broker:9092")
            yield Peers(client, broker, cluster)
            nursery.cancel_scope.cancel()


@contextmanager
def allocations() -> Iterator[list[int]]:
    """Yield a list that holds, at the end, the most bytes that Python had at once beyond those at the beginning."""
    peak: list[int] = []
    tracemalloc.start()
    try:
        yield peak
        peak.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


async def in_thread(work: Callable[..., None], *arguments: object) -> None:
    with trio.fail_after(120):
        await trio.to_thread.run_sync(work, *arguments)


async def test_a_small_request_is_read_once_and_sent_once() -> None:
    """No system call beyond recv and send for each direction; epoll's registrations do not change in steady state."""
    produce = OneRecordProduce.to("bench")
    async with relayed() as peers:
        await in_thread(peers.exchange, produce.request, produce.response(), 100)
        with counted() as work:
            await in_thread(peers.exchange, produce.request, produce.response(), REQUESTS)
    system_calls = {name: count for name, count in work.builtins.items() if name.startswith(("socket.", "epoll."))}
    turns = {"epoll.modify": work.functions["Alarm.set"]}
    assert {name: count for name, count in system_calls.items() if name not in POLLS} == turns | {
        name: count * REQUESTS for name, count in SYSTEM_CALLS.items()
    }
    assert turns["epoll.modify"] < REQUESTS / 10


async def test_a_small_request_costs_few_calls() -> None:
    """One small request and its response cost few calls of functions, kproxy's own and built in."""
    produce = OneRecordProduce.to("bench")
    async with relayed() as peers:
        await in_thread(peers.exchange, produce.request, produce.response(), 100)
        with counted() as work:
            await in_thread(peers.exchange, produce.request, produce.response(), REQUESTS)
    builtins = sum(count for name, count in work.builtins.items() if name not in POLLS)
    assert work.functions.total() / REQUESTS <= FUNCTION_CALLS, work.functions
    assert builtins / REQUESTS <= BUILTIN_CALLS, work.builtins


async def test_transactions_cost_others_nothing() -> None:
    """Without a transactional id a Produce request makes the same calls, each as often, as if nothing was noted."""
    produce, counts = OneRecordProduce.to("bench"), []
    for notes in (False, True):
        async with relayed(VirtualCluster(notes_transactions=notes)) as peers:
            await in_thread(peers.exchange, produce.request, produce.response(), 100)
            with counted() as work:
                await in_thread(peers.exchange, produce.request, produce.response(), REQUESTS)
        done = (*work.functions.items(), *work.builtins.items())
        # Rounds of the pump take no part, nor does what is called now and then, as the look at the loop's lag.
        counts.append({name: count // REQUESTS for name, count in done if name not in POLLS and count >= REQUESTS})
    assert counts[0] == counts[1]


def test_ids_that_descend_are_looked_up_without_a_scan() -> None:
    """The requests in flight are looked at once for a thousand ids, not once for each."""
    asked = b"".join(pipelined(number) for number in range(REQUESTS, 0, -1))
    flows = Flows()
    with counted() as work:
        flows.feed("client", asked)
    assert len(flows.in_flight) == REQUESTS
    assert work.functions["InFlight.__iter__"] <= 10


async def test_small_requests_leave_nothing_behind() -> None:
    """In steady state every object that a request made is gone after its response."""
    produce = OneRecordProduce.to("bench")
    async with relayed() as peers:
        await in_thread(peers.exchange, produce.request, produce.response(), 1000)
        gc.collect()
        before = sys.getallocatedblocks()
        await in_thread(peers.exchange, produce.request, produce.response(), 2000)
        gc.collect()
        assert sys.getallocatedblocks() - before <= KEPT_BLOCKS


async def test_a_large_produce_is_not_copied_through_python() -> None:
    """Only the head and the tail of a 16 MiB request come into the process; nothing is buffered."""
    produce = OneRecordProduce.to("bench", 16 * MIB)
    async with relayed() as peers:
        with allocations() as peak:
            await in_thread(peers.large, produce.request, produce.response())
        copied = len(produce.request) - peers.cluster.counters.spliced_bytes
    assert copied <= SCRATCH_BYTES + SPLICE_FROM
    assert peak[0] <= EXTRA_BYTES


@pytest.mark.parametrize("partitions", [1, 16])
async def test_a_large_fetch_is_not_copied_through_python(partitions: int) -> None:
    """Of each 1 MiB of records only what came with the fields before and after comes into the process."""
    fetch = Fetch.of(partitions, MIB)
    async with relayed() as peers:
        with allocations() as peak:
            await in_thread(peers.large, fetch.request, fetch.response)
        copied = len(fetch.response) - peers.cluster.counters.spliced_bytes
    assert copied <= partitions * (SCRATCH_BYTES + SPLICE_FROM)
    assert peak[0] <= EXTRA_BYTES
