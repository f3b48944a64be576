"""Rebootstrap for one virtual cluster: what each client gets, and what happens when the epoch rises.

This package's policies ask it about each request whose client may have to be notified. `Cluster` has it raise the epoch
when all clients must bootstrap again, for instance at a failover.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final

import trio

from kproxy.observe.events import ClientsRebootstrap, ClientsSentToSiblings, TopologyEvent
from kproxy.observe.faults import guarded
from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where
from kproxy.protocol.connections import Afterwards, ConnectionInfo, Connections, Selector
from kproxy.rebootstrap.actions import Action, Cause, Trigger
from kproxy.rebootstrap.client_capabilities import (
    believes_the_body,
    capability,
    hides_topic_ids,
    keeps_leader_epochs,
)
from kproxy.rebootstrap.decisions import TOPOLOGY, Place
from kproxy.rebootstrap.epoch import Epoch
from kproxy.rebootstrap.look_alikes import look_alikes
from kproxy.rebootstrap.notified_clients import Client, NotifiedClients, identity

if TYPE_CHECKING:
    from kproxy.observe.counters import ClusterCounters
    from kproxy.protocol.context import Context

PATIENCE: Final = 1.0
"""Seconds left for requests in flight to be answered, once the topology that they were sent to is gone."""

Record = Callable[[TopologyEvent], None]


class RebootstrapService:
    """Implements `kproxy.rebootstrap.answers.Rebootstrap`."""

    def __init__(
        self,
        counters: ClusterCounters,
        connections: Connections,
        record: Record,
        *,
        floor: float,
        hides_topic_ids_from: Collection[str],
        serves_retired: Callable[[], bool],
        has_moved: Callable[[], bool],
    ) -> None:
        """`floor` is the epoch's, in seconds; `serves_retired` says whether a retired node's listener serves.

        `has_moved` says whether clients were ever sent to another cluster: what is kept, or agreed, of the failovers.
        """
        self.epoch = Epoch(floor)
        self._counters = counters
        counters.begin_causes(map(str, Cause))
        self._connections = connections
        self._record = record
        self._serves_retired = serves_retired
        self._has_moved = has_moved
        self._notified_clients = NotifiedClients()
        self._counted: set[int] = set()
        """Ids of connections of an earlier epoch that have their client's action counted."""
        self._to_be_notified: set[int] = set()
        """Ids of connections on which 129 was decided in the present epoch; it may still be queued."""
        self._first_cluster: str | None = None
        """The id of the cluster that clients got the first leader epochs of."""
        self._epochs_differ = False
        # Fixed at kproxy's start: a client that got ids ignores metadata without them until it is restarted.
        self._hides_topic_ids_from = hides_topic_ids_from

    def decide(self, context: Context, trigger: Trigger) -> Action:
        """Return what a client gets for its request; note and count it."""
        if context.stale and trigger in TOPOLOGY and believes_the_body(context.software):
            action = Action.CLOSE
        else:
            can = capability(context.software, context.metadata_version)
            place, client = self._place(context), identity(context)
            action = self._notified_clients.decide(client, place, trigger, can, context.stale)
        if action is Action.NOTIFY:
            self._to_be_notified.add(context.id)
        if action is not Action.SERVE and not (action is Action.NOT_COORDINATOR and context.id in self._counted):
            self._counters.count_notified(action, context.software)
            if context.stale:
                self._counted.add(context.id)
        return action

    def answers_in_flight(self, context: Context) -> bool:
        """True when kproxy answers a group's requests in flight by 16, in place of a broker from an earlier epoch."""
        return self.decide(context, Trigger.COORDINATOR) is Action.NOT_COORDINATOR

    def keeps_leader_epochs(self, context: Context) -> bool:
        """True when the client takes a leader with a lower epoch for outdated, even at another cluster."""
        return keeps_leader_epochs(context.software)

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """True when the client keeps leader epochs, and has got, or may have got, another cluster's.

        Once the clusters differ this is true for all such clients. Which of them were there before is not known for
        certain, since clients look alike. Those that were not lose only the use of epochs, never an answer.
        """
        if not keeps_leader_epochs(context.software):
            return False
        if self._first_cluster is None:
            self._first_cluster = cluster_id
        self._epochs_differ = self._epochs_differ or cluster_id != self._first_cluster
        return self._epochs_differ or self._has_moved()

    @property
    def may_know_another(self) -> bool:
        """Whether clients may come from another cluster or topology."""
        return self.epoch.number > 0 or self._has_moved()

    def hides_topic_ids(self, context: Context) -> bool:
        """True when the client gets neither topic ids nor leader epochs, here and at every other upstream cluster."""
        return hides_topic_ids(context.software, self._hides_topic_ids_from)

    def _place(self, context: Context) -> Place:
        if context.node_id is None:
            return Place.BOOTSTRAP
        return Place.RETIRED if context.retired and not self._serves_retired() else Place.NODE

    def wait(self, now: float) -> float:
        """Return the seconds until the epoch may rise again; 0 when it may now."""
        return self.epoch.wait(now)

    def begin_epoch(
        self,
        cause: Cause,
        work: trio.Nursery,
        upstream: str,
        *,
        previous_upstream: str | None = None,
        cluster_id: str | None = None,
        previous_cluster_id: str | None = None,
        afterwards: Afterwards | None = None,
    ) -> int:
        """Raise the epoch, after its floor has passed, and end all earlier connections; return how many.

        `upstream` is the active one. Pass the previous upstream, or the previous cluster id, where it has changed.
        `afterwards` is called when all earlier connections have ended.
        """
        self.epoch.raise_for(cause, trio.current_time())
        self._notified_clients.begin_epoch()
        self._counted.clear()
        stale = list(self._connections.infos(self._of(before_epoch=self.epoch.number)))
        self._counters.raise_epoch(cause)
        ids = cluster_id, previous_cluster_id
        self._record(ClientsRebootstrap(str(cause), self.epoch.number, len(stale), upstream, previous_upstream, *ids))
        self._owe(stale)
        # A 129 of the previous epoch that is still queued names that epoch's nodes.
        self._connections.close(self._of(ids=self._to_be_notified), Reason.REBOOTSTRAP)
        self._to_be_notified.clear()
        work.start_soon(guarded, self._counters.troubles, Where.REBOOTSTRAP, self._drain, stale, afterwards)
        return len(stale)

    def _owe(self, connections: Sequence[ConnectionInfo]) -> None:
        """Have their clients notified, on these connections or wherever they come next."""
        self._connections.use_stale_policies(self._of(ids=_ids(connections)))
        for client, alike in look_alikes(connections).items():
            self._notified_clients.owe(client, alike)

    async def _drain(self, connections: Sequence[ConnectionInfo], afterwards: Afterwards | None = None) -> None:
        """Let them answer what they received, for `PATIENCE`, then close them; count those without an answer."""
        drained = await self._connections.drain(self._of(ids=_ids(connections)), Reason.REBOOTSTRAP, PATIENCE)
        ended = {connection.id: connection for connection in drained}
        for connection in connections:
            if connection.id not in self._counted:
                self._counters.count_notified(Action.CLOSE, ended.get(connection.id, connection).software)
            self._counted.discard(connection.id)
        if afterwards is not None:
            await afterwards()

    async def spread(self, seconds: float) -> None:
        """End all connections, each client's at its own moment within `seconds`, so that the siblings get no storm."""
        self._notified_clients.begin_epoch()
        self._counters.epochs[Cause.DRAIN] += 1
        leaving: dict[Client, list[ConnectionInfo]] = {}
        for connection in self._connections.infos(self._of()):
            leaving.setdefault(identity(connection), []).append(connection)
        self._record(ClientsSentToSiblings(len(leaving), float(seconds)))
        begun = trio.current_time()
        async with trio.open_nursery() as nursery:
            for client in sorted(leaving, key=lambda client: client.share):
                await trio.sleep_until(begun + client.share * seconds)
                self._owe(leaving[client])
                nursery.start_soon(guarded, self._counters.troubles, Where.REBOOTSTRAP, self._drain, leaving[client])

    def _of(self, *, before_epoch: int | None = None, ids: Collection[int] | None = None) -> Selector:
        """Return the selector of this virtual cluster's connections."""
        return Selector(self._counters.name, before_epoch, None if ids is None else frozenset(ids))


def _ids(connections: Sequence[ConnectionInfo]) -> frozenset[int]:
    return frozenset(connection.id for connection in connections)
