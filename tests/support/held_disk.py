"""A disk that a test holds: the commits of a process' SQLite file wait where the test says."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.wait import until

_SOURCE: Final = Path(__file__).with_suffix(".c")


@dataclass(frozen=True)
class HeldDisk:
    """The disk of one process; files that steer it are in the directory."""

    directory: Path

    def program(self, program: str) -> list[str]:
        """Return the command that runs a program on this disk."""
        library = self.directory / "held_disk.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, _SOURCE, "-ldl"], check=True, timeout=60)
        return ["env", f"LD_PRELOAD={library}", f"TEST_DISK={self.directory}", program]

    def let_pass(self, more: int) -> None:
        """Let so many commits more come to the disk; the next one waits. The process must be running."""
        beside = self.directory / "limit.new"
        beside.write_text(str(self.commits + more))
        beside.rename(self.directory / "limit")

    def fill(self) -> None:
        """Leave no space for further commits."""
        (self.directory / "full").touch()

    def wait_held(self) -> None:
        """Wait until a commit waits."""
        until((self.directory / "held").exists, "a commit waits", every=0.002)

    def let_all_pass(self) -> None:
        """Let commits come to the disk as ever, and count from 0: for the next process."""
        for name in ("limit", "held", "commits", "full"):
            (self.directory / name).unlink(missing_ok=True)

    @property
    def commits(self) -> int:
        """How many commits there were since the process began."""
        file = self.directory / "commits"
        return file.stat().st_size if file.exists() else 0
