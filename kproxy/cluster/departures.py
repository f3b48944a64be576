"""Has members of groups leave the upstream cluster that they were sent away from, those that came through this proxy.

`Cluster.switch` begins it. It never delays a switch, and what fails is logged once for a switch, and counted.

The order matters. From the switch on, kproxy passes no request of a group's member on to the old cluster, and it awaits
the commits that are there, for a second at most. Members leave when the last of their connections has ended: a commit
of a member that has left would be refused. The next switch ends it, since it may send clients back to this cluster,
where a member that had kept its id would have to join anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.errors import UpstreamError
from kproxy.protocol.connections import Afterwards
from kproxy.rebootstrap.actions import Outcome

if TYPE_CHECKING:
    from kproxy.cluster.upstreams import Upstream
    from kproxy.observe.counters import ClusterCounters
    from kproxy.rebootstrap.group_members import GroupMembers
    from kproxy.rebootstrap.leave_groups import Leaving
    from kproxy.topology.snapshot import Snapshot

PATIENCE: Final = 5.0
"""Seconds in which members may leave, all together."""

log = structlog.get_logger("kproxy.cluster")


class Departures:
    """The members of one virtual cluster that are leaving upstream clusters."""

    def __init__(self, members: GroupMembers, counters: ClusterCounters, hosts: Callable[[str], bool]) -> None:
        """`hosts` tells the groups that kproxy hosts: their members stay."""
        self.members = members
        self._counters = counters
        counters.begin_departures(map(str, Outcome))
        self._hosts = hosts
        self._scope = trio.CancelScope()

    def switch(self, upstream: Upstream, snapshot: Snapshot | None) -> Afterwards | None:
        """Take the members at `upstream`, which clients are sent away from; return what to do once they are gone.

        `snapshot` is of the cluster that they are sent to, None where it is not known. If it is the same cluster by
        another name, they stay.
        """
        self._scope.cancel()
        left = upstream.snapshot
        if snapshot is not None and left is not None and snapshot.cluster_id == left.cluster_id:
            return None
        members = {group: ids for group, ids in self.members.take().items() if not self._hosts(group)}
        if not members:
            return None
        self._scope = trio.CancelScope()
        return partial(self._leave, upstream, members, self._scope)

    async def _leave(self, upstream: Upstream, members: Mapping[str, Sequence[str]], scope: trio.CancelScope) -> None:
        from kproxy.rebootstrap.leave_groups import Leaving  # noqa: PLC0415 (its codecs are for this only)

        leaving = Leaving(members)
        with scope, trio.move_on_after(PATIENCE):
            try:
                await upstream.ask(leaving.run)
            except UpstreamError as error:
                leaving.give_up(str(error))
        if not scope.cancelled_caught:
            leaving.give_up(f"no answer within {PATIENCE:g} s")
        self._report(upstream, leaving)

    def _report(self, upstream: Upstream, leaving: Leaving) -> None:
        for outcome, count in leaving.outcomes.items():
            self._counters.departures[outcome] += count
        stay = leaving.outcomes[Outcome.REFUSED] + leaving.outcomes[Outcome.UNREACHABLE]
        where = {"cluster": self._counters.name, "upstream": upstream.name}
        if stay:
            left = leaving.outcomes.total() - stay
            log.warning("members stay at the old coordinator", **where, stay=stay, left=left, why=leaving.why)
        else:
            log.info("members have left the old coordinator", **where, left=leaving.outcomes.total())
