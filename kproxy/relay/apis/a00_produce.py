# This module is pure.
"""Produce (0): requests pass by their head; from v10 on, responses name new leaders (KIP-951).

With acks=0 there is no response, so none is expected. A response is small and is rewritten whole.

A client that is told no leader epochs gets no new leaders, which have some: it asks for metadata, as with brokers
before Kafka 3.7. See `leader_epochs`.

Version notes: v3 is the lowest that Kafka 4 takes; v9 is the first flexible one; v10 adds NodeEndpoints; v13 replaces
topic names by ids (KIP-516).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.relay.apis.addresses import each, replaced
from kproxy.wire.skim import Skimmed

KEY: Final = 0


def rewrite(route: Route) -> Respond:
    """Replace the addresses of new leaders, or leave these out."""

    def put(context: Context, frame: memoryview, body: int, found: Skimmed) -> Sequence[Chunk]:
        if context.backend.hides_topic_ids(context):
            return [frame[:body], _without_leaders(frame[body:], route.version)]
        return replaced(context, frame, body, found)

    return each(route, put)


def _without_leaders(body: memoryview, version: int) -> bytes:
    from kproxy.wire.generated.produce_response import LeaderIdAndEpoch, ProduceResponse  # noqa: PLC0415 (few need it)

    response = ProduceResponse.decode(body, version)
    response.node_endpoints = []
    for topic in response.responses:
        for partition in topic.partition_responses:
            partition.current_leader = LeaderIdAndEpoch()
    return response.encode(version)


POLICY: Final = ApiPolicy(
    on_request=OnRequest.ACKS, on_response=OnResponse.WHOLE, glances=True, response=rewrite, response_from=10
)
