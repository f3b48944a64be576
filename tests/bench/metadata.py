"""Rewriting the Metadata of a large cluster: 1,000 topics, 10,000 partitions, 12 brokers, by the relay's handler."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from kproxy.observe.counters import ClusterCounters
from kproxy.relay.apis import OFFERS
from kproxy.relay.context import Context
from kproxy.relay.routes import Table
from kproxy.routing.address_map import AddressMap
from kproxy.routing.ports import AutomaticPorts
from kproxy.wire.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

from .process import BenchError

_METADATA: Final = 3
_HEADER: Final = b"\x00\x00\x00\x07\x00"  # correlation id, no tagged fields
_BATCH: Final = 100
_PROXY_HOST: Final = "proxy.example.org"
_REPLICAS: Final = 3


class _Backend:
    """What the handler asks of a virtual cluster, with the address map that `kproxy serve` has."""

    def __init__(self) -> None:
        self.counters = ClusterCounters("bench")
        self.cluster_id = "bench"
        self.served: tuple[tuple[int, int, int], ...] = ()
        self._addresses = AddressMap(AutomaticPorts(20_000), lambda node_id, port: port, _PROXY_HOST)

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        return self._addresses.advertise(node_id, host, port, local_host)

    def learn(self, nodes: Sequence[tuple[int, str, int]]) -> None:
        self._addresses.learn(nodes)


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


def milliseconds(topics: int = 1000, partitions: int = 10, brokers: int = 12) -> float:
    """The median time to rewrite one response; raises BenchError when the result is not what clients must see."""
    version = MetadataResponse.max_version
    frame = memoryview(_HEADER + _response(topics, partitions, brokers).encode(version))
    backend = _Backend()
    context = Context(backend, None, "bench", "127.0.0.1")
    route = Table(backend.counters, OFFERS).route(_METADATA << 16 | version)
    rewrite = route.offer.response
    if rewrite is None:
        raise BenchError("the relay does not rewrite Metadata")
    _check(b"".join(rewrite(context, route, frame) or ()), version, brokers)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(_BATCH):
            rewrite(context, route, frame)
        times.append((time.perf_counter() - start) / _BATCH * 1000)
    return statistics.median(times)


def _check(rewritten: bytes, version: int, brokers: int) -> None:
    told = MetadataResponse.decode(rewritten[len(_HEADER) :], version).brokers
    if [broker.host for broker in told] != [_PROXY_HOST] * brokers:
        raise BenchError(f"clients would be told {told}")
