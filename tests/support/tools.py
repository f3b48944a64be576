"""Tools that are not Python packages, installed by the project's own script; a missing one fails the test in a line."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / "deploy" / "tools" / "install"
# Building helm and kube-apiserver takes minutes, once.
INSTALL_TIMEOUT = 1800.0


def directory() -> Path:
    """Return the directory into which the script puts tools."""
    return Path(os.environ.get("KPROXY_TOOLS") or Path.home() / ".cache" / "kproxy-tools")


@functools.cache
def ensure(tool: str) -> str:
    """Install `tool` unless it is there; return its executable's path, which need not exist for a group of packages."""
    done = subprocess.run([INSTALL, tool], capture_output=True, text=True, check=False, timeout=INSTALL_TIMEOUT)
    assert done.returncode == 0, f"{tool} cannot be had: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
    return str(directory() / "bin" / tool)


def run(
    *command: str | Path, timeout: float = 120, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, from the repository's root; return its outputs as text."""
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    )


def output(*command: str | Path, timeout: float = 120, env: Mapping[str, str] | None = None) -> str:
    """Return the standard output of a command that must succeed."""
    done = run(*command, timeout=timeout, env=env)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout
