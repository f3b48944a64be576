"""Looks up the addresses of brokers and servers by their names.

`kproxy.upstream.dial` asks at each dial. The resolver takes a thread, for as long as a name server does not answer,
also when nobody waits any more. So each name has a few threads of its own: all others, and whatever else needs one of
Trio's, go on. Where no name server answers at all, no more are begun.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import trio

Address = tuple[int, int, int, str, tuple[Any, ...]]
THREADS: Final = 4
"""The most lookups of one name at a time; further ones wait, and most of them for an answer that is cached by then."""
MOST: Final = 128
"""The most lookups at a time, of all names: an operating system may have no more threads to give."""
_FEW: Final = 64

_limiters: dict[str, trio.CapacityLimiter] = {}


async def addresses(host: str, port: int) -> Sequence[Address]:
    """Return the addresses of a host, at least one; raises `socket.gaierror`, at once where too many have no answer."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        return look_up(flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        pass
    except UnicodeError as error:  # a label that is empty or has more than 63 bytes: whatever a broker may advertise
        raise socket.gaierror(socket.EAI_NONAME, "no name of DNS") from error
    if sum(each.borrowed_tokens for each in _limiters.values()) >= MOST:
        raise socket.gaierror(socket.EAI_AGAIN, "too many names without an answer")
    return await trio.to_thread.run_sync(look_up, abandon_on_cancel=True, limiter=_limiter(host))


def _limiter(host: str) -> trio.CapacityLimiter:
    if len(_limiters) > _FEW:
        for name in [name for name, each in _limiters.items() if not each.borrowed_tokens]:
            del _limiters[name]
    return _limiters.setdefault(host, trio.CapacityLimiter(THREADS))
