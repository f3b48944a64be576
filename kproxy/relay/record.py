"""Records the end of a client's connection: counts it by its reason, and logs it once, never with a payload.

The pump calls it when a relayed connection ends; the acceptor, when a client ends before it is relayed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import structlog

from kproxy.observe.reasons import Reason

if TYPE_CHECKING:
    from kproxy.protocol.connections import ConnectionInfo
    from kproxy.protocol.context import Context

PROTOCOL_ERRORS: Final = frozenset(
    {
        Reason.MALFORMED_REQUEST,
        Reason.MALFORMED_RESPONSE,
        Reason.INVALID_FRAME_SIZE,
        Reason.FRAME_TOO_LARGE,
        Reason.TRUNCATED_REQUEST,
        Reason.TRUNCATED_RESPONSE,
        Reason.STALLED_FRAME,
        Reason.TLS_ON_PLAINTEXT,
        Reason.PLAINTEXT_ON_TLS,
        Reason.TLS_FAILED,
        Reason.HTTP_ON_KAFKA_PORT,
        Reason.PROXY_HEADER,
        Reason.UNEXPECTED_PROXY_HEADER,
        Reason.UNKNOWN_API,
        Reason.UNSUPPORTED_VERSION,
        Reason.REFUSED_API,
        Reason.CORRELATION_MISMATCH,
    }
)
_EXPECTED: Final = frozenset(
    {Reason.CLIENT_CLOSED, Reason.DRAINED, Reason.SHUTDOWN, Reason.REBOOTSTRAP, Reason.RETIRED_NODE}
)

log = structlog.get_logger("kproxy.connection")


def record_end(context: Context, info: ConnectionInfo, reason: Reason, detail: str) -> None:
    """Log the end of a connection that was relayed and that `count_end` has counted; tell the rooms that kept of it."""
    context.end()
    _log(
        context,
        reason,
        detail,
        upstream=info.upstream,
        seconds=round(time.time() - info.opened, 3),
        bytes_in=info.bytes_in,
        bytes_out=info.bytes_out,
        in_flight=info.in_flight,
        connection=info.id,
    )


def record(context: Context, reason: Reason, detail: str, **fields: object) -> None:
    """Count and log the end of a client's connection that was not relayed yet; tell the rooms that kept of it."""
    count_end(context, reason)
    context.end()
    _log(context, reason, detail, **fields)


def count_end(context: Context, reason: Reason) -> None:
    """Count the end of a client's connection, relayed or not yet."""
    counters = context.cluster.counters
    counters.connection_closed(reason)
    if reason in PROTOCOL_ERRORS:
        counters.protocol_error(reason)
    if context.software_label is not None:
        counters.software.closed(context.software_label)


def _log(context: Context, reason: Reason, detail: str, **fields: object) -> None:
    level = log.info if reason in _EXPECTED else log.warning
    level(
        "connection ended",
        cluster=context.cluster.counters.name,
        node="bootstrap" if context.node_id is None else context.node_id,
        client=context.client,
        client_id=context.client_id,
        **({"principal": context.principal} if context.principal is not None else {}),
        reason=str(reason),
        **({"detail": detail} if detail else {}),
        **fields,
    )
