"""Finds free TCP ports that stay free until a server binds them; watches a process's sockets.

Local brokers, the demo and the tests take ports from it; the demo watches its clients' sockets during the load.
"""

from __future__ import annotations

import os
import random
import socket
import threading
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 12_000
_HIGHEST = 32_768
SHARE: Final = "TEST_PORTS"
"""Environment variable: 2/3 gives this process, and those that it starts, the second of three parts of the range.

Processes that run side by side, each with a part of its own, find no port that another one has only chosen yet.
"""
_taken: set[int] = set()


def free_ports(count: int, host: str = "127.0.0.1") -> range:
    """Return `count` adjacent free ports; this process returns none twice.

    They lie below the range that the kernel uses for outgoing connections: a port in that range, as binding port 0
    finds, may belong to a connection by the time its server starts, or starts again. Where that range leaves hardly any
    below it, as on many servers, they lie in it all the same.
    """
    eligible = _eligible()
    for _ in range(1000):
        first = random.randrange(eligible.start, eligible.stop - count)
        ports = range(first, first + count)
        if _taken.isdisjoint(ports) and all(_is_free(host, port) for port in ports):
            _taken.update(ports)
            return ports
    raise OSError(f"no {count} adjacent free ports on {host} from {eligible.start} to {eligible.stop - 1}")


def free_port(host: str = "127.0.0.1") -> int:
    """Return one port, as `free_ports` does."""
    return free_ports(1, host)[0]


def _eligible() -> range:
    begin = int(_EPHEMERAL.read_text().split()[0]) if _EPHEMERAL.exists() else _HIGHEST
    highest = begin if begin > _LOWEST + 1000 else _HIGHEST
    number, parts = map(int, os.environ.get(SHARE, "1/1").split("/"))
    size = (highest - _LOWEST) // parts
    return range(_LOWEST + (number - 1) * size, _LOWEST + number * size)


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


EVERY: Final = 0.01
# A socket exists before it connects, and some never have a TCP peer: the look-ups of an inode are limited.
_LOOKS: Final = 100


class SocketWatch:
    """Looks at the TCP sockets of a process every 10 ms, in a thread. `peers` are the remote ports so far."""

    def __init__(self, pid: int) -> None:
        self.peers: set[int] = set()
        self.sockets = 0
        self._descriptors = f"/proc/{pid}/fd"
        self._looks: dict[str, int] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="socket watch", daemon=True)

    def sample(self) -> None:
        """Look once. It reads the kernel's table only for sockets without a known peer."""
        unknown = {inode for inode in self._inodes() if self._looks.get(inode, 0) < _LOOKS}
        table = _peers() if unknown else {}
        for inode in unknown:
            self._looks[inode] = self._looks.get(inode, 0) + 1
            if inode in table:
                self.peers.add(table[inode])
                self.sockets += 1
                self._looks[inode] = _LOOKS

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(EVERY):
            self.sample()

    def _inodes(self) -> set[str]:
        found = set()
        for descriptor in _listed(self._descriptors):
            try:
                target = os.readlink(f"{self._descriptors}/{descriptor}")
            except OSError:  # closed meanwhile
                continue
            if target.startswith("socket:["):
                found.add(target[8:-1])
        return found


def _listed(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:  # the process has ended
        return []


def _peers() -> dict[str, int]:
    """Return the remote port by inode of each TCP socket of the machine that has a peer."""
    lines = (line.split() for table in ("tcp", "tcp6") for line in _table(table))
    return {cells[9]: port for cells in lines if (port := int(cells[2].rpartition(":")[2], 16))}


def _table(name: str) -> list[str]:
    try:
        return Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    except OSError:  # a kernel without IPv6
        return []
