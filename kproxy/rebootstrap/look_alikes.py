# This module is pure (no I/O, no clock).
"""Works out, by their connections, how many clients look alike: each of them is to be notified.

`RebootstrapService` asks when an epoch begins, before it ends the connections.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from kproxy.protocol.connections import ConnectionInfo
from kproxy.rebootstrap.notified_clients import Client, identity
from kproxy.wire.generated.api_keys import ApiKey

_FRANZ_GO: Final = "kgo"
_PRODUCES: Final = "produces"
_FETCHES: Final = "fetches"
_JOINS: Final = "joins"
_FRANZ_GO_USES: Final[Mapping[int, str]] = MappingProxyType(
    {
        ApiKey.PRODUCE: _PRODUCES,
        ApiKey.FETCH: _FETCHES,
        ApiKey.SHARE_FETCH: _FETCHES,
        ApiKey.SHARE_ACKNOWLEDGE: _FETCHES,
        ApiKey.JOIN_GROUP: _JOINS,
        ApiKey.SYNC_GROUP: _JOINS,
    }
)
"""What a connection of franz-go is for, by its last request: it has one to each node for each of these."""


def look_alikes(connections: Iterable[ConnectionInfo]) -> dict[Client, int]:
    """Return how often each client may be notified: once, or where several look alike, as often as there may be."""
    by_client: defaultdict[Client, list[ConnectionInfo]] = defaultdict(list)
    for connection in connections:
        if connection.node_id is not None:
            by_client[identity(connection)].append(connection)
    return {client: _notifications(its) for client, its in by_client.items()}


def _notifications(connections: Sequence[ConnectionInfo]) -> int:
    if _is_one(connections):
        return 1
    # Generous: of several that look alike one may get two 129s, before it has bootstrapped, and another then none.
    return max(Counter((connection.node_id, connection.is_member) for connection in connections).values())


def _is_one(connections: Sequence[ConnectionInfo]) -> bool:
    """True when one client may have all of them: it has one connection to a node for each use."""
    uses = Counter((connection.node_id, _use(connection)) for connection in connections)
    return max(uses.values()) == 1 and not {_PRODUCES, _FETCHES} <= {use for _, use in uses}


def _use(connection: ConnectionInfo) -> object:
    if connection.software is not None and connection.software[0] == _FRANZ_GO:
        return _FRANZ_GO_USES.get(connection.last_api)
    return connection.is_member  # a member of a group has a second connection to a node: to its coordinator
