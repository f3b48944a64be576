"""Python packages in other versions than those of the tests: each in a venv of its own, in the cache, once."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kproxy.local_kafka import jars
from kproxy.local_kafka.processes import locked


def python_with(package: str, version: str, *beside: str) -> str:
    """Return the interpreter of a venv with this version of the package; AssertionError with pip's reason otherwise.

    What is `beside` are requirements as name==version, for a package that does not say which it can do with.
    """
    name = "+".join([f"{package}-{version}", *(one.replace("==", "-") for one in beside)])
    home = jars.cache() / "venvs" / f"{name}-py{sys.version_info[0]}{sys.version_info[1]}"
    with locked(home):
        if not home.exists():
            _install([f"{package}=={version}", *beside], home)
    return str(home / "bin" / "python")


def _install(requirements: Sequence[str], home: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".venv-", dir=home.parent))
    try:
        subprocess.run([sys.executable, "-m", "venv", str(scratch)], check=True, capture_output=True, timeout=120)
        command = [str(scratch / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        done = subprocess.run([*command, *requirements], capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"pip install {' '.join(requirements)}: {done.stderr[-500:]}"
        scratch.rename(home)  # whole or not at all; only scripts, which are never called, know the former name
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
