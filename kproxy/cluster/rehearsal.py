"""Asks the active upstream and the one that is to take over what `kproxy.cluster.takeover` compares. Nothing changes.

The failover controller makes one for each `kproxy failover --dry-run`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from kproxy.cluster.takeover import Asked
from kproxy.coordinator.lag import committed_offsets
from kproxy.errors import UpstreamError
from kproxy.upstream.dial import reason
from kproxy.upstream.responses import check
from kproxy.upstream.retries import Retries
from kproxy.wire.generated.list_groups_request import ListGroupsRequest
from kproxy.wire.generated.list_groups_response import ListGroupsResponse
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse

if TYPE_CHECKING:
    from kproxy.cluster.upstreams import Upstream
    from kproxy.topology.snapshot import Node
    from kproxy.upstream.client import UpstreamClient

SECONDS: Final = 10.0
"""For all questions to a cluster; what has no answer by then is not compared."""
MOST_GROUPS: Final = 500
_GROUPS_AT_A_TIME: Final = 8
_PATIENCE: Final = 3.0
"""Seconds for which errors of a broker are obeyed that may pass."""
_CONSUMER: Final = "consumer"


class _Questions:
    """What one cluster has said so far."""

    def __init__(self) -> None:
        self.cluster_id: str | None = None
        self.topics: dict[str, int] = {}
        self.offsets: dict[str, int] = {}
        self.unknown = {"topics": "", "groups": ""}

    async def ask(self, name: str, subject: str, question: Callable[[], Awaitable[None]]) -> None:
        """Note why a question has no answer."""
        self.unknown[subject] = f"{name} did not answer within {SECONDS:g} s"
        try:
            await question()
        except UpstreamError as error:
            self.unknown[subject] = str(error)
        else:
            del self.unknown[subject]

    async def take_topics(self, client: UpstreamClient) -> None:
        answer = await client.request(MetadataRequest(topics=None, allow_auto_topic_creation=False), MetadataResponse)
        client.set_nodes({node.node_id: (node.host, node.port) for node in answer.brokers})
        self.cluster_id = answer.cluster_id
        self.topics = {
            topic.name: len(topic.partitions)
            for topic in answer.topics
            if topic.name is not None and not topic.is_internal and not topic.error_code
        }

    async def take_groups(self, client: UpstreamClient, groups: list[str] | None) -> None:
        """Take the offsets of these groups, by default of all consumers' that the cluster has."""
        wanted = await listed_groups(client) if groups is None else groups
        if len(wanted) > MOST_GROUPS:
            raise UpstreamError(f"there are {len(wanted)} groups, of which {MOST_GROUPS} at most are compared")
        limit = trio.CapacityLimiter(_GROUPS_AT_A_TIME)
        failed: list[UpstreamError] = []

        async def take(group: str) -> None:
            async with limit:
                try:
                    found = await committed_offsets(client, group)
                    self.offsets[group] = sum(isinstance(one, int) for one in found.values())
                except UpstreamError as error:
                    failed.append(error)

        async with trio.open_nursery() as nursery:
            for group in wanted:
                nursery.start_soon(take, group)
        if failed:
            raise failed[0]


async def listed_groups(client: UpstreamClient) -> list[str]:
    """Return the ids of all groups of consumers; each broker knows its own. Raises UpstreamError."""
    return await Retries(partial(_nodes, client), seconds=_PATIENCE).ask(partial(_listed, client))


async def _nodes(client: UpstreamClient) -> Collection[int]:
    found = await client.metadata()
    client.set_nodes({node.node_id: (node.host, node.port) for node in found.brokers})
    return client.nodes.keys()


async def _listed(client: UpstreamClient, nodes: Collection[int]) -> list[str]:
    found: set[str] = set()
    for node_id in list(nodes):
        answer = await client.request(ListGroupsRequest(), ListGroupsResponse, node=node_id)
        check("ListGroups", answer.error_code, asked=f"node {node_id}")
        found.update(group.group_id for group in answer.groups if group.protocol_type in (_CONSUMER, ""))
    return sorted(found)


async def asked(upstream: Upstream, groups: list[str] | None) -> Asked:
    """Return what the cluster says within `SECONDS`. `groups` are those to compare, by default all that it has."""
    taken = _Questions()

    async def ask(client: UpstreamClient) -> None:
        await taken.ask(upstream.name, "topics", partial(taken.take_topics, client))
        if "topics" not in taken.unknown:
            await taken.ask(upstream.name, "groups", partial(taken.take_groups, client, groups))
        else:
            taken.unknown["groups"] = taken.unknown["topics"]

    with trio.move_on_after(SECONDS):
        await upstream.ask(ask)
    return Asked(taken.cluster_id, taken.topics, taken.offsets, taken.unknown)


async def away(upstream: Upstream, nodes: Mapping[int, Node], seconds: float) -> Mapping[int, str]:
    """Return the nodes that cannot be connected to within so many seconds, with the reason, in their order."""
    found: dict[int, str] = {}

    async def dial(node: Node) -> None:
        found[node.id] = f"no answer in {seconds:g} s"
        with trio.move_on_after(seconds):
            try:
                stream = await upstream.dial(node.host, node.port)
            except OSError as error:
                found[node.id] = reason(error)
            else:
                del found[node.id]
                await trio.aclose_forcefully(stream)

    async with trio.open_nursery() as nursery:
        for node in nodes.values():
            nursery.start_soon(dial, node)
    return {node_id: found[node_id] for node_id in nodes if node_id in found}
