# This module is pure (no I/O, no clock).
"""The api policies of this package: they notify clients, and hide what clients must not see after a switch.

`kproxy.cluster.policies` asks for them when a virtual cluster is made and whenever its policies change. The relay calls
their handlers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from kproxy.protocol.api_table import ApiPolicy, Chunk, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.rebootstrap import api_versions, coordinators, metadata
from kproxy.rebootstrap.answers import Rebootstrap
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import decode_response_header

_FIRST_NEW_LEADERS: Final = 10


def policies(rebootstrap: Rebootstrap) -> Mapping[int, ApiPolicy]:
    """Return the policies of one virtual cluster, by api key."""
    return {
        **coordinators.policies(rebootstrap),
        ApiKey.PRODUCE: ApiPolicy(
            on_response=OnResponse.WHOLE,
            glances=True,
            response=partial(without_new_leaders, rebootstrap),
            response_from=_FIRST_NEW_LEADERS,
        ),
        ApiKey.METADATA: metadata.policy(rebootstrap),
        ApiKey.API_VERSIONS: api_versions.policy(rebootstrap),
    }


def retired_policies(rebootstrap: Rebootstrap) -> Mapping[int, ApiPolicy]:
    """Return the policies at a retired node's listener, by api key."""
    return {**policies(rebootstrap), ApiKey.METADATA: metadata.policy(rebootstrap, retired=True)}


def without_new_leaders(rebootstrap: Rebootstrap, route: Route) -> Respond:
    """Leave new leaders (KIP-951) out of Produce responses to a client from which leader epochs are hidden.

    New leaders have epochs. Without them the client asks for metadata, as with brokers before Kafka 3.7.
    """

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        if not rebootstrap.hides_topic_ids(context):
            return None
        _, body = decode_response_header(frame, 0, len(frame), ApiKey.PRODUCE, route.version)
        return [frame[:body], _without_leaders(frame[body:], route.version)]

    return respond


def _without_leaders(body: memoryview, version: int) -> bytes:
    from kproxy.wire.generated.produce_response import LeaderIdAndEpoch, ProduceResponse  # noqa: PLC0415 (few need it)

    response = ProduceResponse.decode(body, version)
    response.node_endpoints = []
    for topic in response.responses:
        for partition in topic.partition_responses:
            partition.current_leader = LeaderIdAndEpoch()
    return response.encode(version)
