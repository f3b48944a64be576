"""An operator's commands to a virtual cluster: have all clients bootstrap again, switch it, or rehearse a switch.

The admin port calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kproxy.cluster.takeover import Finding, findings, refused
from kproxy.errors import ConflictError, NotFoundError, UpstreamError
from kproxy.rebootstrap.actions import Cause

if TYPE_CHECKING:
    from kproxy.cluster.nodes import Nodes
    from kproxy.cluster.standbys import Standbys
    from kproxy.cluster.switches import Switches
    from kproxy.cluster.upstreams import Upstream, Upstreams
    from kproxy.topology.snapshot import Snapshot


class FailoverController:
    """The commands; one that comes while another is under way is refused."""

    def __init__(
        self,
        upstreams: Upstreams,
        standbys: Standbys,
        nodes: Nodes,
        switches: Switches,
        begin_epoch: Callable[[Cause], int],
    ) -> None:
        self._upstreams = upstreams
        self._standbys = standbys
        self._nodes = nodes
        self._switches = switches
        self._begin_epoch = begin_epoch

    def rebootstrap(self) -> int:
        """Have all clients bootstrap again; returns how many connections are notified or closed."""
        with self._switches.alone():
            return self._begin_epoch(Cause.OPERATOR)

    async def failover(self, to: str | None, *, force: bool) -> int:
        """Switch to the upstream cluster `to`, by default the next one.

        Unless forced, it must answer first, each of its nodes must have a port, and the topics that clients use must be
        there.

        Returns how many connections are notified or closed; raises `NotFoundError`, `ConflictError`, `RetryLaterError`.
        """
        with self._switches.alone():
            upstream = self._target(to)
            snapshot = await self._seen(upstream, force=force)
            if not force and (lacking := await self._topic_problem(upstream)) is not None:
                raise _cannot(upstream, lacking)
            self._switches.check_floor()
            if not self._switches.is_known(upstream):
                raise ConflictError("a reload has changed the upstream clusters meanwhile: look at them, and try again")
            if not force and (problem := self._switches.no_ports(snapshot)) is not None:
                raise _cannot(upstream, problem)
            order = await self._switches.ordered(upstream, snapshot, "operator", force=force)
            return await self._switches.switch(upstream, snapshot, order)

    async def rehearse(self, to: str | None, unable: Sequence[str]) -> tuple[str, Sequence[Finding]]:
        """Return what `failover` would switch to, and what there is to say of that; nothing changes.

        `unable` are clients that cannot follow. Raises `NotFoundError`, `ConflictError`.
        """
        from kproxy.cluster.rehearsal import asked, away  # noqa: PLC0415 (its codecs take 30 ms)

        upstream = self._target(to)
        try:
            snapshot = await upstream.look()
        except UpstreamError as error:
            return upstream.name, refused([str(error)])
        with self._nodes.reserved(snapshot.nodes) as problems:
            reasons = [*self._order_problems(upstream), *self._floor_problems(), *map(str, problems)]
        if (problem := await self._topic_problem(upstream)) is not None:
            reasons.append(problem)
        unreachable = await away(upstream, snapshot.nodes, upstream.connect_seconds)
        here = await asked(self._upstreams.active, None)
        there = await asked(upstream, list(here.offsets))  # about the groups that are here, so not at the same time
        return upstream.name, [*refused(reasons), *findings(here, there, unreachable, unable)]

    async def _topic_problem(self, upstream: Upstream) -> str | None:
        """Return what the upstream lacks of the topics that clients use, or why it does not say."""
        try:
            return str(await self._standbys.lacking(upstream)) or None
        except UpstreamError as error:
            return str(error)

    def _order_problems(self, upstream: Upstream) -> Iterator[str]:
        orders = self._switches.orders
        if orders is not None and (doubt := orders.doubt(upstream.name)) is not None:
            yield doubt

    def _floor_problems(self) -> Iterator[str]:
        if wait := self._switches.wait:
            yield f"the topology changed less than topology.epoch_floor ago: wait {wait:.0f} s"

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


def _cannot(upstream: Upstream, why: object) -> ConflictError:
    return ConflictError(f"{upstream.name} cannot take over: {why}; force it to switch all the same")
