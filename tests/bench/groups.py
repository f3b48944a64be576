"""Measure hosted groups beside the backend's own coordinator, both through kproxy: a large rebalance, and heartbeats.

`make bench-groups` runs it. Both groups are at one Kafka of one broker.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
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
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.find_coordinator_request import FindCoordinatorRequest
from kproxy.wire.generated.find_coordinator_response import FindCoordinatorResponse
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.heartbeat_response import HeartbeatResponse
from kproxy.wire.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kproxy.wire.generated.join_group_response import JoinGroupResponse
from kproxy.wire.generated.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kproxy.wire.generated.sync_group_response import SyncGroupResponse
from kproxy.wire.header import RequestHeader, decode_response_header, encode_request_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame
from tests.support.proc import family_cpu_seconds
from tests.support.proxy import Proxy
from tests.support.wait import until

DELAY_MS: Final = 1000
"""The initial rebalance delay of both coordinators: all members join within it, so that there is one generation."""
_NOT_YET: Final = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
_SESSION_MS: Final = 60_000
_JOIN: Final = 3
"""The version of JoinGroup: the last one in which a new member needs no id first, which takes a request less."""
_SYNC, _HEARTBEAT, _FIND = 2, 2, 1
_METADATA_BYTES: Final = 200
_ASSIGNMENT_BYTES: Final = 100
HEARTBEAT_SECONDS: Final = 3.0


class Connection:
    """A connection to the group's coordinator, with any number of requests in flight."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._sending = trio.Lock()
        self._ids = itertools.count(1)
        self._waiting: list[tuple[int, type[WireMessage], int, trio.Event, list[WireMessage]]] = []
        self._buffer = bytearray()

    async def ask(self, key: int, version: int, request: WireMessage, kind: type[WireMessage]) -> WireMessage:
        """Return the response to a request; `read` must run."""
        done, answer = trio.Event(), list[WireMessage]()
        head = encode_request_header(RequestHeader(key, version, next(self._ids), "bench"))
        async with self._sending:
            self._waiting.append((key, kind, version, done, answer))
            await self._stream.send_all(frame(head, request.encode(version)))
        await done.wait()
        return answer[0]

    async def read(self) -> None:
        """Take responses, which come in the order of the requests, until cancelled."""
        while True:
            while len(self._buffer) >= 4:
                size = int.from_bytes(self._buffer[:4])
                if len(self._buffer) < 4 + size:
                    break
                body = bytes(self._buffer[4 : 4 + size])
                del self._buffer[: 4 + size]
                key, kind, version, done, answer = self._waiting.pop(0)
                _, at = decode_response_header(body, 0, size, key, version)
                answer.append(kind.decode(memoryview(body)[at:], version))
                done.set()
            some = await self._stream.receive_some(1 << 16)
            assert some, "the connection was closed"
            self._buffer += some


@dataclass(slots=True)
class Member:
    """A member of a group, on a connection that it may share with members of other groups."""

    connection: Connection
    group: str
    id: str = ""
    generation: int = -1
    latencies: list[float] = field(default_factory=list)

    async def join_and_sync(self, metadata: bytes) -> None:
        """Join until it is in a generation whose assignments are there."""
        while True:
            joined = await self._join(metadata)
            if joined.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                continue
            if joined.error_code in _NOT_YET:  # a broker that has just started reads its groups first
                await trio.sleep(0.1)
                continue
            assert joined.error_code == ErrorCode.NONE, joined.error_code
            self.id, self.generation = joined.member_id, joined.generation_id
            assignments = [
                SyncGroupRequestAssignment(each.member_id, b"x" * _ASSIGNMENT_BYTES) for each in joined.members
            ]
            request = SyncGroupRequest(self.group, self.generation, self.id, assignments=assignments)
            synced = await self.connection.ask(ApiKey.SYNC_GROUP, _SYNC, request, SyncGroupResponse)
            assert isinstance(synced, SyncGroupResponse)
            if synced.error_code == ErrorCode.NONE:
                return
            assert synced.error_code == ErrorCode.REBALANCE_IN_PROGRESS, synced.error_code

    async def _join(self, metadata: bytes) -> JoinGroupResponse:
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=_SESSION_MS,
            rebalance_timeout_ms=_SESSION_MS,
            member_id=self.id,
            protocol_type="bench",
            protocols=[JoinGroupRequestProtocol("range", metadata)],
        )
        joined = await self.connection.ask(ApiKey.JOIN_GROUP, _JOIN, request, JoinGroupResponse)
        assert isinstance(joined, JoinGroupResponse)
        return joined

    async def heartbeat(self) -> None:
        """Send a heartbeat and note how long its answer took."""
        begun = time.perf_counter()
        request = HeartbeatRequest(self.group, self.generation, self.id)
        answer = await self.connection.ask(ApiKey.HEARTBEAT, _HEARTBEAT, request, HeartbeatResponse)
        self.latencies.append(time.perf_counter() - begun)
        assert isinstance(answer, HeartbeatResponse)
        assert answer.error_code == ErrorCode.NONE, answer.error_code


@contextmanager
def proxy(bootstrap: str, directory: Path) -> Iterator[Proxy]:
    """A kproxy that hosts the groups whose names begin with `hosted`."""
    groups = [{"match": "hosted.*", "initial_rebalance_delay": f"{DELAY_MS}ms"}]
    with Proxy(directory, {"kafka": bootstrap}, each={"groups": groups}) as made:
        yield made


async def _together(work: Sequence[Callable[[], Awaitable[None]]]) -> float:
    """Do all at the same time; return the seconds until the last one is done."""
    begun = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for each in work:
            nursery.start_soon(each)
    return time.perf_counter() - begun


async def rebalances(port: int, group: str, members: int, rounds: int) -> list[float]:
    """Return the seconds from first Join to last Sync of each round in which all members join again."""
    async with trio.open_nursery() as nursery:
        some = []
        for _ in range(members):
            connection = Connection(await trio.open_tcp_stream(HOST, port))
            nursery.start_soon(connection.read)
            some.append(Member(connection, group))
        found = []
        for number in range(rounds + 1):
            metadata = number.to_bytes(4) + bytes(_METADATA_BYTES)
            found.append(await _together([partial(member.join_and_sync, metadata) for member in some]))
        nursery.cancel_scope.cancel()
    return found[1:]


async def heartbeats(
    port: int, name: str, groups: int, members: int, seconds: float, cpu: Callable[[], float]
) -> tuple[float, list[float]]:
    """Return the part of a processor that kproxy took, and the latencies in seconds, while all send heartbeats."""
    async with trio.open_nursery() as nursery:
        connections = []
        for _ in range(100):
            connection = Connection(await trio.open_tcp_stream(HOST, port))
            nursery.start_soon(connection.read)
            connections.append(connection)
        some = [
            Member(connections[(group * members + number) % len(connections)], f"{name}-{group}")
            for group in range(groups)
            for number in range(members)
        ]
        for begin in range(0, groups, 100):
            chosen = some[begin * members : (begin + 100) * members]
            await _together([partial(member.join_and_sync, bytes(_METADATA_BYTES)) for member in chosen])
        before, begun = cpu(), time.perf_counter()
        async with trio.open_nursery() as senders:
            for number, member in enumerate(some):
                first = HEARTBEAT_SECONDS * number / len(some)
                senders.start_soon(_beat, member, begun + first, begun + seconds)
        took = cpu() - before
        elapsed = time.perf_counter() - begun
        nursery.cancel_scope.cancel()
    return took / elapsed, [each for member in some for each in member.latencies]


async def _beat(member: Member, first: float, end: float) -> None:
    while first < end:
        await trio.sleep(max(0.0, first - time.perf_counter()))
        await member.heartbeat()
        first += HEARTBEAT_SECONDS


def coordinator_port(made: Proxy, group: str) -> int:
    """Return the port at which kproxy advertises the broker that coordinates a group."""

    async def ask() -> int:
        async with trio.open_nursery() as nursery:
            connection = Connection(await trio.open_tcp_stream(HOST, made.port()))
            nursery.start_soon(connection.read)
            request = FindCoordinatorRequest(key=group)
            found = await connection.ask(ApiKey.FIND_COORDINATOR, _FIND, request, FindCoordinatorResponse)
            nursery.cancel_scope.cancel()
        assert isinstance(found, FindCoordinatorResponse)
        return 0 if found.error_code else found.port

    return until(lambda: trio.run(ask), f"a coordinator of {group}", timeout=60)


@click.command()
@click.option("--members", default=1000, show_default=True, help="Of the one group.")
@click.option("--groups", default=1000, show_default=True, help="Of ten members each, that send heartbeats.")
@click.option("--rounds", default=5, show_default=True, help="Rebalances of each coordinator.")
@click.option("--seconds", default=15.0, show_default=True, help="Of heartbeats.")
def main(members: int, groups: int, rounds: int, seconds: float) -> None:
    """One broker of Kafka 4.3.1, and one kproxy for both coordinators."""
    settings = {"group.initial.rebalance.delay.ms": DELAY_MS, "group.max.session.timeout.ms": 1_800_000}
    with (
        tempfile.TemporaryDirectory() as directory,
        Cluster(jars.KAFKA_4_3, (0,), options=(), heap_mb=512, settings=settings) as cluster,
        proxy(cluster.bootstrap, Path(directory)) as made,
    ):
        names = ("backend", "hosted")
        port = {name: coordinator_port(made, name) for name in names}
        medians = {}
        for name in names:
            found = trio.run(rebalances, port[name], name, members, rounds)
            medians[name] = statistics.median(found)
            print(f"{members} members at {name}: {medians[name]:.3f} s ({min(found):.3f}-{max(found):.3f})", flush=True)
        print(f"hosted / backend: {medians['hosted'] / medians['backend']:.2f}")
        for name in names:
            share, latencies = trio.run(
                heartbeats, port[name], f"{name}-many", groups, 10, seconds, lambda: family_cpu_seconds(made.pid)
            )
            latencies.sort()
            p50, p99 = (latencies[int(len(latencies) * part)] * 1000 for part in (0.5, 0.99))
            print(
                f"{groups} groups of 10 at {name}: {len(latencies) / seconds:.0f} heartbeats/s, "
                f"{share:.0%} of a processor, p50 {p50:.2f} ms, p99 {p99:.2f} ms",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
