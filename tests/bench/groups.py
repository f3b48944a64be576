"""Measure hosted groups beside the backend's own coordinator, both through kproxy: a large rebalance, and heartbeats.

`make bench-groups` runs it. Both groups are at one Kafka of one broker.
"""

from __future__ import annotations

import gc
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import click
import trio

from kproxy.local_kafka import jars
from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.cluster import Cluster
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.find_coordinator_request import FindCoordinatorRequest
from kproxy.wire.generated.find_coordinator_response import FindCoordinatorResponse
from tests.support.proc import family_cpu_seconds
from tests.support.proxy import Proxy
from tests.support.wait import until

from .bulk import create_topic, leader_address
from .group_members import METADATA_BYTES, Connection, Member
from .heartbeats import Heartbeats
from .helper import Helper

DELAY_MS: Final = 1000
"""The initial rebalance delay of both coordinators: all members join within it, so that there is one generation."""
_CONNECTIONS: Final = 1000
"""Of the members that send heartbeats: a broker answers a connection's requests one by one, and a join waits."""
HEARTBEAT_SECONDS: Final = 3.0
_OF_A_GROUP: Final = 10
"""Members of each group that sends heartbeats."""
_FIND: Final = 1
NAMES: Final = ("backend", "hosted")
_NONE: Final = "none"
_TOPIC: Final = "beside"


@contextmanager
def proxy(bootstrap: str, directory: Path, memory: bool) -> Iterator[Proxy]:
    """A kproxy that hosts the groups whose names begin with `hosted`; they are kept on the disk unless `memory`."""
    groups = [{"match": "hosted.*", "initial_rebalance_delay": f"{DELAY_MS}ms"}]
    state = {} if memory else {"path": str(directory / "state.db")}
    with Proxy(directory, {"kafka": bootstrap}, each={"groups": groups}, state=state) as made:
        yield made


async def _together(work: Sequence[Callable[[], Awaitable[None]]]) -> float:
    """Do all at the same time; return the seconds until the last one is done."""
    begun = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for each in work:
            nursery.start_soon(each)
    return time.perf_counter() - begun


@asynccontextmanager
async def _connected(port: int, count: int) -> AsyncIterator[list[Connection]]:
    """Connections whose responses are read, until the end of the block."""
    async with trio.open_nursery() as nursery:
        made = []
        for _ in range(count):
            made.append(Connection(await trio.open_tcp_stream(HOST, port)))
            nursery.start_soon(made[-1].read)
        yield made
        nursery.cancel_scope.cancel()


async def rebalances(port: int, group: str, members: int, rounds: int) -> list[float]:
    """Return the seconds from first Join to last Sync of each round in which all members join again."""
    async with _connected(port, members) as connections:
        some = [Member(connection, group) for connection in connections]
        found = []
        for number in range(rounds + 1):
            metadata = number.to_bytes(4) + bytes(METADATA_BYTES)
            found.append(await _together([partial(member.join_and_sync, metadata) for member in some]))
    return found[1:]


async def join(connections: Sequence[Connection], name: str, groups: int) -> list[Member]:
    """Return the members of groups of ten, all in their first generation."""
    some = [
        Member(connections[(group * _OF_A_GROUP + number) % len(connections)], f"{name}-{group}")
        for group in range(groups)
        for number in range(_OF_A_GROUP)
    ]
    for begin in range(0, len(some), len(connections)):
        chosen = some[begin : begin + len(connections)]
        await _together([partial(member.join_and_sync, bytes(METADATA_BYTES)) for member in chosen])
    return some


@dataclass(slots=True)
class Beside:
    """What one mode of heartbeats showed, by block: the p50 of requests beside it; without them, kproxy's CPU share.

    The latencies are those of heartbeats: beside requests, and without.
    """

    p50s: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    busy_latencies: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)


class Measured:
    """Heartbeats of hosted groups, of the backend's, and none, in turns; one-record requests beside them."""

    def __init__(self, made: Proxy, relayed: Helper, block: float) -> None:
        self.beside: dict[str, Beside] = {name: Beside() for name in (*NAMES, _NONE)}
        self._heartbeats = {_NONE: Heartbeats([], HEARTBEAT_SECONDS)}
        self._made = made
        self._relayed = relayed
        self._block = block

    async def run(self, ports: Mapping[str, int], groups: int, rounds: int) -> None:
        """Join all groups, then take `rounds` blocks of each mode, in another order each time."""
        rand = random.Random(1)
        async with AsyncExitStack() as stack:
            for name, port in ports.items():
                connections = await stack.enter_async_context(_connected(port, _CONNECTIONS))
                members = await join(connections, f"{name}-many", groups)
                self._heartbeats[name] = Heartbeats(members, HEARTBEAT_SECONDS)
            gc.freeze()  # the members of this process are many; a collection that looks at them all counts as latency
            for _ in range(rounds):
                for name in rand.sample(list(self.beside), len(self.beside)):
                    self._one(name)

    def _one(self, name: str) -> None:
        # It keeps Trio's loop from running, so that nothing else reads the connections.
        self._relayed.command(seconds=self._block)
        heartbeats, beside = self._heartbeats[name], self.beside[name]
        beside.busy_latencies += heartbeats.send(self._block)
        beside.p50s.append(self._relayed.answer()["p50"])
        before, begun = family_cpu_seconds(self._made.pid), time.perf_counter()
        beside.latencies += heartbeats.send(self._block)
        beside.shares.append((family_cpu_seconds(self._made.pid) - before) / (time.perf_counter() - begun))

    def lines(self) -> Iterator[str]:
        """Return what was found, a line for each mode."""
        alone = statistics.median(self.beside[_NONE].p50s)
        for name, beside in self.beside.items():
            p50, share = statistics.median(beside.p50s), statistics.median(beside.shares)
            line = f"heartbeats at {name}: p50 of a request beside them {p50 * 1000:.3f} ms ({p50 / alone - 1:+.0%})"
            if name != _NONE:
                line += f", theirs {_latencies(beside.busy_latencies)}; "
                line += f"alone {_latencies(beside.latencies)}, {share:.0%} of a processor"
            yield line


def _latencies(found: list[float]) -> str:
    p50, p99 = (sorted(found)[int(len(found) * part)] * 1000 for part in (0.5, 0.99))
    return f"p50 {p50:.2f} ms, p99 {p99:.2f} ms ({len(found)})"


def coordinator_port(made: Proxy, group: str) -> int:
    """Return the port at which kproxy advertises the broker that coordinates a group."""

    async def ask() -> int:
        async with _connected(made.port(), 1) as (connection,):
            request = FindCoordinatorRequest(key=group)
            found = await connection.ask(ApiKey.FIND_COORDINATOR, _FIND, request, FindCoordinatorResponse)
        assert isinstance(found, FindCoordinatorResponse)
        return 0 if found.error_code else found.port

    return until(lambda: trio.run(ask), f"a coordinator of {group}", timeout=60)


@click.command()
@click.option("--members", default=1000, show_default=True, help="Of the one group.")
@click.option("--groups", default=1000, show_default=True, help="Of ten members each, that send heartbeats.")
@click.option("--rounds", default=5, show_default=True, help="Of rebalances, and of blocks of heartbeats.")
@click.option("--seconds", default=9.0, show_default=True, help="Of a block of heartbeats.")
@click.option("--memory", is_flag=True, help="Keep hosted groups in memory only, without state.path.")
def main(members: int, groups: int, rounds: int, seconds: float, memory: bool) -> None:
    """One broker of Kafka 4.3.1, and one kproxy for both coordinators."""
    settings = {"group.initial.rebalance.delay.ms": DELAY_MS, "group.max.session.timeout.ms": 1_800_000}
    with (
        tempfile.TemporaryDirectory() as directory,
        Cluster(jars.KAFKA_4_3, (0,), options=(), heap_mb=512, settings=settings) as cluster,
        proxy(cluster.bootstrap, Path(directory), memory) as made,
    ):
        ports = {name: coordinator_port(made, name) for name in NAMES}
        medians = {}
        for name in NAMES:
            found = trio.run(rebalances, ports[name], name, members, rounds)
            medians[name] = statistics.median(found)
            print(f"{members} members at {name}: {medians[name]:.3f} s ({min(found):.3f}-{max(found):.3f})", flush=True)
        print(f"hosted / backend: {medians['hosted'] / medians['backend']:.2f}", flush=True)
        bootstrap = f"{HOST}:{made.port()}"
        create_topic(bootstrap, _TOPIC, 1)
        host, port = leader_address(bootstrap, _TOPIC)
        with closing(Helper("sender of requests", "tests.bench.relayed", host, str(port), _TOPIC)) as relayed:
            measured = Measured(made, relayed, seconds)
            trio.run(measured.run, ports, groups, rounds)
        print(f"{groups} groups of {_OF_A_GROUP}, a heartbeat every {HEARTBEAT_SECONDS:g} s:")
        print("\n".join(measured.lines()))


if __name__ == "__main__":
    sys.exit(main())
