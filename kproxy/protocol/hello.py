# This module is pure (no I/O, no clock).
"""Reads ApiVersions requests: the first request of a client, which names its software (KIP-511).

Two policies call `hello` for each of them: the one of kproxy.rebootstrap and, unless that one answers, the relay's.
Clients of one kind send the same bytes, so equal requests are decoded once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from kproxy.protocol.context import Context
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.header import decode_request_header

NEWEST: Final = 5
"""The highest version of ApiVersions in Kafka's schemas.

Its requests, and no older ones, name the cluster and the node that the client means to reach (KIP-1242).
"""


class Hello(NamedTuple):
    """The contents of an ApiVersions request; cluster and node (KIP-1242) are None and -1 where not named."""

    software_name: str
    software_version: str
    cluster_id: str | None
    node_id: int


def hello(context: Context, frame: memoryview, version: int) -> Hello:
    """Decode the request, and note in the context what it says of the client; raises `MalformedMessageError`."""
    _, body = decode_request_header(frame, 0, len(frame))
    said = _decoded(bytes(frame[body:]), version)
    context.introduce(said.software_name, said.software_version)
    if said.cluster_id is not None or said.node_id != -1:
        context.kip_1242 = True
    elif version < NEWEST and context.kip_1242 is None:
        context.kip_1242 = False
    return said


@lru_cache(maxsize=256)  # clients of one kind send the same bytes, and many connect at a time
def _decoded(body: bytes, version: int) -> Hello:
    request = ApiVersionsRequest.decode(body, version)
    return Hello(request.client_software_name, request.client_software_version, request.cluster_id, request.node_id)
