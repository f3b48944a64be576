"""Whether the topics that clients use are at another upstream, with as many partitions: asked before each switch.

`Standbys` asks at each look at a standby, so that it is known when the active cluster is gone; the failover controller
and the automatic failover ask once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import trio

from kproxy.cluster.takeover import some
from kproxy.errors import UpstreamError
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kproxy.wire.generated.metadata_response import MetadataResponse

if TYPE_CHECKING:
    from kproxy.cluster.upstreams import Upstream
    from kproxy.rebootstrap.topics_in_use import TopicsInUse
    from kproxy.upstream.client import UpstreamClient

SECONDS: Final = 3.0
"""For the answer of each cluster."""


class TopicsThere:
    """Compares the topics in use at the active upstream of one virtual cluster and at another."""

    def __init__(self, in_use: TopicsInUse) -> None:
        self._in_use = in_use
        self._known: Mapping[str, int] = {}
        """Numbers of partitions at the active cluster, of the topics that were in use when it last answered."""
        self._of: str | None = None
        """The upstream of which that is known."""

    async def lacking(self, active: Upstream, target: Upstream) -> Lacking:
        """Return what the target lacks. Raises UpstreamError when it does not say, or not in `SECONDS`."""
        if active.name != self._of:
            self._known, self._of = {}, active.name
        names = self._in_use.names()
        if not names:
            return Lacking((), (), 0)
        if active.watcher.reachable is not False:
            try:
                self._known = await _partitions(active, names)
            except UpstreamError:
                pass  # what it said before counts: it may be gone, which is why clients are to be sent elsewhere
        here = {name: self._known[name] for name in names if self._known.get(name)}
        there = await _partitions(target, list(here)) if here else {}
        missing = [name for name in here if there.get(name) == 0]
        fewer = [f"{name} ({there[name]} of {count})" for name, count in here.items() if 0 < there.get(name, 0) < count]
        return Lacking(missing, fewer, len(here))


class Lacking:
    """What a cluster lacks of `used` topics. Those of which it does not say whether they are there are not lacking."""

    def __init__(self, missing: Sequence[str], fewer: Sequence[str], used: int) -> None:
        self.missing = missing
        self.fewer = fewer
        self._used = used

    def __bool__(self) -> bool:
        return bool(self.missing or self.fewer)

    @property
    def most(self) -> bool:
        """Whether more than half of the topics are missing: this is not the cluster that clients are to find."""
        return 2 * len(self.missing) > self._used

    def __str__(self) -> str:
        parts = []
        if self.missing:
            parts.append(f"topics that clients use are not there: {some(self.missing)}")
        if self.fewer:
            parts.append(f"topics that clients use have fewer partitions there: {some(self.fewer)}")
        return "; ".join(parts)


async def _partitions(upstream: Upstream, names: Sequence[str]) -> Mapping[str, int]:
    """Return how many partitions each topic has, 0 for one that is not there; without those it does not speak of."""
    found: dict[str, int] = {}

    async def ask(client: UpstreamClient) -> None:
        topics = [MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(topics, allow_auto_topic_creation=False)
        for topic in (await client.request(request, MetadataResponse, limit=SECONDS)).topics:
            if topic.name is not None and topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                found[topic.name] = 0
            elif topic.name is not None and topic.partitions:
                found[topic.name] = len(topic.partitions)

    with trio.move_on_after(SECONDS):
        await upstream.ask(ask)
        return found
    raise UpstreamError(f"{upstream.name} did not say within {SECONDS:g} s which topics it has")
