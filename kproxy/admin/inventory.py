"""Describes connections, and the clients that they belong to, as the admin port shows them.

`ProcessView` calls it for each request about them; the event stream asks it what brings a client back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from kproxy.admin.models import ClientView, ConnectionView, Rebootstrap
from kproxy.rebootstrap.client_capabilities import Capability, capability
from kproxy.rebootstrap.notified_clients import identity

if TYPE_CHECKING:
    from kproxy.protocol.connections import ConnectionInfo
    from kproxy.rebootstrap.notified_clients import Client

_REBOOTSTRAP: Final[Mapping[Capability, Rebootstrap]] = {
    Capability.REBOOTSTRAPS: Rebootstrap.NOTIFY,
    Capability.RECOVERS: Rebootstrap.ALONE,
    Capability.TOO_OLD: Rebootstrap.NO,
    Capability.UNKNOWN: Rebootstrap.UNKNOWN,
}


def clients(connections: Iterable[ConnectionInfo]) -> Iterable[ClientView]:
    """Return the connections grouped by client, as far as clients can be distinguished.

    A connection that has not authenticated yet counts as that of another client.
    """
    grouped: dict[tuple[str, Client, str | None], list[ConnectionInfo]] = {}
    for connection in connections:
        key = connection.cluster, identity(connection), connection.principal
        grouped.setdefault(key, []).append(connection)
    return [_client(*key, held) for key, held in grouped.items()]


def _client(cluster: str, client: Client, principal: str | None, connections: Sequence[ConnectionInfo]) -> ClientView:
    version = max(connection.metadata_version for connection in connections)
    return ClientView(
        cluster=cluster,
        host=client.host,
        client_id=client.client_id,
        principal=principal,
        software_name=client.software_name,
        software_version=client.software_version,
        connections=len(connections),
        since=time_shown(min(connection.opened for connection in connections)),
        metadata_version=None if version < 0 else version,
        rebootstrap=rebootstrap(connections[0].software, version),
    )


def rebootstrap(software: tuple[str, str] | None, metadata_version: int) -> Rebootstrap:
    """What brings the client back to its bootstrap servers, as far as `capability` knows."""
    return _REBOOTSTRAP[capability(software, metadata_version)]


def connection_view(connection: ConnectionInfo) -> ConnectionView:
    """One connection as the API shows it."""
    name, version = connection.software or (None, None)
    return ConnectionView(
        id=connection.id,
        cluster=connection.cluster,
        node=connection.node_id,
        client=connection.client,
        upstream=connection.upstream,
        since=time_shown(connection.opened),
        client_id=connection.client_id,
        principal=connection.principal,
        software_name=name,
        software_version=version,
        requests=connection.requests,
        responses=connection.responses,
        bytes_in=connection.bytes_in,
        bytes_out=connection.bytes_out,
        in_flight=connection.in_flight,
        paused=connection.paused,
    )


def time_shown(seconds: float) -> str:
    """Seconds since the Unix epoch in ISO 8601, UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
