"""kafkajs, from npm into the cache, once."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from kproxy.local_kafka import jars

KAFKAJS = "2.2.4"
MISSING = (
    "kafkajs needs node and npm on PATH: install them (Debian: apt-get install nodejs npm), "
    "or leave these tests out with `pytest -m 'not node'`"
)


def kafkajs() -> Path:
    """Return the directory of the kafkajs package. Fails with what to do where node is missing."""
    npm = shutil.which("npm")
    assert npm, MISSING
    assert shutil.which("node"), MISSING
    home = jars.cache() / f"kafkajs-{KAFKAJS}"
    with jars.locked(home):
        if not home.exists():
            _install(npm, home)
    return home / "node_modules" / "kafkajs"


def _install(npm: str, home: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".npm-", dir=home.parent))
    try:
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(scratch), f"kafkajs@{KAFKAJS}"]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        scratch.rename(home)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
