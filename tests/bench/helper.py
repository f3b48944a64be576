"""A helper process of the bench: it reads commands as lines of JSON on standard input, and answers each with a line."""

from __future__ import annotations

import json
import subprocess
import sys

from .process import BenchError


class Helper:
    """One helper process, `python -m` its module; `what` names it in errors."""

    def __init__(self, what: str, module: str, *arguments: str) -> None:
        self._what = what
        command = [sys.executable, "-m", module, *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def command(self, **arguments: float | str) -> None:
        """Send a command, which the process begins at once."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, float]:
        """Wait for the answer to the command and return it; raises BenchError when the process ended instead."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise BenchError(f"the {self._what} ended; see above")
        answer: dict[str, float] = json.loads(line)
        return answer
