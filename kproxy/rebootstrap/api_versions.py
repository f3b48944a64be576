# This module is pure.
"""ApiVersions (18): who means another cluster or node than it has reached is sent away (KIP-1242).

v5 of the request names both. Where the node is gone, any id is a mismatch. A client that says hello to a node that is
gone, or to a topology that has changed since it came, is judged as well: one that cannot be notified is parted from at
once.

Brokers that serve Metadata up to v12 are said to serve v13, whose response has room for 129: see `metadata`.
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
    """Answer 129 where the client is to be sent away, as the last response of its connection; or raise `Fault`."""
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
    """What is to be decided; None where the client is where it means to be."""
    if version == NEWEST and _elsewhere(context, said):
        return Trigger.ELSEWHERE
    return Trigger.HELLO if context.retired or context.stale else None


def _elsewhere(context: Context, said: Hello) -> bool:
    """Whether the client means another cluster or node than the one it has reached (KIP-1242).

    Never at the bootstrap listener: that would be a loop.
    """
    if context.node_id is None:
        return False
    if context.retired:
        return said.cluster_id is not None or said.node_id != -1
    known = context.cluster.cluster_id
    other_cluster = None not in (said.cluster_id, known) and said.cluster_id != known
    return other_cluster or said.node_id not in (-1, context.node_id)


def raise_metadata(route: Route) -> Respond:
    """Offer Metadata v13 over a broker that serves v12, and note that its responses lack the error code."""

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        if int.from_bytes(frame[_HEADER_BYTES : _HEADER_BYTES + 2], "big"):
            return None  # an error
        body = _raised(bytes(frame[_HEADER_BYTES:]), min(route.version, _NEWEST_BODY))
        if body is None:
            return None
        context.state(MetadataState).lacks_code = True
        return [frame[:_HEADER_BYTES], body]

    return respond


@lru_cache(maxsize=256)  # one broker answers all clients alike, and many connect at a time
def _raised(body: bytes, version: int) -> bytes | None:
    """The response's body with a higher version of Metadata; None where it stays as it is."""
    response = ApiVersionsResponse.decode(body, version, exact=False)
    metadata = next((entry for entry in response.api_keys if entry.api_key == ApiKey.METADATA), None)
    if metadata is None or metadata.max_version != NEWEST_METADATA - 1:
        return None
    metadata.max_version = NEWEST_METADATA
    return response.encode(version)


def policy(rebootstrap: Rebootstrap) -> ApiPolicy:
    """Of one virtual cluster."""
    return ApiPolicy(
        on_request=OnRequest.WHOLE,
        request=partial(ask, rebootstrap),
        on_response=OnResponse.WHOLE,
        response=raise_metadata,
        any_version=True,
    )
