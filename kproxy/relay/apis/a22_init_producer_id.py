"""InitProducerId (22): behind several upstream clusters, the id that a client gets has its Kafka cluster in it.

Only an id without a transactional id: that of a transactional producer is its coordinator's to check. `producer_ids`
says what is done and why.

The broker is asked what the client asks, by its own request. The id's cluster is the one that this very connection has
named, in a Metadata or DescribeCluster response; where it has named none yet, the broker is asked for it, too. So an id
has the right cluster even while a name leads to another one. The answer is small; what the client sends behind its
request waits for it.

A producer that tells its own id and epoch (KIP-360) without a transactional id gets another id, as from any broker.

Version notes: v2 is flexible; v3 adds the client's own id and epoch (KIP-360); v4 and v5 change error codes only.
"""

from __future__ import annotations

from typing import Final

from kproxy.errors import NONE, MalformedMessageError
from kproxy.relay.context import Context
from kproxy.relay.routes import Converse, Forward, Offer, OnRequest
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


def ask(context: Context, frame: memoryview) -> Forward | Converse:
    """Send the request on; where its answer must change, ask the broker in the client's place."""
    if context.backend.producer_ids is None:
        return Forward(framed(frame))
    header, body = decode_request_header(frame, 0, len(frame))
    request = InitProducerIdRequest.decode(frame[body:], header.api_version)
    if request.transactional_id is not None:
        return Forward(framed(frame))
    return Converse(_steps(context, header, framed(frame)))


def _steps(context: Context, header: RequestHeader, request: bytes) -> Steps:
    answer = yield request
    _, body = decode_response_header(answer, 0, len(answer), KEY, header.api_version)
    response = InitProducerIdResponse.decode(memoryview(answer)[body:], header.api_version)
    if response.error_code != NONE:
        context.backend.counters.api(KEY, header.api_version).count_error(response.error_code)
        return framed(answer)
    if context.cluster_id is None:
        context.cluster_id = _cluster_id((yield _metadata(header)))
    ids = context.backend.producer_ids
    if ids is not None:  # a reload may have it otherwise meanwhile
        response.producer_id = ids.issued(response.producer_id, context.cluster_id)
        context.backend.counters.producer_ids_issued += 1
    head = encode_response_header(header.correlation_id, KEY, header.api_version)
    return framed(head, response.encode(header.api_version))


def _metadata(header: RequestHeader) -> bytes:
    """A request for the cluster's id, in the client's name; for no topic, so that every principal may ask it."""
    head = encode_request_header(RequestHeader(METADATA, METADATA_VERSION, header.correlation_id, header.client_id))
    request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    return framed(head, request.encode(METADATA_VERSION))


def _cluster_id(answer: bytes) -> str | None:
    """The id that the broker names; None where it names none, or says nothing that can be read."""
    try:
        _, body = decode_response_header(answer, 0, len(answer), METADATA, METADATA_VERSION)
        return MetadataResponse.decode(memoryview(answer)[body:], METADATA_VERSION, exact=False).cluster_id
    except MalformedMessageError:
        return None


OFFER: Final = Offer(on_request=OnRequest.WHOLE, request=ask)
