"""Commands, in this process and in one of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kproxy.cli import main

ROOT = Path(__file__).parents[3]


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, with no KPROXY_ variable but these."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KPROXY_")}
    command = [sys.executable, "-m", "kproxy", *arguments]
    return subprocess.run(command, env=clean | environ, capture_output=True, text=True, timeout=60, check=False)


def printed(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    code = main(arguments)
    return code, *capsys.readouterr()
