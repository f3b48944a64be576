"""A process of the bench that does what it is told: a line of JSON to its standard input, a line of JSON back."""

from __future__ import annotations

import json
import subprocess
import sys

from .process import BenchError


class Told:
    """One such process, `python -m` its module; `what` names it in errors."""

    def __init__(self, what: str, module: str, *arguments: str) -> None:
        self._what = what
        command = [sys.executable, "-m", module, *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()

    def tell(self, **command: float | str) -> None:
        """Have it begin."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, float]:
        """What it did; waits for it. BenchError when it ended instead."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise BenchError(f"the {self._what} ended; see above")
        answer: dict[str, float] = json.loads(line)
        return answer
