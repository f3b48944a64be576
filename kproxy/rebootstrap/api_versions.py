# This module is pure (no I/O, no clock).
"""ApiVersions (18): a client that names another cluster or node than it has reached is sent away (KIP-1242).

Runs for every ApiVersions request, before the relay's own policy, and for the broker's response.

v5 of the request names both. Where the node is gone, any id is a mismatch. A request without a mismatch is decided upon
as well, if it comes to a node that is gone or on a stale connection (accepted before the virtual cluster's epoch last
rose). If its client cannot be notified, the connection ends at once.

kproxy advertises Metadata v13 for brokers that serve v12, because the v13 response has room for 129: see `metadata`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from struct import Struct
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.hello import NEWEST, Hello, hello
from kproxy.protocol.outcomes import Answer
from kproxy.rebootstrap.actions import Trigger
from kproxy.rebootstrap.answers import Rebootstrap, sends_away
from kproxy.rebootstrap.client_capabilities import NEWEST_METADATA
from kproxy.rebootstrap.metadata import MetadataState
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.primitives import frame as framed

_NEWEST_BODY: Final = 4
_VERSION_AND_ID: Final = Struct(">2xhi")
_HEADER_BYTES: Final = 4


def ask(rebootstrap: Rebootstrap, context: Context, frame: memoryview) -> Answer | None:
    """Return 129 as the connection's last answer when the client is to be sent away; None to serve. Raises `Fault`."""
    version, correlation_id = _VERSION_AND_ID.unpack_from(frame)
    if not 0 <= version <= NEWEST:
        return None
    trigger = _trigger(context, hello(context, frame, version), version)
    if trigger is None or not sends_away(rebootstrap, context, trigger):
        return None
    if version < NEWEST:
        raise Fault(Reason.REBOOTSTRAP, f"ApiVersions v{version} cannot say it", ApiKey.API_VERSIONS)
    body = ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED).encode(version)
    return Answer(framed(correlation_id.to_bytes(4, "big", signed=True), body), Reason.REBOOTSTRAP)


def _trigger(context: Context, said: Hello, version: int) -> Trigger | None:
    """Return what the client's hello triggers; None where the client has reached what it means."""
    if version == NEWEST and _elsewhere(context, said):
        return Trigger.ELSEWHERE
    return Trigger.HELLO if context.retired or context.stale else None


def _elsewhere(context: Context, said: Hello) -> bool:
    """True when the client names another cluster or node than the one it has reached (KIP-1242).

    Never at the bootstrap listener: the client would loop.
    """
    if context.node_id is None:
        return False
    if context.retired:
        return said.cluster_id is not None or said.node_id != -1
    known = context.cluster.cluster_id
    other_cluster = None not in (said.cluster_id, known) and said.cluster_id != known
    return other_cluster or said.node_id not in (-1, context.node_id)


def raise_metadata(route: Route) -> Respond:
    """Advertise Metadata v13 for a broker that serves v12, and note whether its responses have the error code."""

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        if int.from_bytes(frame[_HEADER_BYTES : _HEADER_BYTES + 2], "big"):
            return None  # an error response
        newest, body = _raised(bytes(frame[_HEADER_BYTES:]), min(route.version, _NEWEST_BODY))
        context.state(MetadataState).has_code = newest >= NEWEST_METADATA
        return None if body is None else [frame[:_HEADER_BYTES], body]

    return respond


@lru_cache(maxsize=256)  # one broker answers all clients alike, and many connect at once
def _raised(body: bytes, version: int) -> tuple[int, bytes | None]:
    """Return the newest Metadata served, and the response's body with v13 in place of v12; None where it stays."""
    response = ApiVersionsResponse.decode(body, version)
    metadata = next((entry for entry in response.api_keys if entry.api_key == ApiKey.METADATA), None)
    newest = -1 if metadata is None else metadata.max_version
    if metadata is None or newest != NEWEST_METADATA - 1:
        return newest, None
    metadata.max_version = NEWEST_METADATA
    return newest, response.encode(version)


def policy(rebootstrap: Rebootstrap) -> ApiPolicy:
    """Return the policy for ApiVersions of one virtual cluster."""
    return ApiPolicy(
        on_request=OnRequest.WHOLE,
        request=partial(ask, rebootstrap),
        on_response=OnResponse.WHOLE,
        response=raise_metadata,
        any_version=True,
    )
