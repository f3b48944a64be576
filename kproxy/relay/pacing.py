"""What goes to a client on the same machine is not paced: no network lies between that pacing would spare."""

from __future__ import annotations

import socket
from typing import Final

_PACING: Final = b"bbr"
"""The congestion control that sends at a rate, by timers, where no queue (fq) does it for TCP: so on the loopback."""
_PLAIN: Final = b"reno"
"""Built into every Linux, and the one that it lets everybody choose."""
_NAME_BYTES: Final = 16


def unpace(client: socket.socket) -> None:
    """Have bytes for a client on the same machine, as a sidecar's is, go out at once; others keep the system's way.

    Timers took half of what a large Fetch response cost (docs/performance-log.md, Pacing). Towards brokers it
    stays: without it they take a large request in more and smaller parts.
    """
    try:
        if not client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _NAME_BYTES).startswith(_PACING):
            return
        if client.getpeername()[0] == client.getsockname()[0]:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _PLAIN)
    except OSError:
        pass  # a client that is gone; who reads from it finds out
