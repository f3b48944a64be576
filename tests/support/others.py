"""The processor time that other processes take while something with a limit in seconds is timed."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.support.proc import family_cpu_seconds

_TICK = os.sysconf("SC_CLK_TCK")
_MOST = 2.0
"""The most that a limit is stretched: beyond it, it has no meaning any more."""


class Others:
    """The other processes since this object was made."""

    def __init__(self) -> None:
        self._begun, self._busy, self._own = time.monotonic(), _busy(), family_cpu_seconds(os.getpid())

    def slowed(self) -> float:
        """Return how many times longer this process and its children may have taken, up to now, because of others."""
        elapsed = (time.monotonic() - self._begun) * (os.cpu_count() or 1)
        share = (_busy() - self._busy - (family_cpu_seconds(os.getpid()) - self._own)) / elapsed
        return 1 / (1 - min(max(share, 0.0), 1 - 1 / _MOST))


def _busy() -> float:
    """Return the CPU seconds of all processes, and what the hypervisor gave to other machines."""
    cells = Path("/proc/stat").read_text().splitlines()[0].split()
    user, nice, system, steal = (int(cells[place]) for place in (1, 2, 3, 8))
    return (user + nice + system + steal) / _TICK
