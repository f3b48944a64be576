"""Switches a virtual cluster to another upstream: on an operator's request, or when the active one stays away.

The admin API calls it for the operator. Its task `watch` checks the active upstream every `LOOK_AGAIN` seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.errors import ConflictError, KproxyError, NotFoundError, RetryLaterError, UpstreamError
from kproxy.observe.events import NoUpstreamAnswers, UpstreamPassedOver
from kproxy.rebootstrap.actions import Cause
from kproxy.routing.ports import NoPortError
from kproxy.topology.failover import Failover

if TYPE_CHECKING:
    from kproxy.cluster.events import Events
    from kproxy.cluster.nodes import Nodes
    from kproxy.cluster.upstreams import Upstream, Upstreams
    from kproxy.config import VirtualCluster
    from kproxy.rebootstrap.service import RebootstrapService
    from kproxy.topology.snapshot import Snapshot

LOOK_AGAIN: Final = 1.0
"""Seconds between two checks of whether the active upstream is reachable."""

log = structlog.get_logger("kproxy.cluster")


Switch = Callable[["Upstream", "Snapshot | None", Cause], int]
"""Sends all clients to an upstream cluster; returns how many connections are notified or closed."""


class FailoverController:
    """The switches of one virtual cluster: one at a time, and never two within the epoch's floor."""

    def __init__(
        self,
        settings: VirtualCluster,
        upstreams: Upstreams,
        nodes: Nodes,
        rebootstrap: RebootstrapService,
        events: Events,
        switch: Switch,
        begin_epoch: Callable[[Cause], int],
    ) -> None:
        self._cluster = settings.name
        self._upstreams = upstreams
        self._nodes = nodes
        self._rebootstrap = rebootstrap
        self._events = events
        self._switch_to = switch
        self._begin_epoch = begin_epoch
        self._under_way = False
        self._reported: set[str] = set()
        """Names of the upstreams that this outage already has an event for."""
        self.reconfigure(settings)

    def reconfigure(self, settings: VirtualCluster) -> None:
        """Apply new settings; what was observed so far no longer counts."""
        self._failover = Failover(
            len(self._upstreams.all),
            automatic=settings.failover.automatic,
            after=settings.failover.after,
            floor=settings.failover.floor,
            active=list(self._upstreams.all).index(self._upstreams.active.name),
        )

    def rebootstrap(self) -> int:
        """Have all clients bootstrap again; returns how many connections are notified or closed."""
        with self._exclusive():
            return self._begin_epoch(Cause.OPERATOR)

    async def failover(self, to: str | None, *, force: bool) -> int:
        """Switch to the upstream cluster `to`, by default the next one.

        Unless forced, it must answer first, and each of its nodes must have a port.

        Returns how many connections are notified or closed; raises `NotFoundError`, `ConflictError`, `RetryLaterError`.
        """
        with self._exclusive():
            upstream = self._target(to)
            snapshot = await self._seen(upstream, force=force)
            self._not_too_soon()
            with self._nodes.reserved(() if snapshot is None else snapshot.nodes) as problems:
                if problems and not force:
                    raise _cannot(upstream, NoPortError.of_all(problems))
                return self._switch(upstream, snapshot)

    async def watch(self) -> None:
        """Run until cancelled: fail over, if enabled, when the active upstream was unreachable for `failover.after`."""
        while True:
            await trio.sleep(LOOK_AGAIN)
            now = trio.current_time()
            watcher = self._upstreams.watcher
            self._failover.observe(None if watcher.blind else watcher.reachable is not False, now)
            if self._failover.down_since is None:
                self._reported.clear()
            if self._failover.due(now) and not self._under_way:
                with self._exclusive(at_once=False):
                    await self._to_next()

    async def _to_next(self) -> None:
        if self._rebootstrap.wait(trio.current_time()):
            return
        backends = list(self._upstreams.all.values())
        answered = False
        for number in self._failover.candidates(self._failover.active):
            try:
                snapshot = await backends[number].look()
            except UpstreamError as error:
                log.info("no failover", cluster=self._cluster, to=backends[number].name, why=str(error))
                continue
            if self._settled(backends[number], snapshot):
                return
            answered = True
        active = self._upstreams.active.name
        if not answered and self._is_news(active):
            self._events.record(NoUpstreamAnswers(active))

    def _settled(self, upstream: Upstream, snapshot: Snapshot) -> bool:
        """Return True when the search is over: `upstream` took over, or the active one is back, or cannot be asked."""
        if self._upstreams.watcher.reachable is not False or self._upstreams.watcher.blind:
            return True
        with self._nodes.reserved(snapshot.nodes) as problems:
            if not problems:
                self._switch(upstream, snapshot)
                return True
        if self._is_news(upstream.name):
            why = str(NoPortError.of_all(problems))
            self._events.record(UpstreamPassedOver(self._upstreams.active.name, upstream.name, why))
        return False

    def _is_news(self, about: str) -> bool:
        """True for the first event about this upstream in an outage; further attempts get none."""
        reported = about in self._reported
        self._reported.add(about)
        return not reported

    def _switch(self, upstream: Upstream, snapshot: Snapshot | None) -> int:
        cluster_id = self._upstreams.cluster_id
        if snapshot is not None and cluster_id is not None and snapshot.cluster_id == cluster_id:
            log.warning("the same cluster id behind both", cluster=self._cluster, to=upstream.name)
        self._failover.switched(list(self._upstreams.all.values()).index(upstream), trio.current_time())
        return self._switch_to(upstream, snapshot, Cause.FAILOVER)

    def _target(self, to: str | None) -> Upstream:
        backends, active = self._upstreams.all, self._upstreams.active
        names = list(backends)
        if to is None:
            if len(names) < 2:
                raise ConflictError(f"{active.name} is the only upstream cluster; name another in `upstreams`")
            to = names[(names.index(active.name) + 1) % len(names)]
        if to not in backends:
            raise NotFoundError(f"there is no upstream cluster {to!r}; there are: {', '.join(names)}")
        if to == active.name:
            raise ConflictError(f"{to} is the active upstream cluster already")
        return backends[to]

    async def _seen(self, upstream: Upstream, *, force: bool) -> Snapshot | None:
        try:
            return await upstream.look()
        except UpstreamError as error:
            if force:
                return None
            raise _cannot(upstream, error) from error

    def _not_too_soon(self) -> None:
        if wait := self._rebootstrap.wait(trio.current_time()):
            raise RetryLaterError("the topology changed less than topology.epoch_floor ago", wait)

    @contextmanager
    def _exclusive(self, *, at_once: bool = True) -> Iterator[None]:
        if self._under_way:
            raise RetryLaterError("a switch is under way", 1.0)
        if at_once:
            self._not_too_soon()
        self._under_way = True
        try:
            yield
        finally:
            self._under_way = False


def _cannot(upstream: Upstream, why: KproxyError) -> ConflictError:
    return ConflictError(f"{upstream.name} cannot take over: {why}; force it to switch all the same")
