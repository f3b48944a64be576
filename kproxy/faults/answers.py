# This module is pure (no I/O, no clock).
"""Builds the answer to a request with an error where its API carries one, for each API in which faults are injected.

`kproxy.faults.policies` calls `answer` for each request that gets an injected error.

An API carries its errors at the top, or for each topic, partition, group or key that the request names; the answer has
the error at each of them. Where there is no place for an error, there is no answer. These are a Metadata request that
names no topic, and a Fetch request before v7 that names no partition.

The error at the top of a Metadata answer is for 129 (REBOOTSTRAP_REQUIRED) only, as with brokers: after any other one
librdkafka 2.16 does not ask again, and waits for ever. With 129 topics have no leader, as in kproxy's own.

Version notes: Metadata v13 has an error at the top (KIP-1102). Fetch v7 adds sessions and an error at the top: the
answer names no session, so the client's next request names all of its partitions again. FindCoordinator v4 and
OffsetFetch v8 ask for several groups; OffsetFetch v2 adds an error at the top. AddPartitionsToTxn v4 has several
transactions. DeleteTopics v6 names topics by name or id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from kproxy.faults.commits import offset_commit, txn_offset_commit
from kproxy.protocol.group_errors import AT_THE_TOP
from kproxy.wire.generated import add_partitions_to_txn_response as add_partitions
from kproxy.wire.generated import offset_fetch_response as offset_fetch
from kproxy.wire.generated.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from kproxy.wire.generated.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.create_topics_request import CreateTopicsRequest
from kproxy.wire.generated.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kproxy.wire.generated.delete_topics_request import DeleteTopicsRequest
from kproxy.wire.generated.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from kproxy.wire.generated.end_txn_response import EndTxnResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.fetch_request import FetchRequest
from kproxy.wire.generated.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kproxy.wire.generated.find_coordinator_request import FindCoordinatorRequest
from kproxy.wire.generated.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kproxy.wire.generated.init_producer_id_response import InitProducerIdResponse
from kproxy.wire.generated.list_offsets_request import ListOffsetsRequest
from kproxy.wire.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse, MetadataResponseBroker, MetadataResponseTopic
from kproxy.wire.generated.offset_fetch_request import OffsetFetchRequest
from kproxy.wire.generated.produce_request import ProduceRequest
from kproxy.wire.generated.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kproxy.wire.header import decode_request_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import Buffer

MESSAGE: Final = "a fault injected by kproxy"
"""What the client reads beside the error, where its API has room for words."""
_NO_OFFSET: Final = -1
_NO_NODE: Final = -1
_METADATA_WITH_CONTROLLER: Final = 1
_METADATA_WITH_CODE: Final = 13
_FETCH_WITH_CODE: Final = 7
_FIND_COORDINATORS: Final = 4
_OFFSET_FETCH_WITH_CODE: Final = 2
_OFFSET_FETCH_OF_GROUPS: Final = 8
_ADD_PARTITIONS_OF_SEVERAL: Final = 4
_DELETE_TOPICS_BY_ID: Final = 6


class Scene(NamedTuple):
    """What a Metadata answer names besides its topics: the nodes as the client reaches them, and the cluster's id."""

    nodes: Sequence[tuple[int, str, int, str | None]] = ()
    cluster_id: str | None = None


Build = Callable[[int, Buffer, int, Scene], WireMessage | None]
"""Takes a version, a request's body and an error code; returns the response, None where it has no place for one."""


class Unanswerable(NamedTuple):
    """A request that has no answer: why."""

    wants_none: bool
    """True for Produce with acks=0, which no broker answers; False where the version has no place for the error."""


def answer(frame: Buffer, code: int, scene: Scene) -> WireMessage | Unanswerable:
    """Return the answer to a whole request without its size. Raises `MalformedMessageError`."""
    header, body = decode_request_header(frame, 0, len(frame))
    content = frame[body:]
    if header.api_key == ApiKey.PRODUCE:
        return _produce(ProduceRequest.decode(content, header.api_version), code)
    built = _BUILDERS[header.api_key](header.api_version, content, code, scene)
    return Unanswerable(wants_none=False) if built is None else built


def _produce(request: ProduceRequest, code: int) -> WireMessage | Unanswerable:
    if request.acks == 0:
        return Unanswerable(wants_none=True)
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    PartitionProduceResponse(one.index, code, _NO_OFFSET, error_message=MESSAGE)
                    for one in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )


def _fetch(version: int, body: Buffer, code: int, _: Scene) -> WireMessage | None:
    request = FetchRequest.decode(body, version)
    if not request.topics:
        return FetchResponse(error_code=code) if version >= _FETCH_WITH_CODE else None
    return FetchResponse(
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                topic_id=topic.topic_id,
                partitions=[_unread(one.partition, code) for one in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _unread(partition: int, code: int) -> PartitionData:
    return PartitionData(partition, code, high_watermark=_NO_OFFSET, aborted_transactions=None, records=b"")


def _metadata(version: int, body: Buffer, code: int, scene: Scene) -> WireMessage | None:
    request = MetadataRequest.decode(body, version)
    topics, at_the_top = request.topics or (), code == ErrorCode.REBOOTSTRAP_REQUIRED
    if version < _METADATA_WITH_CODE if at_the_top else not topics:
        return None
    of_topics = ErrorCode.LEADER_NOT_AVAILABLE if at_the_top else code
    return MetadataResponse(
        brokers=[MetadataResponseBroker(*node) for node in scene.nodes],
        cluster_id=scene.cluster_id,
        controller_id=scene.nodes[0][0] if scene.nodes and version >= _METADATA_WITH_CONTROLLER else _NO_NODE,
        topics=[MetadataResponseTopic(of_topics, topic.name, topic.topic_id) for topic in topics],
        error_code=code if at_the_top else 0,
    )


def _list_offsets(version: int, body: Buffer, code: int, _: Scene) -> WireMessage:
    request = ListOffsetsRequest.decode(body, version)
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                topic.name, [ListOffsetsPartitionResponse(one.partition_index, code) for one in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _find_coordinator(version: int, body: Buffer, code: int, _: Scene) -> WireMessage:
    request = FindCoordinatorRequest.decode(body, version)
    if version < _FIND_COORDINATORS:
        return FindCoordinatorResponse(error_code=code, error_message=MESSAGE, node_id=_NO_NODE, port=_NO_NODE)
    keys = request.coordinator_keys
    return FindCoordinatorResponse(
        coordinators=[Coordinator(key, _NO_NODE, "", _NO_NODE, code, MESSAGE) for key in keys]
    )


def _offset_fetch(version: int, body: Buffer, code: int, _: Scene) -> WireMessage:
    request = OffsetFetchRequest.decode(body, version)
    if version >= _OFFSET_FETCH_OF_GROUPS:
        groups = [offset_fetch.OffsetFetchResponseGroup(group.group_id, [], code) for group in request.groups]
        return offset_fetch.OffsetFetchResponse(groups=groups)
    return offset_fetch.OffsetFetchResponse(
        error_code=code if version >= _OFFSET_FETCH_WITH_CODE else 0,
        topics=[
            offset_fetch.OffsetFetchResponseTopic(
                topic.name,
                [
                    offset_fetch.OffsetFetchResponsePartition(index, _NO_OFFSET, error_code=code)
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or ()
        ],
    )


def _init_producer_id(version: int, body: Buffer, code: int, _: Scene) -> WireMessage:
    del version, body
    return InitProducerIdResponse(error_code=code, producer_epoch=-1)


def _add_partitions_to_txn(version: int, body: Buffer, code: int, _: Scene) -> WireMessage:
    request = AddPartitionsToTxnRequest.decode(body, version)
    if version < _ADD_PARTITIONS_OF_SEVERAL:
        results = _not_added(request.v3_and_below_topics, code)
        return add_partitions.AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)
    return add_partitions.AddPartitionsToTxnResponse(
        results_by_transaction=[
            add_partitions.AddPartitionsToTxnResult(one.transactional_id, _not_added(one.topics, code))
            for one in request.transactions
        ]
    )


def _not_added(
    topics: Iterable[AddPartitionsToTxnTopic], code: int
) -> list[add_partitions.AddPartitionsToTxnTopicResult]:
    return [
        add_partitions.AddPartitionsToTxnTopicResult(
            topic.name, [add_partitions.AddPartitionsToTxnPartitionResult(index, code) for index in topic.partitions]
        )
        for topic in topics
    ]


def _add_offsets_to_txn(version: int, body: Buffer, code: int, _: Scene) -> WireMessage:
    del version, body
    return AddOffsetsToTxnResponse(error_code=code)


def _end_txn(version: int, body: Buffer, code: int, _: Scene) -> WireMessage:
    del version, body
    return EndTxnResponse(error_code=code)


def _create_topics(version: int, body: Buffer, code: int, _: Scene) -> WireMessage:
    request = CreateTopicsRequest.decode(body, version)
    return CreateTopicsResponse(
        topics=[CreatableTopicResult(topic.name, error_code=code, error_message=MESSAGE) for topic in request.topics]
    )


def _delete_topics(version: int, body: Buffer, code: int, _: Scene) -> WireMessage:
    request = DeleteTopicsRequest.decode(body, version)
    if version < _DELETE_TOPICS_BY_ID:
        results = [DeletableTopicResult(name, error_code=code, error_message=MESSAGE) for name in request.topic_names]
    else:
        results = [DeletableTopicResult(one.name, one.topic_id, code, MESSAGE) for one in request.topics]
    return DeleteTopicsResponse(responses=results)


def _at_the_top(key: int) -> Build:
    return lambda version, _body, code, _scene: AT_THE_TOP[key](version, code)


def _commit(build: Callable[[int, Buffer, int], WireMessage]) -> Build:
    return lambda version, body, code, _scene: build(version, body, code)


_OF_GROUPS: Final = (ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP)
_BUILDERS: Final[Mapping[int, Build]] = MappingProxyType(
    {
        ApiKey.FETCH: _fetch,
        ApiKey.METADATA: _metadata,
        ApiKey.LIST_OFFSETS: _list_offsets,
        ApiKey.FIND_COORDINATOR: _find_coordinator,
        **{key: _at_the_top(key) for key in _OF_GROUPS},
        ApiKey.OFFSET_COMMIT: _commit(offset_commit),
        ApiKey.TXN_OFFSET_COMMIT: _commit(txn_offset_commit),
        ApiKey.OFFSET_FETCH: _offset_fetch,
        ApiKey.INIT_PRODUCER_ID: _init_producer_id,
        ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions_to_txn,
        ApiKey.ADD_OFFSETS_TO_TXN: _add_offsets_to_txn,
        ApiKey.END_TXN: _end_txn,
        ApiKey.CREATE_TOPICS: _create_topics,
        ApiKey.DELETE_TOPICS: _delete_topics,
    }
)
ANSWERED: Final = frozenset({ApiKey.PRODUCE, *_BUILDERS})
"""The APIs, by api key, in which faults can be injected."""
