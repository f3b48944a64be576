"""The listeners of the admin port: an error on one connection ends that connection only.

`Process` starts it before the virtual clusters, if `admin` is configured; it serves until the drain has ended.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import structlog
import trio

from kproxy.admin.connection import Connection, Limits, Slots, linger
from kproxy.admin.view import View
from kproxy.errors import ConfigError

_FULL_BODY: Final = b'{"error":"the admin port has as many connections as it serves"}\n'
_FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(_FULL_BODY), _FULL_BODY)
)

log = structlog.get_logger()


async def _handle(stream: trio.SocketStream, *, view: View, limits: Limits, slots: Slots) -> None:
    """Serve one connection. It raises nothing except cancellation: an exception would end the listener."""
    try:
        async with stream:
            with slots.taken() as room:
                if room:
                    await Connection(stream, view, limits, slots).serve()
                else:
                    with trio.fail_after(limits.linger_seconds):
                        await stream.send_all(_FULL)
                    await linger(stream, limits.linger_seconds)
    except (trio.BrokenResourceError, trio.TooSlowError) as error:
        log.debug("admin client gone", error=repr(error))
    except Exception:
        log.exception("admin connection failed")


async def _listen(host: str, port: int) -> list[trio.SocketListener]:
    """Listen on one port; an empty host means every address. Raises `ConfigError` when the address cannot be bound."""
    try:
        listeners = await trio.open_tcp_listeners(port, host=host or None)
    except OSError as error:
        raise ConfigError("admin", f"cannot listen on {host or '*'}:{port}: {error.strerror or error}") from error
    if port == 0:  # each address family got a port of its own, and the caller gets only one
        first, *others = listeners
        for listener in others:
            await listener.aclose()
        return [first]
    return listeners


async def serve_admin(
    view: View,
    host: str,
    port: int,
    *,
    limits: Limits | None = None,
    task_status: trio.TaskStatus[tuple[str, int]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve the admin port until cancelled; `started` gets the bound (host, port). Port 0 means any free port.

    Raises `ConfigError` when the address cannot be bound.
    """
    limits = limits or Limits()
    listeners = await _listen(host, port)
    bound = listeners[0].socket.getsockname()
    handler = partial(_handle, view=view, limits=limits, slots=Slots(limits.connections))
    async with trio.open_nursery() as nursery:
        await nursery.start(trio.serve_listeners, handler, listeners)
        task_status.started((bound[0], bound[1]))
