"""Describes connections, and the clients that they belong to, as the admin port shows them.

`ProcessView` calls it for each request about them; the event stream asks it what brings a client back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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


@dataclass(slots=True)
class _Group:
    """What is known of a client by its connections so far."""

    software: tuple[str, str] | None
    connections: int
    opened: float
    metadata_version: int
    kip_1242: bool | None


class GroupedClients:
    """Connections grouped by client, as far as clients can be distinguished. One call each, however many there are.

    A connection that has not authenticated yet counts as that of another client.
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[str, Client, str | None], _Group] = {}

    def add(self, connection: ConnectionInfo) -> None:
        """Count a connection for its client."""
        key = connection.cluster, identity(connection), connection.principal
        group = self._groups.get(key)
        if group is None:
            opened, version = connection.opened, connection.metadata_version
            self._groups[key] = _Group(connection.software, 1, opened, version, connection.kip_1242)
            return
        group.connections += 1
        group.opened = min(group.opened, connection.opened)
        group.metadata_version = max(group.metadata_version, connection.metadata_version)
        if group.kip_1242 is None or connection.kip_1242:
            group.kip_1242 = connection.kip_1242

    def views(self) -> Iterator[ClientView]:
        """Yield the clients."""
        return (_client(*key, group) for key, group in self._groups.items())


def _client(cluster: str, client: Client, principal: str | None, group: _Group) -> ClientView:
    version = group.metadata_version
    return ClientView(
        cluster=cluster,
        host=client.host,
        client_id=client.client_id,
        principal=principal,
        software_name=client.software_name,
        software_version=client.software_version,
        connections=group.connections,
        since=time_shown(group.opened),
        metadata_version=None if version < 0 else version,
        rebootstrap=rebootstrap(group.software, version),
        kip_1242=group.kip_1242,
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
