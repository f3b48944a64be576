# This module is pure.
"""ApiVersions (18): the broker's answer, cut down to what kproxy serves too.

The request goes on to the broker with the client's software name in it (KIP-511), at v4 at most: the ids that v5
carries (KIP-1242) are checked here, so that they work in front of every broker. After a mismatch the backend decides
whether the answer is REBOOTSTRAP_REQUIRED, and the connection's last; where the node is gone, any id is a mismatch. It
also decides whether a client that says hello to such a node, or to a topology that has changed since it came, may go
on: one that could not be told is parted from at once. A version that kproxy does not know is answered as Kafka does, by
error 35 in a v0 body that names the versions of ApiVersions itself.

Metadata v13 is offered over a broker that has v12: see `a03_metadata`.

Version notes: v3 is the first flexible one, its response header is not; v4 lets a feature's lowest version be 0; the
body of a v5 response is that of v4.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import Final

from kproxy.errors import NONE, REBOOTSTRAP_REQUIRED, UNSUPPORTED_VERSION
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Answer, ApiPolicy, Chunk, Forward, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import NEWEST_METADATA, Context
from kproxy.protocol.fault import Fault
from kproxy.rebootstrap.actions import Trigger
from kproxy.rebootstrap.answers import is_told
from kproxy.wire.frame import frame as framed
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.header import decode_request_header

KEY: Final = 18
NEWEST: Final = 5
NEWEST_UPSTREAM: Final = 4
_PRODUCE: Final = 0
_METADATA: Final = 3
_HEAD: Final = Struct(">hhi")
_SIZE_AND_ID: Final = Struct(">ii")
_HEADER_BYTES: Final = 4

Served = tuple[tuple[int, int, int], ...]


def ask(context: Context, frame: memoryview) -> Forward | Answer:
    """Send the client's request on, at a version that the broker knows, unless kproxy must answer it."""
    _, version, correlation_id = _HEAD.unpack_from(frame)
    if not 0 <= version <= NEWEST:
        own = ApiVersion(api_key=KEY, min_version=0, max_version=NEWEST)
        return _answer(correlation_id, ApiVersionsResponse(error_code=UNSUPPORTED_VERSION, api_keys=[own]), 0)
    _, body = decode_request_header(frame, 0, len(frame))
    request = ApiVersionsRequest.decode(frame[body:], version)
    context.introduce(request.client_software_name, request.client_software_version)
    asks = _judged(context, request, version)
    if asks is not None and is_told(context, asks):
        return _rebootstrap(correlation_id, version)
    if version <= NEWEST_UPSTREAM:
        return Forward(framed(frame))
    request.cluster_id, request.node_id = None, -1
    head = _HEAD.pack(KEY, NEWEST_UPSTREAM, correlation_id) + bytes(frame[_HEAD.size : body])
    return Forward(framed(head, request.encode(NEWEST_UPSTREAM)))


def _judged(context: Context, request: ApiVersionsRequest, version: int) -> Trigger | None:
    """What the backend is to decide about; None where the client is where it means to be."""
    if version == NEWEST and _elsewhere(context, request):
        return Trigger.ELSEWHERE
    return Trigger.HELLO if context.retired or context.stale else None


def _elsewhere(context: Context, request: ApiVersionsRequest) -> bool:
    """Whether the client means another cluster or node than the one it has reached (KIP-1242)."""
    if context.node_id is None:
        return False
    if context.retired:
        return request.cluster_id is not None or request.node_id != -1
    known = context.backend.cluster_id
    other_cluster = None not in (request.cluster_id, known) and request.cluster_id != known
    return other_cluster or request.node_id not in (-1, context.node_id)


def _rebootstrap(correlation_id: int, version: int) -> Answer:
    if version < NEWEST:
        raise Fault(Reason.REBOOTSTRAP, f"ApiVersions v{version} cannot say it", KEY)
    return _answer(correlation_id, ApiVersionsResponse(error_code=REBOOTSTRAP_REQUIRED), version, Reason.REBOOTSTRAP)


def _answer(correlation_id: int, response: ApiVersionsResponse, version: int, last: Reason | None = None) -> Answer:
    body = response.encode(version)
    return Answer(_SIZE_AND_ID.pack(_HEADER_BYTES + len(body), correlation_id) + body, last)


def intersect(route: Route) -> Respond:
    """Cut the broker's versions down to those that kproxy serves, and add what it serves by itself.

    An error passes as it is: with 35 a broker names only its versions of ApiVersions, and clients go by them.
    """

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        error = int.from_bytes(frame[_HEADER_BYTES : _HEADER_BYTES + 2], "big", signed=True)
        if error != NONE:
            route.counters.count_error(error)
            return None
        backend = context.backend
        own = () if context.retired else backend.own
        body, metadata = _intersected(bytes(frame[_HEADER_BYTES:]), route.version, backend.served, own)
        context.metadata_upstream = min(metadata, NEWEST_METADATA)
        return [frame[:_HEADER_BYTES], body]

    return respond


@lru_cache(maxsize=256)  # one broker answers all clients alike, and many connect at a time
def _intersected(body: bytes, version: int, served: Served, own: Served) -> tuple[bytes, int]:
    """The body for the client, and the highest version of Metadata that the broker serves."""
    version = min(version, NEWEST_UPSTREAM)
    response = ApiVersionsResponse.decode(body, version, exact=False)
    metadata = next((entry.max_version for entry in response.api_keys if entry.api_key == _METADATA), 0)
    ours = {key: (lowest, highest) for key, lowest, highest in served}
    added = {key for key, _, _ in own}
    theirs = [entry for entry in response.api_keys if entry.api_key not in added]
    cut = [kept for entry in theirs if (kept := _cut(entry, ours.get(entry.api_key)))]
    response.api_keys = [*cut, *(ApiVersion(*entry) for entry in own)]
    return response.encode(version), metadata


def _cut(theirs: ApiVersion, ours: tuple[int, int] | None) -> ApiVersion | None:
    if ours is None:
        return None
    lowest, highest = max(theirs.min_version, ours[0]), min(theirs.max_version, ours[1])
    if theirs.api_key == _PRODUCE:
        # librdkafka derives the record format from Produce's lowest version: brokers name 0, serve 3 (KAFKA-18659).
        lowest = theirs.min_version
    if theirs.api_key == KEY and theirs.max_version >= NEWEST_UPSTREAM:
        highest = NEWEST
    if theirs.api_key == _METADATA and theirs.max_version == NEWEST_METADATA - 1:
        highest = ours[1]
    if lowest > highest:
        return None
    theirs.min_version, theirs.max_version = lowest, highest
    return theirs


POLICY: Final = ApiPolicy(
    on_request=OnRequest.WHOLE, request=ask, on_response=OnResponse.WHOLE, response=intersect, any_version=True
)
