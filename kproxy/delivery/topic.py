"""A topic that is written to: its id, and its partitions' leaders, as the cluster last named them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import trio

from kproxy.errors import NONE, UpstreamError
from kproxy.observe.error_names import ERROR_NAMES
from kproxy.upstream.client import UpstreamClient
from kproxy.wire.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.primitives import ZERO_UUID

MAX_AGE: Final = 300.0
"""Seconds until the leaders are asked for again, as Kafka's clients do: there may be more partitions."""

NO_LEADER: Final = -1


class Topic:
    """Asks when it has to; the client learns the brokers' addresses then.

    `id` is all zeros while it is not known, and at brokers before 2.8, which know none.
    """

    def __init__(self, client: UpstreamClient, name: str) -> None:
        self.name = name
        self.id = ZERO_UUID
        self._client = client
        self._leaders: Sequence[int] = ()
        self._expires = 0.0

    def forget(self) -> None:
        """A leader did not answer, or says that it is none: the next look-up asks."""
        self._expires = 0.0

    async def leaders(self) -> Sequence[int]:
        """The leader's node id of each partition, or NO_LEADER. Raises UpstreamError."""
        if trio.current_time() >= self._expires:
            self._leaders = await self._ask()
            self._expires = trio.current_time() + MAX_AGE
        return self._leaders

    async def _ask(self) -> Sequence[int]:
        # A broker that may create topics by itself (auto.create.topics.enable) creates this one.
        request = MetadataRequest(topics=[MetadataRequestTopic(name=self.name)], allow_auto_topic_creation=True)
        answer = await self._client.request(request, MetadataResponse)
        self._client.set_nodes({broker.node_id: (broker.host, broker.port) for broker in answer.brokers})
        for topic in answer.topics:
            if topic.name == self.name and topic.error_code == NONE and topic.partitions:
                self.id = topic.topic_id
                leaders = {each.partition_index: each.leader_id for each in topic.partitions}
                return [leaders.get(index, NO_LEADER) for index in range(max(leaders) + 1)]
        codes = [topic.error_code for topic in answer.topics]
        told = ", ".join(ERROR_NAMES.get(code, str(code)) for code in codes) or "no answer"
        raise UpstreamError(f"topic {self.name}: {told}; create it, or allow kproxy to write to it")
