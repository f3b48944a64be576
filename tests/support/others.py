"""What others take of the machine's processors while something is timed that has its limit in seconds."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.support import proc

_TICK = os.sysconf("SC_CLK_TCK")
_MOST = 0.9
"""Of the processors: beyond that nothing can be timed, and a limit ten times as long has no meaning any more."""


class Others:
    """From its making on."""

    def __init__(self) -> None:
        self._begun, self._busy, self._own = time.monotonic(), _busy(), own_cpu_seconds()

    def slowed(self) -> float:
        """How many times longer what this process and its children do may have taken, up to now, because of others."""
        elapsed = (time.monotonic() - self._begun) * (os.cpu_count() or 1)
        share = (_busy() - self._busy - (own_cpu_seconds() - self._own)) / elapsed
        return 1 / (1 - min(max(share, 0.0), _MOST))


def own_cpu_seconds() -> float:
    """What this process and its descendants have used, with those that have ended and were waited for."""
    ticks = 0
    for pid in proc.family(os.getpid()):
        try:
            cells = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # ended just now
            continue
        ticks += sum(int(cell) for cell in cells[11:15])
    return ticks / _TICK


def _busy() -> float:
    """CPU seconds of all processes, and what the hypervisor gave to other machines."""
    cells = Path("/proc/stat").read_text().splitlines()[0].split()
    user, nice, system, steal = (int(cells[place]) for place in (1, 2, 3, 8))
    return (user + nice + system + steal) / _TICK
