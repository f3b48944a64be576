"""Listening sockets: `listen` binds one at each address that a host has on this machine, all at one port.

Virtual clusters take them for their ports (kproxy.routing.listeners), and the admin port for its own.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final

from kproxy.config.address import join_host_port

BACKLOG: Final = 4096
"""Clients that wait to be accepted, as many as Linux allows unless net.core.somaxconn says otherwise."""
# A machine without IPv6 still has `::1 localhost` in its hosts file: so does every pod of Kubernetes. EINVAL is what
# a link-local address without its interface gets.
_NOT_HERE: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL})
# A port that is free at one address may be taken at another; a handful of tries in a row does not end so by chance.
_TRIES: Final = 16

_Address = tuple[int, tuple[Any, ...]]
"""The family, and the socket address."""


def listen(host: str, port: int, *, apart: bool = False) -> tuple[socket.socket, ...]:
    """Return non-blocking listening sockets, one for each address of a host that this machine has; at least one.

    So clients that find ::1 first at `localhost` are let in like those that find 127.0.0.1. Port 0 means one that is
    free at all of the addresses. `::` takes IPv4 clients too, by one socket; `apart`, by a second one.

    Raises OSError when the host has no address here, or one of them cannot be bound, for instance as the port is taken
    there. `filename` is that address, if the host has others.
    """
    found = _addresses("::", port) + _addresses("0.0.0.0", port) if apart and host == "::" else _addresses(host, port)
    tries = _TRIES if port == 0 else 1
    while True:
        tries -= 1
        try:
            return _bound(found)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or not tries:
                raise


def bound_at(listeners: Sequence[socket.socket]) -> list[str]:
    """Return the addresses at which sockets listen, as `127.0.0.1:9092` or `[::1]:9092`."""
    return [join_host_port(*each.getsockname()[:2]) for each in listeners]


def _addresses(host: str, port: int) -> list[_Address]:
    """Return each address of a host once, in the order in which clients try them; OSError when it has none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))


def _bound(addresses: Sequence[_Address]) -> tuple[socket.socket, ...]:
    """Return a socket for each address that is here, all at the port of the first."""
    missing: list[OSError] = []
    several = len(addresses) > 1
    with ExitStack() as opened:
        made: list[socket.socket] = []
        for family, (host, port, *rest) in addresses:
            at = (host, made[0].getsockname()[1] if made else port, *rest)
            try:
                made.append(opened.enter_context(_listening(family, at, both=not several)))
            except OSError as error:
                named = [join_host_port(*at[:2])] if several else []
                missing.append(OSError(error.errno, os.strerror(error.errno or 0), *named))
                if error.errno not in _NOT_HERE:
                    raise missing[-1] from error
        if not made:
            raise missing[0]
        opened.pop_all()
        return tuple(made)


def _listening(family: int, address: tuple[Any, ...], *, both: bool) -> socket.socket:
    both = both and family == socket.AF_INET6 and address[0] == "::" and socket.has_dualstack_ipv6()
    listener = socket.create_server(address, family=family, backlog=BACKLOG, dualstack_ipv6=both)
    listener.setblocking(False)
    return listener
