# This module is pure.
"""What a broker's answer says of the cluster, when it says anything that can be used."""

from __future__ import annotations

from kproxy.errors import NONE, UpstreamError
from kproxy.topology.snapshot import Node, Snapshot
from kproxy.wire.generated.metadata_response import MetadataResponse


def from_metadata(response: MetadataResponse) -> Snapshot:
    """The cluster as Metadata shows it.

    Raises UpstreamError for an error or for no broker that could be dialled: neither may replace a good snapshot, since
    the clients would lose every address that they have.
    """
    if response.error_code != NONE:
        raise UpstreamError(f"Metadata answers error {response.error_code}; the broker's log has the reason")
    nodes = [Node(broker.node_id, broker.host, broker.port, broker.rack) for broker in response.brokers]
    controller_id = response.controller_id if response.controller_id >= 0 else None
    snapshot = Snapshot.of(nodes, response.cluster_id, controller_id)
    if not snapshot.nodes:
        raise UpstreamError(
            f"Metadata names no broker that can be dialled ({len(nodes)} in all); check advertised.listeners"
        )
    return snapshot
