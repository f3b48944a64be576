"""What /proc shows of processes: their children, their memory, the peers of their sockets."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def family(pid: int) -> set[int]:
    """Return a process and all its descendants that are alive."""
    found = {pid}
    for thread in threads(pid):
        for child in _read(f"/proc/{pid}/task/{thread}/children").split():
            found |= family(int(child))
    return found


def threads(pid: int) -> list[int]:
    """Return the ids of a process' threads; none when it has ended."""
    return [int(name) for name in _listdir(f"/proc/{pid}/task")]


def thread_name(thread: int) -> str:
    """Return a thread's name in the kernel, 15 characters at most; empty when it has ended."""
    return _read(f"/proc/{thread}/comm").rstrip("\n")


def rss_bytes(pid: int) -> int:
    """Resident memory of one process."""
    return int(_read(f"/proc/{pid}/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_rss_bytes(pid: int) -> int:
    """The most memory that one process ever had resident."""
    found = next(line for line in _read(f"/proc/{pid}/status").splitlines() if line.startswith("VmHWM:"))
    return int(found.split()[1]) << 10


def cpu_seconds(pid: int) -> float:
    """CPU time that one process has spent, user and system, in the kernel's ticks of usually 10 ms."""
    cells = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(cells[11]) + int(cells[12])) / os.sysconf("SC_CLK_TCK")


def scheduled(thread: int) -> tuple[float, float]:
    """Return for how many seconds a thread has run, and for how many it was ready and had no processor.

    A process's id is that of its main thread. Both are 0 once it has ended. The kernel has them in nanoseconds
    (sched-stats.rst of Linux).
    """
    ran, waited, _ = (_read(f"/proc/{thread}/schedstat") or "0 0 0").split()
    return int(ran) / 1e9, int(waited) / 1e9


def family_cpu_seconds(pid: int) -> float:
    """Return `cpu_seconds` of a process and its descendants, and of those that have ended and were waited for.

    FileNotFoundError when the process itself is gone.
    """
    ticks = 0
    for member in family(pid):
        try:
            cells = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            if member == pid:
                raise
            continue  # it ended just now
        ticks += sum(int(cell) for cell in cells[11:15])  # utime, stime, cutime, cstime: proc_pid_stat(5)
    return ticks / os.sysconf("SC_CLK_TCK")


def open_files(pid: int) -> int:
    """How many descriptors the process has open."""
    return len(_listdir(f"/proc/{pid}/fd"))


def sockets(pids: Iterable[int]) -> set[str]:
    """The inodes of all sockets that the processes hold."""
    found = set()
    for pid in pids:
        for descriptor in _listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
            except OSError:
                continue
            if target.startswith("socket:["):
                found.add(target[8:-1])
    return found


def tcp_peers() -> dict[str, int]:
    """The remote port by inode, of every TCP socket of the machine that has a peer, IPv4 and IPv6.

    The kernel walks its whole hash table for it: about 10 ms.
    """
    peers = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in _read(table).splitlines()[1:]:
            cells = line.split()
            port = int(cells[2].rpartition(":")[2], 16)
            if port and cells[9] != "0":
                peers[cells[9]] = port
    return peers


def unix_sockets() -> set[str]:
    """The inodes of the machine's Unix sockets: what an event loop wakes itself with, for instance."""
    return {line.split()[6] for line in _read("/proc/net/unix").splitlines()[1:]}


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:  # the process ended meanwhile
        return ""


def _listdir(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
