"""Python packages in other versions than those of the tests: each in a venv of its own, in the cache, once."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kproxy.local_kafka import jars
from kproxy.local_kafka.processes import locked


def python_with(package: str, version: str) -> str:
    """Return the interpreter of a venv with this version of the package; AssertionError with pip's reason otherwise."""
    home = jars.cache() / "venvs" / f"{package}-{version}-py{sys.version_info[0]}{sys.version_info[1]}"
    with locked(home):
        if not home.exists():
            _install(f"{package}=={version}", home)
    return str(home / "bin" / "python")


def _install(requirement: str, home: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".venv-", dir=home.parent))
    try:
        subprocess.run([sys.executable, "-m", "venv", str(scratch)], check=True, capture_output=True, timeout=120)
        command = [str(scratch / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"pip install {requirement}: {done.stderr[-500:]}"
        scratch.rename(home)  # whole or not at all; only scripts, which are never called, know the former name
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
