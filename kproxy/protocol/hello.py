# This module is pure.
"""ApiVersions requests: the first thing that a client says, and who it is (KIP-511).

Several rooms read them, so what one request says is decoded once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from kproxy.protocol.context import Context
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.header import decode_request_header

NEWEST: Final = 5
"""The highest version of ApiVersions in Kafka's schemas: it names the cluster and node that the client means."""


class Hello(NamedTuple):
    """The contents of an ApiVersions request; cluster and node (KIP-1242) are None and -1 where they are not named."""

    software_name: str
    software_version: str
    cluster_id: str | None
    node_id: int


def hello(context: Context, frame: memoryview, version: int) -> Hello:
    """Read the request, and note in the context who the client is; raises `MalformedMessageError`."""
    _, body = decode_request_header(frame, 0, len(frame))
    said = _decoded(bytes(frame[body:]), version)
    context.introduce(said.software_name, said.software_version)
    return said


@lru_cache(maxsize=256)  # clients of one kind say the same, and many connect at a time
def _decoded(body: bytes, version: int) -> Hello:
    request = ApiVersionsRequest.decode(body, version)
    return Hello(request.client_software_name, request.client_software_version, request.cluster_id, request.node_id)
