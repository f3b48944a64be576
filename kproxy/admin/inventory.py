"""Who is connected: connections, and the clients that they belong to, as the admin port shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from kproxy.admin.models import ClientView, ConnectionView, Rebootstrap
from kproxy.rebootstrap.client_capabilities import Capability, capability
from kproxy.rebootstrap.service import identity

if TYPE_CHECKING:
    from kproxy.rebootstrap.notified_clients import Client
    from kproxy.relay.connection import Connection

_REBOOTSTRAP: Final[Mapping[Capability, Rebootstrap]] = {
    Capability.REBOOTSTRAPS: Rebootstrap.TELL,
    Capability.RECOVERS: Rebootstrap.ALONE,
    Capability.TOO_OLD: Rebootstrap.NO,
    Capability.UNKNOWN: Rebootstrap.UNKNOWN,
}


def clients(connections: Iterable[Connection]) -> Iterable[ClientView]:
    """Grouped by who cannot be told apart; who has not authenticated yet is somebody else."""
    grouped: dict[tuple[str, Client, str | None], list[Connection]] = {}
    for connection in connections:
        context = connection.context
        key = context.backend.counters.name, identity(context), context.principal
        grouped.setdefault(key, []).append(connection)
    return [_client(*key, held) for key, held in grouped.items()]


def _client(cluster: str, client: Client, principal: str | None, connections: Sequence[Connection]) -> ClientView:
    version = max(connection.context.metadata_version for connection in connections)
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
        rebootstrap=rebootstrap(connections[0].context.software, version),
    )


def rebootstrap(software: tuple[str, str] | None, metadata_version: int) -> Rebootstrap:
    """What brings the client back, as `capability` knows it."""
    return _REBOOTSTRAP[capability(software, metadata_version)]


def connection_view(connection: Connection) -> ConnectionView:
    context = connection.context
    name, version = context.software or (None, None)
    return ConnectionView(
        id=connection.id,
        cluster=context.backend.counters.name,
        node=context.node_id,
        client=context.client,
        upstream=connection.upstream,
        since=time_shown(connection.opened),
        client_id=context.client_id,
        principal=context.principal,
        software_name=name,
        software_version=version,
        requests=connection.requests.count,
        responses=connection.answered,
        bytes_in=connection.received,
        bytes_out=connection.client.sent,
        in_flight=len(connection.in_flight),
        paused=connection.paused,
    )


def time_shown(seconds: float) -> str:
    """Seconds since the Unix epoch in ISO 8601, UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
