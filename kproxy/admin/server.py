"""The listeners of the admin port: an error on one connection ends that connection only.

`Process` starts it before the virtual clusters, if `admin` is configured; it serves until the drain has ended.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection
from typing import Final

import structlog
import trio

from kproxy.admin.acceptor import Acceptor
from kproxy.admin.commanders import Commanders
from kproxy.admin.connection import Common, Connection
from kproxy.admin.handshake import Handshakes
from kproxy.admin.limits import Limits
from kproxy.admin.security import Security
from kproxy.admin.slots import Slot
from kproxy.admin.view import View
from kproxy.config.address import join_host_port
from kproxy.errors import ConfigError
from kproxy.observe.faults import note
from kproxy.observe.troubles import Troubles, Where
from kproxy.protocol.fault import Fault
from kproxy.protocol.network import network
from kproxy.routing.binding import bound_at, listen
from kproxy.upstream.dial import reason

_UNSENT_BYTES: Final = 16 << 10
"""The most that the system keeps beyond what the client's window takes: a client that does not read shows early."""

log = structlog.get_logger()


class _Port:
    """Gives each accepted socket a slot and a task."""

    def __init__(self, common: Common, handshakes: Handshakes, nursery: trio.Nursery) -> None:
        self._common = common
        self._handshakes = handshakes
        self._nursery = nursery

    def take(self, accepted: socket.socket) -> None:
        """Serve the connection."""
        try:
            accepted.setblocking(False)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
            share = network(accepted.getpeername()[0])
        except OSError as error:
            log.debug("admin client gone", error=repr(error))
            accepted.close()
            return
        scope = trio.CancelScope()
        slot = self._common.slots.enter(share, scope.cancel, trio.current_time())
        self._nursery.start_soon(self._serve, accepted, slot, scope)

    def room_in(self) -> float:
        """Return in how many seconds there may be room for one more connection; 0.0 for now."""
        return self._handshakes.room_in() or self._common.slots.room_in(trio.current_time())

    def free(self) -> bool:
        """End the connection that waits longest; returns whether there was one."""
        return self._common.slots.evict(trio.current_time())

    async def _serve(self, accepted: socket.socket, slot: Slot, scope: trio.CancelScope) -> None:
        """Serve one connection. It raises nothing except cancellation: an exception would end the listeners."""
        try:
            with scope:
                stream, refusal = await self._handshakes.stream(accepted, slot)
                with stream:
                    await Connection(stream, slot, self._common, refusal).serve()
        except (Fault, trio.TooSlowError, OSError) as error:
            log.debug("admin client gone", error=repr(error))
        except Exception as error:
            note(self._common.troubles, Where.ADMIN, error)
        finally:
            self._common.slots.leave(slot)
            accepted.close()


def _listen(host: str, port: int) -> tuple[socket.socket, ...]:
    """Listen on one port. Raises `ConfigError` when the address cannot be bound.

    "::" has a listener of its own for IPv4, where a peer's address looks as it should.
    """
    try:
        return listen(host, port, apart=True)
    except OSError as error:
        raise ConfigError("admin", f"cannot listen on {join_host_port(host, port)}: {reason(error)}") from error


async def serve_admin(
    view: View,
    host: str,
    port: int,
    *,
    allowed_hosts: Collection[str] = (),
    limits: Limits | None = None,
    troubles: Troubles | None = None,
    commanders: Commanders | None = None,
    security: Security = lambda: None,
    opened: Callable[[list[str]], None] = lambda bound: None,
    task_status: trio.TaskStatus[tuple[str, int]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve the admin port until cancelled; `started` gets the bound (host, port). Port 0 means any free port.

    Raises `ConfigError` when the address cannot be bound at the start. `troubles` are the process'. `security` returns
    what new connections are to be shown. `opened` is told of all addresses that are bound, as `[::1]:9190`.
    """
    listeners = _listen(host, port)
    bound = listeners[0].getsockname()
    hosts = frozenset(name.lower().removesuffix(".") for name in (host, *allowed_hosts))
    async with trio.open_nursery() as nursery:
        common = Common.of(view, limits or Limits(), hosts, troubles or Troubles(), commanders or Commanders())
        taking = _Port(common, Handshakes(security, common.slots, common.limits), nursery)
        for listener in listeners:
            acceptor = Acceptor(listener, taking.take, taking.room_in, taking.free, common.troubles)
            nursery.start_soon(acceptor.run)
        opened(bound_at(listeners))
        task_status.started((bound[0], bound[1]))
