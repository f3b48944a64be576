"""One virtual cluster's epoch at work: when it rises, every connection from before is parted from or told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final
from zlib import crc32

import trio

from kproxy.observe.reasons import Reason
from kproxy.rebootstrap.actions import Action, Cause, Trigger
from kproxy.rebootstrap.client_capabilities import believes_the_body, capability, hides_topic_ids, keeps_leader_epochs
from kproxy.rebootstrap.decisions import TOPOLOGY, Place
from kproxy.rebootstrap.epoch import Epoch
from kproxy.rebootstrap.notified_clients import Client, NotifiedClients

if TYPE_CHECKING:
    from kproxy.cluster.cluster import Cluster
    from kproxy.protocol.context import Context
    from kproxy.relay.connection import Connection

PATIENCE: Final = 1.0
"""Seconds for what is in flight to be answered, once the topology that it was sent to is gone."""
_BATCH: Final = 100
"""Connections that are closed at a time, before others are served."""

GONE: Final = -1
"""The epoch of a connection that is to end, whatever the cluster's is."""

Part = Callable[["Connection", Reason], None]


class Rebootstrap:
    """`part` has a connection answer what it received, then close; `floor` is the epoch's, in seconds."""

    def __init__(self, cluster: Cluster, floor: float, part: Part) -> None:
        self.epoch = Epoch(floor)
        self._cluster = cluster
        self._counters = cluster.counters
        self._events = cluster.events
        self._part = part
        self._ledger = NotifiedClients()
        self._told: set[Context] = set()
        self._epochs_of: str | None = None  # the cluster whose leader epochs were told first
        self._epochs_differ = False
        # As kproxy began: a client that was told ids ignores metadata without them until it is restarted.
        self._hides_topic_ids_from = cluster.settings.hides_topic_ids_from

    def judge(self, context: Context, ask: Trigger) -> Action:
        """What a client gets for what it asks; booked and counted."""
        if context.stale and ask in TOPOLOGY and believes_the_body(context.software):
            means = Action.CLOSE
        else:
            able = capability(context.software, context.metadata_version)
            means = self._ledger.judge(identity(context), self._place(context), ask, able, context.stale)
        if means is not Action.SERVE and not (means is Action.NOT_COORDINATOR and context in self._told):
            self._counters.count_told(means, context.software)
            if context.stale:
                self._told.add(context)
        return means

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """Whether the client keeps leader epochs, and has been told, or may have been, another cluster's.

        May: once the clusters differ it is true for all such clients. Which of them were there before cannot be told
        for certain, since clients look alike; those that were not lose only the epochs' use, never an answer.
        """
        if not keeps_leader_epochs(context.software):
            return False
        if self._epochs_of is None:
            self._epochs_of = cluster_id
        self._epochs_differ = self._epochs_differ or cluster_id != self._epochs_of
        return self._epochs_differ

    def hides_topic_ids(self, context: Context) -> bool:
        """Whether the client is told neither topic ids nor leader epochs, here and at every other upstream cluster."""
        return hides_topic_ids(context.software, self._hides_topic_ids_from)

    def _place(self, context: Context) -> Place:
        if context.node_id is None:
            return Place.BOOTSTRAP
        return Place.RETIRED if context.retired and not self._cluster.serves_retired else Place.NODE

    def wait(self, now: float) -> float:
        """Seconds until the epoch may rise again; 0 when it may now."""
        return self.epoch.wait(now)

    def begin(self, cause: Cause, work: trio.Nursery, **fields: object) -> int:
        """A new epoch, whose floor has passed: part from every connection from before; returns how many there are."""
        self.epoch.raise_for(cause, trio.current_time())
        self._ledger.begin()
        self._told.clear()
        stale = [connection for connection in self._cluster.connections() if connection.context.stale]
        self._counters.raise_epoch(cause)
        self._events.record(
            "clients rebootstrap", cause=str(cause), epoch=self.epoch.number, connections=len(stale), **fields
        )
        self.owe(stale)
        work.start_soon(self.part, stale)
        return len(stale)

    def owe(self, connections: Iterable[Connection]) -> None:
        """Their clients are to be told, here or wherever they come next."""
        for connection in connections:
            connection.requests.outdate()
            if connection.context.node_id is not None:
                self._ledger.owe(identity(connection.context))

    async def part(self, connections: Sequence[Connection]) -> None:
        """Have them answer what they received for a moment, then close them."""
        await self._each(connections, self._begin_end)
        with trio.move_on_after(PATIENCE):
            while any(not connection.closed for connection in connections):  # noqa: ASYNC110 (they are the pump's)
                await trio.sleep(PATIENCE / 20)
        await self._each(connections, self._end)

    async def spread(self, seconds: float) -> None:
        """Part from all, each client at its own moment of that time: those who take them in are not stormed."""
        self._ledger.begin()
        self._counters.epochs[Cause.DRAIN] += 1
        leaving: dict[Client, list[Connection]] = {}
        for connection in self._cluster.connections():
            leaving.setdefault(identity(connection.context), []).append(connection)
        self._events.record("clients are sent to siblings", clients=len(leaving), seconds=seconds)
        begun = trio.current_time()
        async with trio.open_nursery() as nursery:
            for client in sorted(leaving, key=share):
                await trio.sleep_until(begun + share(client) * seconds)
                for connection in leaving[client]:
                    connection.context.epoch = GONE
                self.owe(leaving[client])
                nursery.start_soon(self.part, leaving[client])

    async def _each(self, connections: Sequence[Connection], act: Callable[[Connection], None]) -> None:
        for number, connection in enumerate(connections, 1):
            act(connection)
            if number % _BATCH == 0:
                await trio.lowlevel.checkpoint()

    def _begin_end(self, connection: Connection) -> None:
        if not connection.closed:
            self._part(connection, Reason.REBOOTSTRAP)

    def _end(self, connection: Connection) -> None:
        if not connection.closed:
            connection.close(Reason.REBOOTSTRAP, f"not answered within {PATIENCE:g} s")
        if connection.context not in self._told:
            self._counters.count_told(Action.CLOSE, connection.context.software)
        self._told.discard(connection.context)


def identity(context: Context) -> Client:
    """Who the client is, as far as it can be told from others."""
    name, version = context.software or (None, None)
    return Client(context.host, context.client_id, name, version)


def share(client: Client) -> float:
    """A client's moment in the time over which all are sent away, in [0, 1): any, but always the same."""
    return crc32(repr(client).encode()) / 2**32
