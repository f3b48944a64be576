"""A check of the socket table: which ports a client's processes were ever connected to."""

from __future__ import annotations

from tests.support.beside import Beside
from tests.support.proc import family, sockets, tcp_peers, unix_sockets

EVERY = 0.003
_FAMILY_EVERY = 20
_LOOKS = 400
"""How often an inode is looked up: a socket exists before it connects, and some never have a TCP peer."""


class SocketWatch(Beside):
    """Samples the sockets of a process and its children, every few milliseconds, in a thread.

    A sample lists the process's descriptors; only new ones are looked up in the machine's socket table.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(f"sockets of {pid}")
        self.pid = pid
        self.ports: set[int] = set()
        self.samples = 0
        self._pids = {pid}
        self._looks: dict[str, int] = {}

    def sample(self) -> None:
        """Take one sample."""
        if self.samples % _FAMILY_EVERY == 0:
            self._pids = family(self.pid)
        self.samples += 1
        unknown = [inode for inode in sockets(self._pids) if self._looks.get(inode, 0) < _LOOKS]
        if unknown:
            self._look_up(unknown)

    def _look_up(self, inodes: list[str]) -> None:
        peers, unix = tcp_peers(), unix_sockets()
        for inode in inodes:
            if inode in peers:
                self.ports.add(peers[inode])
            if inode in peers or inode in unix:
                self._looks[inode] = _LOOKS
            else:
                self._looks[inode] = self._looks.get(inode, 0) + 1

    def _run(self) -> None:
        while not self._done.wait(EVERY):
            self.sample()
