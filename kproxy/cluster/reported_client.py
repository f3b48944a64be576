# This module is pure (no I/O, no clock).
"""What events say of the client that a request came from.

`ErrorReports` and `FaultInjection` make their events with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from kproxy.observe.events import bounded

if TYPE_CHECKING:
    from kproxy.protocol.context import Context


class ReportedClient(TypedDict):
    """The fields of `ErrorAnswered` and `FaultInjected` that are about the client."""

    connection: int
    address: str | None
    client_id: str | None
    software_name: str | None
    software_version: str | None
    principal: str | None


def reported_client(context: Context) -> ReportedClient:
    """Return them; long texts are cut."""
    name, version = context.software or (None, None)
    return ReportedClient(
        connection=context.id,
        address=context.host or None,
        client_id=bounded(context.client_id),
        software_name=bounded(name),
        software_version=bounded(version),
        principal=bounded(context.principal),
    )
