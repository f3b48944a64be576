"""Switches a virtual cluster to another upstream when the active one stays away, where `failover.automatic` says so.

Its task `watch` looks at the active upstream every `LOOK_AGAIN` seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from kproxy.errors import ConflictError, UpstreamError
from kproxy.observe.events import NoUpstreamAnswers, UpstreamPassedOver
from kproxy.topology.snapshot import another_cluster

if TYPE_CHECKING:
    from kproxy.cluster.events import Events
    from kproxy.cluster.standbys import Standbys
    from kproxy.cluster.switches import Switches
    from kproxy.cluster.upstreams import Upstream, Upstreams
    from kproxy.topology.snapshot import Snapshot

LOOK_AGAIN: Final = 1.0
"""Seconds between two checks of whether the active upstream is reachable."""
LAST_LOOK: Final = 3.0
"""Seconds in which the active upstream may still answer before it is left."""


class AutomaticFailover:
    """Asks the standbys in their order of preference, once an outage has lasted long enough."""

    def __init__(self, upstreams: Upstreams, standbys: Standbys, events: Events, switches: Switches) -> None:
        self._upstreams = upstreams
        self._standbys = standbys
        self._events = events
        self._switches = switches
        self._reported: set[str] = set()
        """Names of the upstreams that this outage already has an event for."""

    async def watch(self) -> None:
        """Run until cancelled: fail over, if enabled, when the active upstream was unreachable for `failover.after`."""
        while True:
            await trio.sleep(LOOK_AGAIN)
            now = trio.current_time()
            watcher = self._upstreams.watcher
            failover = self._switches.failover
            failover.observe(None if watcher.blind else watcher.reachable is not False, now)
            if failover.down_since is None:
                self._reported.clear()
            if failover.due(now) and not self._switches.under_way:
                with self._switches.alone(at_once=False):
                    await self._to_next()

    async def _to_next(self) -> None:
        if self._switches.wait or self._ordered_elsewhere:
            return
        backends = list(self._upstreams.all.values())
        answered = False
        for number in self._switches.failover.candidates(self._switches.failover.active):
            upstream = backends[number]
            if doubt := self._standbys.doubt(upstream) or self._order_doubt(upstream):
                answered |= upstream.standing.answers
                self._pass_over(upstream, doubt)
                continue
            try:
                snapshot = await upstream.look()
            except UpstreamError as error:
                self._pass_over(upstream, str(error))
                continue
            if await self._settled(upstream, snapshot):
                return
            answered = True
        active = self._upstreams.active.name
        if not answered and self._is_news(active):
            self._events.record(NoUpstreamAnswers(active))

    def _order_doubt(self, upstream: Upstream) -> str | None:
        """Return why no order can be given now: to wait for that would refuse the operator's commands meanwhile."""
        return None if self._switches.orders is None else self._switches.orders.doubt(upstream.name)

    @property
    def _ordered_elsewhere(self) -> bool:
        """Whether another replica's order is to be followed first."""
        return self._switches.orders is not None and self._switches.orders.pending is not None

    async def _settled(self, upstream: Upstream, snapshot: Snapshot) -> bool:
        """Return True when the search is over: `upstream` took over, or the active one is back, or cannot be asked.

        It is over, too, where a reload has changed the upstreams meanwhile: the next search is among those.
        """
        objection = await self._objection(upstream, snapshot)
        if self._upstreams.watcher.reachable is not False or self._upstreams.watcher.blind:
            return True
        if not self._switches.is_known(upstream):
            return True
        if objection is None:
            if await self._is_back():
                return True
            try:
                order = await self._switches.ordered(upstream, snapshot, "automatic", force=False)
            except ConflictError as error:
                self._pass_over(upstream, str(error))
                return self._ordered_elsewhere
            await self._switches.switch(upstream, snapshot, order)
            return True
        self._pass_over(upstream, objection)
        return False

    async def _is_back(self) -> bool:
        """Ask the active one once more: its last poll may be half a minute ago, by the back-off of failed ones."""
        active = self._upstreams.active
        with trio.move_on_after(LAST_LOOK):
            try:
                await active.look()
            except UpstreamError:
                return False
            active.watcher.hint()
            return True
        return False

    async def _objection(self, upstream: Upstream, snapshot: Snapshot) -> str | None:
        """Return why an upstream that answers does not take over all the same."""
        known = upstream.standing.cluster_id
        if another_cluster(known, snapshot.cluster_id):
            return f"its cluster id has changed from {known} to {snapshot.cluster_id}"
        if (problem := self._switches.no_ports(snapshot)) is not None:
            return str(problem)
        try:
            lacking = await self._standbys.lacking(upstream)
        except UpstreamError as error:
            return str(error)
        return str(lacking) if lacking.most else None

    def _pass_over(self, upstream: Upstream, why: str) -> None:
        """Say once in an outage why this one does not take over, and have it looked at again soon."""
        if self._is_news(upstream.name):
            self._events.record(UpstreamPassedOver(self._upstreams.active.name, upstream.name, why))
        if not upstream.watcher.blind:  # a broker that refuses kproxy is not asked more often than others
            upstream.watcher.hint()

    def _is_news(self, about: str) -> bool:
        """True for the first event about this upstream in an outage; further attempts get none."""
        reported = about in self._reported
        self._reported.add(about)
        return not reported
