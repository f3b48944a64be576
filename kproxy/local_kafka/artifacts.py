"""Names of jars, as Maven and Ivy both know them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kproxy.local_kafka.processes import ToolError


@dataclass(frozen=True, slots=True)
class Artifact:
    """One jar with what it needs at run time, less the modules (of its own group) in `without`."""

    group: str
    name: str
    version: str
    without: tuple[str, ...] = ()


def run_resolver(command: Sequence[str], directory: Path, timeout: float = 600) -> None:
    """Run a resolver in `directory`; afterwards the jars are in `directory/lib`.

    Raises:
        ToolError: it failed; the message has the last lines it said.
    """
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"{Path(command[0]).name}: not done within {timeout:.0f} s") from None
    if done.returncode or not any((directory / "lib").glob("*.jar")):
        said = " | ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
        raise ToolError(f"{Path(command[0]).name}: exit code {done.returncode}: {said}")
