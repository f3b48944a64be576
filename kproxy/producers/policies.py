# This module is pure (no I/O, no clock).
"""Rewrites the producer ids in requests and responses, behind several upstream clusters.

A virtual cluster has these policies once it keeps producer ids apart, by default when it has several upstreams. The
relay calls their handlers for each such request and response.

InitProducerId (22) gives a producer its id. AddPartitionsToTxn (24), AddOffsetsToTxn (25), EndTxn (26) and
TxnOffsetCommit (28) are a transactional producer's requests to its coordinator, and contain its id; the batches of
Produce (0) contain it, too. `producer_ids` says which id goes where, and why.

The right id depends on the Kafka cluster at the other end of this very connection, since a name may lead to another
cluster at any moment. Clients ask for metadata on most connections, and the response names the cluster. Where a
connection has named none yet, kproxy asks its broker before the request goes on.

A transactional producer may send its own id and epoch in InitProducerId (KIP-360), so that it gets the next epoch
unless another instance has fenced it. Only the cluster that issued the id can decide that. At another one kproxy makes
the request that of a new producer. Without a transactional id brokers ignore both, and issue another id.

Ids are changed in place: in requests they follow one name or two, in responses throttle time and error.

Version notes: InitProducerId v3 adds the client's own id and epoch (KIP-360); AddPartitionsToTxn v4 and v5 are between
brokers (KIP-890), and pass; EndTxn v5 names the id of the next transaction (KIP-890).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.producers.produce_rewrite import ProduceRewrite
from kproxy.producers.producer_ids import ProducerIds, is_of_a_cluster
from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Forward, Steps
from kproxy.protocol.reading import behind, well_formed
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.init_producer_id_request import InitProducerIdRequest
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.header import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
)
from kproxy.wire.primitives import INT64, Buffer, int16_at, int64_at
from kproxy.wire.primitives import frame as framed
from kproxy.wire.skim import is_transactional

NAMES: Final[Mapping[int, int]] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: 1,
    ApiKey.ADD_OFFSETS_TO_TXN: 1,
    ApiKey.END_TXN: 1,
    ApiKey.TXN_OFFSET_COMMIT: 2,
}
"""The number of strings before the producer's id in a request, by api key."""
FIRST_BETWEEN_BROKERS: Final = 4
FIRST_NAMING_THE_NEXT: Final = 5
METADATA_VERSION: Final = 4
"""The highest version that every broker knows that issues producer ids: Kafka 0.11."""
_FIRST_FLEXIBLE: Final = 3
_THROTTLE: Final = 4
_THROTTLE_AND_ERROR: Final = 6
_HELD: Final = 1 << 20
"""Bytes of a request that is held: more than 20,000 partitions."""
_NOBODY: Final = -1
_put: Final = INT64.pack_into


def policies(ids: ProducerIds) -> Mapping[int, ApiPolicy]:
    """Return the policies by api key; they hold until the next failover, which brings other `ids`."""
    named = ApiPolicy(on_request=OnRequest.WHOLE, before=name_cluster)
    asked = replace(named, request=partial(ask, ids), request_limit=_HELD)
    renamed = replace(named, on_response=OnResponse.WHOLE, response=partial(put_cluster, ids))
    return {
        ApiKey.PRODUCE: ApiPolicy(before=name_cluster_of_transaction, rewriter=partial(rewriter, ids)),
        ApiKey.INIT_PRODUCER_ID: replace(renamed, request=partial(begin, ids)),
        ApiKey.ADD_PARTITIONS_TO_TXN: asked,
        ApiKey.ADD_OFFSETS_TO_TXN: asked,
        ApiKey.END_TXN: replace(renamed, request=partial(ask, ids), response_from=FIRST_NAMING_THE_NEXT),
        ApiKey.TXN_OFFSET_COMMIT: asked,
    }


def rewriter(
    ids: ProducerIds, context: Context, version: int, buf: Chunk, pos: int, size: int
) -> ProduceRewrite | None:
    """Return a rewriter for a Produce request with batches that may change; None where the producer keeps its id."""
    if not (ids.failovers or is_transactional(buf, pos, len(buf))):
        return None
    return ProduceRewrite(context, ids, version, buf, pos, size)


def name_cluster(context: Context, buf: Buffer, pos: int, end: int) -> Steps | None:
    """Have the broker name its cluster, unless a response on this connection has done so."""
    del buf, pos, end
    return _cluster_named(context) if context.cluster_id is None else None


def name_cluster_of_transaction(context: Context, buf: Buffer, pos: int, end: int) -> Steps | None:
    """As `name_cluster`, only for a Produce request of a transaction."""
    if context.cluster_id is not None or not is_transactional(buf, pos, end):
        return None
    return _cluster_named(context)


def _cluster_named(context: Context) -> Steps:
    """Ask the broker, in the client's name and for no topic, so that every principal is allowed to."""
    head = encode_request_header(RequestHeader(ApiKey.METADATA, METADATA_VERSION, 0, context.client_id))
    request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    answer = yield framed(head, request.encode(METADATA_VERSION))
    try:
        _, body = decode_response_header(answer, 0, len(answer), ApiKey.METADATA, METADATA_VERSION)
        response = MetadataResponse.decode(memoryview(answer)[body:], METADATA_VERSION)
        context.cluster_id = response.cluster_id or ""
    except MalformedMessageError:
        context.cluster_id = ""  # the upstream's name replaces what cannot be read
    return b""


def begin(ids: ProducerIds, context: Context, frame: memoryview) -> Forward | None:
    """Rewrite InitProducerId of a transactional producer that sends its id; None to send it unchanged."""
    header, body = decode_request_header(frame, 0, len(frame))
    request = InitProducerIdRequest.decode(frame[body:], header.api_version)
    if request.transactional_id is None or request.producer_id < 0:
        return None
    request.producer_id = ids.in_transaction(request.producer_id, context.cluster_id)
    if is_of_a_cluster(request.producer_id):
        request.producer_id, request.producer_epoch = _NOBODY, _NOBODY
    return Forward(framed(frame[:body], request.encode(header.api_version)))


def ask(ids: ProducerIds, context: Context, frame: memoryview) -> Forward | None:
    """Send a transaction's request on with the id that the broker knows."""
    header, body = decode_request_header(frame, 0, len(frame))
    key, version = header.api_key, header.api_version
    if key == ApiKey.ADD_PARTITIONS_TO_TXN and version >= FIRST_BETWEEN_BROKERS:
        return None
    changed = bytearray(frame)
    with well_formed("a transaction's request"):
        place = _behind_names(frame, body, NAMES[key], flexible=version >= _FIRST_FLEXIBLE)
        _put(changed, place, ids.in_transaction(int64_at(frame, place)[0], context.cluster_id))
    return Forward(framed(changed))


def _behind_names(frame: Buffer, pos: int, count: int, *, flexible: bool) -> int:
    for _ in range(count):
        pos = behind(frame, pos) if flexible else pos + 2 + max(int16_at(frame, pos)[0], 0)
    return pos


def put_cluster(ids: ProducerIds, route: Route) -> Respond:
    """Return the rewriter that puts the cluster into the id that the broker has issued."""

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk]:
        _, body = decode_response_header(frame, 0, len(frame), route.api_key, route.version)
        changed = bytearray(frame)
        with well_formed("a producer's id"):
            place = body + _THROTTLE_AND_ERROR
            issued = int64_at(frame, place)[0]
            issued_here = ids.issued(issued, context.cluster_id)
            _put(changed, place, issued_here)
        if issued_here != issued and route.api_key == ApiKey.INIT_PRODUCER_ID:  # EndTxn mostly names the same id again
            context.cluster.counters.producer_ids_issued += 1
        return [bytes(changed)]

    return respond
