"""Rewriting the Metadata of a large cluster: 1,000 topics, 10,000 partitions, 12 brokers, by the relay's own flow."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk
from kproxy.protocol.outcomes import Incremental
from kproxy.relay.in_flight import Expected, InFlight
from kproxy.relay.local_responses import LocalResponses
from kproxy.relay.responses import ResponseFlow
from kproxy.wire.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

from .process import BenchError
from .virtual_cluster import PROXY_HOST, VirtualCluster

_METADATA: Final = 3
_CORRELATION_ID: Final = 7
_HEADER: Final = b"\x00\x00\x00\x07\x00"  # correlation id, no tagged fields
_BATCH: Final = 100
_REPLICAS: Final = 3


def _response(topics: int, partitions: int, brokers: int) -> MetadataResponse:
    def replicas(partition: int) -> list[int]:
        return [(partition + follower) % brokers for follower in range(_REPLICAS)]

    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=node, host=f"broker-{node}.kafka.example.org", port=9092)
            for node in range(brokers)
        ],
        cluster_id="5ZJz0n0yQ3C9pV1nqk4bJQ",
        controller_id=0,
        topics=[
            MetadataResponseTopic(
                name=f"orders.region-{topic % 40}.stream-{topic}",
                topic_id=UUID(int=topic + 1),
                partitions=[
                    MetadataResponsePartition(
                        partition_index=partition,
                        leader_id=(topic + partition) % brokers,
                        leader_epoch=7,
                        replica_nodes=replicas(topic + partition),
                        isr_nodes=replicas(topic + partition),
                    )
                    for partition in range(partitions)
                ],
            )
            for topic in range(topics)
        ],
    )


class _Client:
    """The client's side: keeps the last frame that it was sent."""

    def __init__(self) -> None:
        self.frame: tuple[Chunk, ...] = ()

    def send(self, chunk: Chunk) -> None:
        self.frame = (bytes(chunk),)

    def send_frame(self, size: bytes, chunks: Sequence[Chunk]) -> None:
        self.frame = (size, *chunks)

    def unsteady(self) -> None:
        """Nothing is paused here."""

    @property
    def answered(self) -> int:
        """As `Owner`."""
        return 1

    def work(self, stepwise: Incremental) -> None:
        """As `Owner`: nothing is asked here."""

    def throttle(self, seconds: float) -> None:
        """As `Owner`: nobody is throttled here."""

    def end_for(self, reason: Reason, detail: str) -> None:
        """As `Owner`: no answer ends the connection here."""

    def answered_here(self) -> None:
        """As `Owner`: nothing is noted here."""

    def resolved(self) -> None:
        """Nothing is parked here."""


def milliseconds(topics: int = 1000, partitions: int = 10, brokers: int = 12) -> float:
    """Return the median time that the relay takes for one response; raises BenchError for a wrong response."""
    version = MetadataResponse.max_version
    body = _HEADER + _response(topics, partitions, brokers).encode(version)
    frame = memoryview(len(body).to_bytes(4, "big") + body)
    cluster, client = VirtualCluster(), _Client()
    in_flight = InFlight()
    own = LocalResponses(in_flight, client, client, client)
    flow = ResponseFlow(in_flight, cluster.context(), client, own, 1 << 30, 1 << 30, client)
    route = cluster.table.route(_METADATA << 16 | version)

    def relay() -> None:
        in_flight.append(Expected(_CORRELATION_ID, route, 0.0))
        flow.feed(frame, 0.0)
        flow.settle(0.0)

    relay()
    _check(b"".join(client.frame), version, brokers)
    times = []
    for _ in range(20):
        start = time.thread_time()
        for _ in range(_BATCH):
            relay()
        times.append((time.thread_time() - start) / _BATCH * 1000)
    return statistics.median(times)


def _check(rewritten: bytes, version: int, brokers: int) -> None:
    seen = MetadataResponse.decode(rewritten[4 + len(_HEADER) :], version).brokers
    if [broker.host for broker in seen] != [PROXY_HOST] * brokers:
        raise BenchError(f"clients would be told {seen}")
