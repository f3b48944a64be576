"""A network namespace with nothing but a loopback interface: a process in it reaches what the test lets it reach.

It needs no root, and nothing of it is left when the test process has ended.
"""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kproxy.local_kafka.processes import kill_group, spawn

HOST: Final = "127.0.0.1"
_INSIDE: Final = str(Path(__file__).with_name("namespace_inside.py"))
_SECONDS: Final = 20.0


class Namespace:
    """`listeners` are sockets that listen inside, by port; `command` begins a command that is to run inside."""

    def __init__(self, ports: Sequence[int], log: Path) -> None:
        """Make it; call this from the main thread. `log` gets what goes wrong inside."""
        self._lock = threading.Lock()
        directory = Path(tempfile.mkdtemp(prefix="kproxy-ns-"))  # a socket's path must be short
        try:
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(directory / "s"))
                listener.listen(1)
                listener.settimeout(_SECONDS)
                inside = [sys.executable, "-I", "-S", _INSIDE, str(directory / "s"), *map(str, ports)]
                self._process = spawn(["unshare", "--user", "--map-root-user", "--net", *inside], log)
                self._channel = self._joined(listener, log)
        finally:
            shutil.rmtree(directory)
        self._channel.settimeout(_SECONDS)
        _, found, _, _ = socket.recv_fds(self._channel, 1, len(ports))
        self.listeners = {port: socket.socket(fileno=number) for port, number in zip(ports, found, strict=True)}
        target = ("--target", str(self._process.pid))
        self.command = ("nsenter", *target, "--user", "--net", "--preserve-credentials")

    def _joined(self, listener: socket.socket, log: Path) -> socket.socket:
        try:
            return listener.accept()[0]
        except TimeoutError:
            kill_group(self._process)
            raise AssertionError(f"no network namespace: {log.read_text()}") from None

    def connect(self, port: int, timeout: float) -> socket.socket:
        """Connect to a port inside; raises OSError."""
        with self._lock:
            self._channel.sendall(b"s")
            _, (number,), _, _ = socket.recv_fds(self._channel, 1, 1)
        made = socket.socket(fileno=number)
        try:
            made.settimeout(timeout)
            made.connect((HOST, port))
        except BaseException:
            made.close()
            raise
        return made

    def close(self) -> None:
        """End it; processes inside must have ended."""
        for listener in self.listeners.values():
            listener.close()
        self._channel.close()
        kill_group(self._process)
