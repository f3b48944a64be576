"""What a run of tests has left at its end: threads that would keep the process alive, and sockets that listen."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

_LISTENS: Final = "0A"
"""The state in /proc/net/tcp."""


def left() -> list[str]:
    """Return a name for each; empty where all was ended."""
    threads = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    names = [f"thread {thread.name}" for thread in threads if thread.is_alive() and not thread.daemon]
    return sorted(names + [f"port {port}" for port in _ports()])


def _ports() -> set[int]:
    own = _sockets()
    tables = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
    rows = [row.split() for table in tables if table.exists() for row in table.read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == _LISTENS and row[9] in own}


def _sockets() -> set[str]:
    """Return the inodes of this process' sockets."""
    found = set()
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:  # that of the listing itself
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found
