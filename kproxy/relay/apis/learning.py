# This module is pure.
"""What responses that name all nodes say of their cluster, told to the backend before a client can act on it."""

from __future__ import annotations

from typing import Final

from kproxy.protocol.context import Context
from kproxy.protocol.reading import compact_string, text
from kproxy.wire.primitives import Buffer, int16_at
from kproxy.wire.skim import BROKER, Skimmed

_FIRST_METADATA_ID: Final = 2
_FIRST_FLEXIBLE_METADATA: Final = 9
_FIRST_ENDPOINT_TYPE: Final = 1
_THROTTLE_AND_ERROR: Final = 6


def learn(context: Context, found: Skimmed, cluster_id: str | None) -> None:
    """Tell the backend; a stale connection, whose broker is of another topology, learns its own cluster only."""
    context.cluster_id = cluster_id or context.cluster_id
    brokers = [(address.node_id, address.host, address.port) for address in found.addresses if address.kind == BROKER]
    if brokers and not context.stale:
        context.backend.learn(cluster_id, brokers)


def metadata_cluster_id(frame: Buffer, pos: int, version: int) -> str | None:
    """The cluster's id in a Metadata response (KIP-78); it stands at `pos`, right behind the brokers."""
    if version < _FIRST_METADATA_ID:
        return None
    if version < _FIRST_FLEXIBLE_METADATA:
        return text(frame, pos + 2, int16_at(frame, pos)[0])[0]
    return compact_string(frame, pos)[0]


def described_cluster_id(frame: Buffer, body: int, version: int) -> str | None:
    """The cluster's id in a DescribeCluster response; it stands behind the error's message."""
    _, pos = compact_string(frame, body + _THROTTLE_AND_ERROR)
    return compact_string(frame, pos + (version >= _FIRST_ENDPOINT_TYPE))[0]
