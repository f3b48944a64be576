# This module is pure (no I/O, no clock).
"""ApiVersions (18): answers with the versions that both the broker and kproxy serve.

Runs for each ApiVersions request that kproxy.rebootstrap.api_versions does not answer first, and for the broker's
response.

The request goes on to the broker with the client's software name in it (KIP-511), at v4 at most: kproxy.rebootstrap
checks the ids that v5 carries (KIP-1242), so they work in front of every broker. kproxy answers a version that it does
not know as Kafka does, by error 35 in a v0 body that names the versions of ApiVersions itself.

Version notes: v3 is the first flexible one, its response header is not; v4 lets a feature's lowest version be 0; the
body of a v5 response is that of v4.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import Final

from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.hello import NEWEST, hello
from kproxy.protocol.outcomes import Answer, Forward
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.header import decode_request_header
from kproxy.wire.primitives import frame as framed

NEWEST_UPSTREAM: Final = 4
_HEAD: Final = Struct(">hhi")
_SIZE_AND_ID: Final = Struct(">ii")
_HEADER_BYTES: Final = 4

Served = tuple[tuple[int, int, int], ...]


def ask(context: Context, frame: memoryview) -> Forward | Answer | None:
    """Send the client's request on, at a version that the broker knows, unless kproxy must answer it."""
    _, version, correlation_id = _HEAD.unpack_from(frame)
    if not 0 <= version <= NEWEST:
        return Answer(_unknown_version(correlation_id))
    hello(context, frame, version)
    if version <= NEWEST_UPSTREAM:
        return None
    _, body = decode_request_header(frame, 0, len(frame))
    request = ApiVersionsRequest.decode(frame[body:], version)
    request.cluster_id, request.node_id = None, -1
    head = _HEAD.pack(ApiKey.API_VERSIONS, NEWEST_UPSTREAM, correlation_id) + bytes(frame[_HEAD.size : body])
    return Forward(framed(head, request.encode(NEWEST_UPSTREAM)))


def _unknown_version(correlation_id: int) -> bytes:
    own = ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=0, max_version=NEWEST)
    body = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[own]).encode(0)
    return _SIZE_AND_ID.pack(_HEADER_BYTES + len(body), correlation_id) + body


def intersect(route: Route) -> Respond:
    """Cut the broker's versions down to those that kproxy serves, and add the APIs that it serves by itself.

    An error passes as it is: with 35 a broker names only its versions of ApiVersions, and clients use these.
    """

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        error = int.from_bytes(frame[_HEADER_BYTES : _HEADER_BYTES + 2], "big", signed=True)
        if error != ErrorCode.NONE:
            return None
        cluster = context.cluster
        own = () if context.retired else cluster.own
        body = _intersected(bytes(frame[_HEADER_BYTES:]), route.version, cluster.served, own)
        return [frame[:_HEADER_BYTES], body]

    return respond


_LOWEST_OF_BROKER: Final = frozenset({ApiKey.SASL_HANDSHAKE})
"""librdkafka before 2.11 derives from the lowest version of SaslHandshake whether the broker authenticates at all.

Without 0 it does not try, though it sends 1. Clients that authenticate to kproxy are not let in by 0 a second time.
"""


@lru_cache(maxsize=256)  # one broker answers all clients alike, and many connect at a time
def _intersected(body: bytes, version: int, served: Served, own: Served) -> bytes:
    """Return the response's body for the client."""
    version = min(version, NEWEST_UPSTREAM)
    response = ApiVersionsResponse.decode(body, version)
    ours = {key: (lowest, highest) for key, lowest, highest in served}
    added = {key for key, _, _ in own}
    theirs = [entry for entry in response.api_keys if entry.api_key not in added]
    cut = [kept for entry in theirs if (kept := _cut(entry, ours.get(entry.api_key)))]
    response.api_keys = [*cut, *(ApiVersion(*entry) for entry in own)]
    return response.encode(version)


def _cut(theirs: ApiVersion, ours: tuple[int, int] | None) -> ApiVersion | None:
    if ours is None:
        return None
    lowest, highest = max(theirs.min_version, ours[0]), min(theirs.max_version, ours[1])
    if theirs.api_key in _LOWEST_OF_BROKER:
        lowest = theirs.min_version
    if theirs.api_key == ApiKey.API_VERSIONS and theirs.max_version >= NEWEST_UPSTREAM:
        highest = NEWEST
    if lowest > highest:
        return None
    theirs.min_version, theirs.max_version = lowest, highest
    return theirs


POLICY: Final = ApiPolicy(
    on_request=OnRequest.WHOLE, request=ask, on_response=OnResponse.WHOLE, response=intersect, any_version=True
)
