"""Notes each look at a virtual cluster's upstreams, and says what stands against a standby as the target of a failover.

The watchers' looks come to `looked`, and `compare_topics` runs beside them. The failover controller asks before an
automatic failover, readiness and the admin port whenever they are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import trio

from kproxy.errors import UpstreamError
from kproxy.observe.events import StandbyReplaced
from kproxy.topology.standing import Look, Objection

if TYPE_CHECKING:
    from kproxy.cluster.events import Events
    from kproxy.cluster.nodes import Nodes
    from kproxy.cluster.topics_there import Lacking, TopicsThere
    from kproxy.cluster.upstreams import Upstream, Upstreams


class Standbys:
    """What is known of the standbys of one virtual cluster."""

    def __init__(self, upstreams: Upstreams, nodes: Nodes, events: Events, topics: TopicsThere) -> None:
        self._upstreams = upstreams
        self._nodes = nodes
        self._events = events
        self._topics = topics
        self._lacking: dict[str, Lacking] = {}
        """By standby, what it lacked of the topics in use when it was last asked."""

    def looked(self, upstream: Upstream, look: Look) -> None:
        """Note a look at an upstream; those at the active one count when it becomes a standby."""
        is_standby = upstream is not self._upstreams.active
        lacking = self._nodes.lacking(look.seen.nodes) if is_standby and look.seen is not None else {}
        replaced = upstream.standing.note(look, lacking)
        if is_standby and replaced is not None:
            active = self._upstreams.active.name
            self._events.record(StandbyReplaced(active, upstream.name, replaced.after, replaced.before))

    def objections(self, upstream: Upstream) -> Sequence[Objection]:
        """Return what stands against a standby now."""
        interval, active_id = self._upstreams.standby_interval, self._upstreams.cluster_id
        found = list(upstream.standing.objections(trio.current_time(), interval, active_id))
        if lacking := self._lacking.get(upstream.name):
            found.append(Objection(str(lacking), forbids=lacking.most))
        return found

    async def lacking(self, upstream: Upstream) -> Lacking:
        """Ask an upstream which of the topics that clients use it lacks. Raises UpstreamError."""
        found = await self._topics.lacking(self._upstreams.active, upstream)
        self._lacking[upstream.name] = found
        return found

    async def compare_topics(self) -> None:
        """Run until cancelled: ask each standby as often as it is looked at, as long as it answers."""
        while True:
            await trio.sleep(self._upstreams.standby_interval)
            for upstream in self._upstreams.standbys:
                if upstream.standing.answers:
                    try:
                        await self.lacking(upstream)
                    except UpstreamError:
                        self._lacking.pop(upstream.name, None)

    def doubt(self, upstream: Upstream) -> str | None:
        """Return why no automatic failover goes to a standby now; None when nothing forbids it."""
        return "; ".join(one.why for one in self.objections(upstream) if one.forbids) or None
