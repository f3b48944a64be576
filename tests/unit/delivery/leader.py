"""A broker that answers Produce from a script, with errors that a real broker cannot be made to return."""

from __future__ import annotations

from collections.abc import Callable

import trio

from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.metadata_response import MetadataResponsePartition, MetadataResponseTopic
from kproxy.wire.generated.produce_request import ProduceRequest
from kproxy.wire.generated.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kproxy.wire.header import RequestHeader, decode_request_header, encode_response_header
from kproxy.wire.primitives import frame
from tests.unit.upstream.scripted_broker import API_VERSIONS, METADATA, ScriptedBroker

PRODUCE = 0


class Leader(ScriptedBroker):
    """Leads both partitions of topic `t`; `verdict(partition, batch)` is the error code, None for no answer."""

    def __init__(self) -> None:
        super().__init__()
        self.verdict: Callable[[int, bytes], int | None] = lambda _partition, _batch: 0
        self.batches: list[tuple[int, bytes]] = []
        """The batches that it accepted: partition and bytes."""
        self.lead([1, 1])

    def lead(self, leaders: list[int], error_code: int = 0) -> None:
        """Set the leaders of the topic's partitions from now on."""
        partitions = [MetadataResponsePartition(partition_index=i, leader_id=node) for i, node in enumerate(leaders)]
        self.answer.topics = [MetadataResponseTopic(error_code=error_code, name="t", partitions=partitions)]

    def _hello(self, version: int) -> bytes:
        versions = {PRODUCE: (3, 8), METADATA: (0, 9), API_VERSIONS: (0, 4)}
        return ApiVersionsResponse(api_keys=[ApiVersion(key, *each) for key, each in versions.items()]).encode(version)

    async def _handle(self, stream: trio.SocketStream, request: bytes) -> None:
        header, body_at = decode_request_header(request, 0, len(request))
        if header.api_key != PRODUCE:
            await super()._handle(stream, request)
            return
        self.seen.append(header)
        message = ProduceRequest.decode(request[body_at:], header.api_version)
        [topic] = message.topic_data
        answer = TopicProduceResponse(name=topic.name)
        for each in topic.partition_data:
            assert each.records is not None
            code = self.verdict(each.index, each.records)
            if code is None:
                return
            answer.partition_responses.append(PartitionProduceResponse(index=each.index, error_code=code))
            if not code:
                self.batches.append((each.index, each.records))
        await stream.send_all(self._framed(header, ProduceResponse(responses=[answer])))

    @staticmethod
    def _framed(header: RequestHeader, answer: ProduceResponse) -> bytes:
        head = encode_response_header(header.correlation_id, header.api_key, header.api_version)
        return frame(head, answer.encode(header.api_version))
