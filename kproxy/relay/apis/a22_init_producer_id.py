"""InitProducerId (22): behind several upstream clusters, the id that a client gets has its Kafka cluster in it.

`producer_ids` says why. The broker is asked what the client asks, by its own request. The id's cluster is the one that
this very connection has named, in a Metadata or DescribeCluster response; where it has named none yet, the broker is
asked for it, too. So an id has the right cluster even while a name leads to another one. The answer is small; what the
client sends behind its request waits for it.

A transactional producer may tell its own id and epoch (KIP-360), so that it gets the next epoch unless another instance
has fenced it. Another cluster than the one that issued the id cannot judge that: there it asks as a producer that
begins. Without a transactional id brokers ignore both, and issue another id.

Version notes: v2 is flexible; v3 adds the client's own id and epoch (KIP-360); v4 and v5 change error codes only.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Final

from kproxy.errors import NONE, MalformedMessageError
from kproxy.relay.context import Context
from kproxy.relay.producer_ids import ProducerIds, is_of_a_cluster
from kproxy.relay.routes import Converse, Offer, OnRequest
from kproxy.relay.verdicts import Steps
from kproxy.wire.frame import frame as framed
from kproxy.wire.generated.init_producer_id_request import InitProducerIdRequest
from kproxy.wire.generated.init_producer_id_response import InitProducerIdResponse
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.header import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
)

KEY: Final = 22
METADATA: Final = 3
METADATA_VERSION: Final = 4
"""The highest that all brokers know that issue producer ids: Kafka 0.11."""
_NOBODY: Final = -1


def offer(ids: ProducerIds) -> Offer:
    """What becomes of it during a stay."""
    return Offer(on_request=OnRequest.WHOLE, request=partial(ask, ids))


def ask(ids: ProducerIds, context: Context, frame: memoryview) -> Converse:
    """Ask the broker in the client's place."""
    header, body = decode_request_header(frame, 0, len(frame))
    request = InitProducerIdRequest.decode(frame[body:], header.api_version)
    return Converse(_steps(ids, context, header, bytes(frame[:body]), request))


def _steps(
    ids: ProducerIds, context: Context, header: RequestHeader, head: bytes, request: InitProducerIdRequest
) -> Steps:
    version = header.api_version
    if is_of_a_cluster(request.producer_id):
        if context.cluster_id is None:
            yield from _name_cluster(context, header)
        _tell(request, ids.transactional(request.producer_id, context.cluster_id))
    answer = yield framed(head, request.encode(version))
    _, body = decode_response_header(answer, 0, len(answer), KEY, version)
    response = InitProducerIdResponse.decode(memoryview(answer)[body:], version)
    if response.error_code != NONE:
        context.backend.counters.api(KEY, version).count_error(response.error_code)
        return framed(answer)
    if context.cluster_id is None:
        yield from _name_cluster(context, header)
    response.producer_id = ids.issued(response.producer_id, context.cluster_id)
    context.backend.counters.producer_ids_issued += 1
    return framed(encode_response_header(header.correlation_id, KEY, version), response.encode(version))


def _tell(request: InitProducerIdRequest, producer_id: int | None) -> None:
    """Have the client tell this id; none where its broker has not issued it."""
    if producer_id is None or is_of_a_cluster(producer_id):
        request.producer_id, request.producer_epoch = _NOBODY, _NOBODY
    else:
        request.producer_id = producer_id


def _name_cluster(context: Context, header: RequestHeader) -> Generator[bytes, bytes, None]:
    """Have the broker name its cluster, in the client's name; for no topic, so that every principal may ask it."""
    head = encode_request_header(RequestHeader(METADATA, METADATA_VERSION, header.correlation_id, header.client_id))
    request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    answer = yield framed(head, request.encode(METADATA_VERSION))
    try:
        _, body = decode_response_header(answer, 0, len(answer), METADATA, METADATA_VERSION)
        response = MetadataResponse.decode(memoryview(answer)[body:], METADATA_VERSION, exact=False)
    except MalformedMessageError:  # the upstream's name stands for what cannot be read
        return
    context.leads_to(response.cluster_id)
