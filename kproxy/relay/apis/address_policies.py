# This module is pure (no I/O, no clock).
"""Policies of the APIs whose responses name brokers: each address is replaced by the advertised one; all else stays.

The response flow calls their handlers for each response that may name a broker.

- Produce (0): the relay reads only the head of a request; with acks=0 no response is expected. From v10 on responses
  name new leaders (KIP-951). A response is small and is rewritten whole.
- Fetch (1): requests pass; from v16 on responses may name new leaders behind all records (KIP-951). A response that is
  complete in one read is rewritten. A larger one streams, its record blobs unread; at its end the endpoints are
  rewritten in place or, where they do not fit, removed: the frame's length is already sent.
- Metadata (3) and DescribeCluster (60) name all brokers, so the cluster is learnt from them. Of a Metadata response
  the relay reads only the bytes up to the brokers array. DescribeCluster v1 adds EndpointType; addresses of
  controllers are masked, though a broker's listener names none.
- FindCoordinator (10): up to v3 one coordinator at the top level; from v4 on a list, one for each key (KIP-699). An
  absent one (id -1) stays absent.
- DescribeQuorum (55): v2 adds the controllers' listeners (KIP-853). They are masked: no controller can be reached.
- ShareFetch (78) as Fetch, ShareAcknowledge (79) as Produce: NodeEndpoints are a plain array at the end (KIP-932).

Version notes: Produce v3 is the lowest that Kafka 4 takes, v9 the first flexible one, v13 replaces topic names by ids
(KIP-516). Fetch v12 is the first flexible one, v13 replaces topic names by ids. ShareFetch v1 is the first stable one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.reading import compact_string, text, well_formed
from kproxy.relay.apis.addresses import each, replace_all, replaced
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.primitives import Buffer, int16_at
from kproxy.wire.skim import BROKER, Skimmed

_FIRST_METADATA_ID: Final = 2
_FIRST_FLEXIBLE_METADATA: Final = 9
_FIRST_ENDPOINT_TYPE: Final = 1
_THROTTLE_AND_ERROR: Final = 6


def learn(context: Context, found: Skimmed, cluster_id: str | None) -> None:
    """Have the virtual cluster learn its nodes, before the client can act on the response.

    A stale connection, whose broker is of an earlier topology, learns its own cluster's id only.
    """
    context.cluster_id = cluster_id or context.cluster_id
    brokers = [(address.node_id, address.host, address.port) for address in found.addresses if address.kind == BROKER]
    if brokers and not context.stale:
        context.cluster.learn(cluster_id, brokers)


def metadata_cluster_id(frame: Buffer, pos: int, version: int) -> str | None:
    """Return the cluster's id in a Metadata response (KIP-78); it is at `pos`, right behind the brokers."""
    if version < _FIRST_METADATA_ID:
        return None
    if version < _FIRST_FLEXIBLE_METADATA:
        return text(frame, pos + 2, int16_at(frame, pos)[0])[0]
    return compact_string(frame, pos)[0]


def described_cluster_id(frame: Buffer, body: int, version: int) -> str | None:
    """Return the cluster's id in a DescribeCluster response; it is behind the error's message."""
    _, pos = compact_string(frame, body + _THROTTLE_AND_ERROR)
    return compact_string(frame, pos + (version >= _FIRST_ENDPOINT_TYPE))[0]


_ClusterId = Callable[[memoryview, int, Skimmed, int], str | None]


def _learnt(what: str, cluster_id: _ClusterId) -> Callable[[Route], Respond]:
    """Return a maker of handlers that replace the addresses and learn the cluster's nodes and id."""

    def make(route: Route) -> Respond:
        def replace(context: Context, frame: memoryview, body: int, found: Skimmed) -> Sequence[Chunk]:
            with well_formed(what):
                known = cluster_id(frame, body, found, route.version)
            learn(context, found, known)
            return replaced(context, frame, body, found)

        return each(route, replace)

    return make


_metadata: Final = _learnt(
    "Metadata response", lambda frame, _, found, version: metadata_cluster_id(frame, found.end, version)
)
_describe_cluster: Final = _learnt(
    "DescribeCluster response", lambda frame, body, _, version: described_cluster_id(frame, body, version)
)
_whole: Final = ApiPolicy(on_response=OnResponse.WHOLE, response=replace_all)

POLICIES: Final[Mapping[int, ApiPolicy]] = MappingProxyType(
    {
        ApiKey.PRODUCE: ApiPolicy(
            on_request=OnRequest.ACKS,
            on_response=OnResponse.WHOLE,
            glances=True,
            response=replace_all,
            response_from=10,
        ),
        ApiKey.FETCH: ApiPolicy(on_response=OnResponse.STREAM, glances=True, response=replace_all, response_from=16),
        ApiKey.METADATA: ApiPolicy(on_response=OnResponse.WHOLE, response=_metadata),
        ApiKey.FIND_COORDINATOR: _whole,
        ApiKey.DESCRIBE_QUORUM: ApiPolicy(on_response=OnResponse.WHOLE, response=replace_all, response_from=2),
        ApiKey.DESCRIBE_CLUSTER: ApiPolicy(on_response=OnResponse.WHOLE, response=_describe_cluster),
        ApiKey.SHARE_FETCH: ApiPolicy(on_response=OnResponse.STREAM, glances=True, response=replace_all),
        ApiKey.SHARE_ACKNOWLEDGE: ApiPolicy(on_response=OnResponse.WHOLE, glances=True, response=replace_all),
    }
)
"""By api key."""
