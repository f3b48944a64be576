# This module is pure (no I/O, no clock).
"""How many connections each principal of a virtual cluster may have at a time.

The relay asks `policies` for each answer to SaslAuthenticate, once the connection's principal is known by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import ConnectionState, Context
from kproxy.protocol.fault import Fault
from kproxy.wire.generated.api_keys import ApiKey

_FEW: Final = 64


class PrincipalConnections:
    """The connections of each principal; `most` is None while there is no limit."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self._open: dict[str, set[ConnectionState]] = {}
        self._sweep_at = _FEW

    def __bool__(self) -> bool:
        """Return whether there is a limit."""
        return self.most is not None

    def __len__(self) -> int:
        """Return how many principals are remembered."""
        return len(self._open)

    def note(self, context: Context) -> None:
        """Count a connection for its principal, once; raises `Fault` where that has as many as it may.

        One that authenticates again as somebody else, which brokers refuse, would count for both.
        """
        principal, most = context.principal, self.most
        if principal is None or most is None:
            return
        connection = context.state(ConnectionState)
        present = _present(self._open.get(principal, set()))
        if connection not in present and len(present) >= most:
            detail = f"{principal} has {most} connections, the most (max_connections_per_principal)"
            raise Fault(Reason.PRINCIPAL_LIMIT, detail, ApiKey.SASL_AUTHENTICATE)
        present.add(connection)
        self._open[principal] = present
        if len(self._open) > self._sweep_at:
            self._forget_gone()

    def _forget_gone(self) -> None:
        """Drop principals without connections; the next time when there are twice as many as are left."""
        self._open = {name: present for name, some in self._open.items() if (present := _present(some))}
        self._sweep_at = max(_FEW, 2 * len(self._open))


def _present(connections: set[ConnectionState]) -> set[ConnectionState]:
    return {one for one in connections if not one.gone}


def policies(connections: PrincipalConnections) -> Mapping[int, ApiPolicy]:
    """Return the policy of SaslAuthenticate; none without a limit. It goes behind the one that learns the principal."""
    if not connections:
        return {}
    checked = ApiPolicy(on_request=OnRequest.WHOLE, on_response=OnResponse.WHOLE, response=partial(check, connections))
    return {ApiKey.SASL_AUTHENTICATE: checked}


def check(connections: PrincipalConnections, route: Route) -> Respond:
    """Return the handler that lets a broker's answer pass, or ends the connection."""
    del route

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        del frame
        connections.note(context)
        return None

    return respond
