"""OpenSSL's own server, with the certificates of a test."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kproxy.local_kafka.ports import free_port
from tests.support.wait import until


@contextmanager
def server(chain: Path, key: Path, *flags: str) -> Iterator[int]:
    """`openssl s_server` with these files; its port."""
    port = free_port()
    command = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", str(chain), "-key", str(key), *flags]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            until(lambda: _listens(port), "openssl listens", timeout=10, every=0.02)
            yield port
        finally:
            process.kill()


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0
