"""Free TCP ports that stay free until their server binds them."""

from __future__ import annotations

import random
import socket
from pathlib import Path

_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 12_000
_taken: set[int] = set()


def free_ports(count: int, host: str = "127.0.0.1") -> range:
    """`count` adjacent ports, none given out twice by this process.

    They lie below the range that the kernel gives to outgoing connections: a port out of that range, as binding
    port 0 finds, may belong to somebody's connection when its server starts, or starts again.
    """
    highest = int(_EPHEMERAL.read_text().split()[0]) if _EPHEMERAL.exists() else 32_768
    for _ in range(1000):
        first = random.randrange(min(_LOWEST, highest // 2), highest - count)
        ports = range(first, first + count)
        if _taken.isdisjoint(ports) and all(_is_free(host, port) for port in ports):
            _taken.update(ports)
            return ports
    raise OSError(f"no {count} adjacent free ports on {host} below {highest}")


def free_port(host: str = "127.0.0.1") -> int:
    """One port, as `free_ports` finds them."""
    return free_ports(1, host)[0]


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True
