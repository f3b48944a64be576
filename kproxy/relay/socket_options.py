"""Options of TCP on the sockets that are relayed: pacing on the same machine, and the search for peers that vanished.

The acceptor sets them for each client, `BrokerDial` for each broker.
"""

from __future__ import annotations

import socket
from typing import Final

_PACING: Final = b"bbr"
"""The congestion control that paces what it sends: by timers where no queue (fq) does so, as on the loopback."""
_PLAIN: Final = b"reno"
"""Built into every Linux, and always free for an unprivileged process to choose."""
_NAME_BYTES: Final = 16
_PROBES: Final = 4


def unpace(client: socket.socket) -> None:
    """Have bytes for a client on the same machine, such as a sidecar, go out at once; others keep the system's way.

    Timers took half of what a large Fetch response cost (docs/maintainers/performance-log.md, Pacing). Towards brokers
    pacing stays: without it they receive a large request in more and smaller parts.
    """
    try:
        if not client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _NAME_BYTES).startswith(_PACING):
            return
        if client.getpeername()[0] == client.getsockname()[0]:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _PLAIN)
    except OSError:
        pass  # the client is gone; the next read finds out


def keep_alive(sock: socket.socket, seconds: float) -> None:
    """Have TCP ask a quiet peer whether it is there, and give it up after twice as many seconds.

    A peer that vanished without a word, as behind a firewall, would otherwise hold two descriptors for ever.
    """
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, int(seconds))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, max(1, int(seconds) // _PROBES))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
