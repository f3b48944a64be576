"""A virtual cluster as the acceptor sees it: whom to dial for a client, and what it is shown.

`ClusterDestination` is the one of a process. The acceptor asks it for each client that connects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from kproxy.protocol.context import Context, VirtualCluster

if TYPE_CHECKING:
    from kproxy.authentication.authenticator import Authenticator
    from kproxy.observe.reasons import Reason
    from kproxy.protocol.api_table import ApiTable
    from kproxy.protocol.network import Networks
    from kproxy.upstream.authentication import Asked
    from kproxy.upstream.tls import BrokerContext, ServerContext
    from kproxy.wire.generated.api_versions_response import ApiVersionsResponse


class Destination(VirtualCluster, Protocol):
    """A virtual cluster that connections can be made to."""

    table: ApiTable
    retired_table: ApiTable
    """For listeners of a node that is gone."""
    tls: ServerContext | None
    """What clients are shown; None where they speak plaintext."""

    balancers: Networks
    """The networks of load balancers that say whose connections they pass on."""
    max_connections: int | None
    """Its own connections at a time; None for no limit of its own."""

    removed: bool
    """A reload has removed it, and its last clients have been sent away."""

    authenticator: Authenticator | None
    """What authenticates its clients; None where brokers do so."""

    def audit(self, context: Context, mechanism: str, refused: str | None) -> None:
        """Note that a client has authenticated to kproxy, or why it is refused."""

    def not_admitted(self, context: Context, reason: Reason, detail: str) -> None:
        """Note that a client's connection has ended before it was relayed."""

    def authenticated(self, context: Context) -> None:
        """Count a client for its principal, which kproxy has authenticated; raises `Fault` where that has too many."""

    def hello(self, node_id: int | None) -> ApiVersionsResponse | None:
        """What this node last answered to ApiVersions, or what all nodes serve; None while none has answered."""

    async def identify(self, broker: Asked, where: str) -> float:
        """Authenticate kproxy at a broker, if it has an identity; return after how many seconds it is to do so again.

        Raises UpstreamError.
        """

    @property
    def upstream_tls(self) -> BrokerContext | None:
        """For connections to its brokers; None for plaintext."""

    def upstreams(self, node_id: int | None) -> Sequence[tuple[str, int]]:
        """Return the addresses to dial for a node, best first; None is for the bootstrap servers.

        Returns none when the node is unknown, the bootstrap servers when it is gone and its listener is still open.
        """

    def leads_back(self, node_id: int | None, host: str, port: int, name: str) -> bool:
        """Return whether a dial for a node, to this address of the machine by this name, is a client of it again."""

    def dialled(self, node_id: int | None, address: tuple[str, int], failure: Reason | None, error: str) -> None:
        """Take note of how dialling an address went; `failure` is None when it was reached."""

    def overtaken(self, address: tuple[str, int], why: str) -> None:
        """Take note that an address did not answer before another one did, that was dialled later."""
