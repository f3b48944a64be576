"""Packages of npm, each set once in the cache."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from kproxy.local_kafka import jars
from kproxy.local_kafka.processes import locked

KAFKAJS = "2.2.4"
KAFKA_NODE = "5.0.0"
PLAYWRIGHT = "1.65.1"
AXE = "4.14.1"
MISSING = (
    "{} needs node and npm on PATH: install them (Debian: apt-get install nodejs npm), "
    "or leave these tests out with `pytest -m 'not node'`"
)


def kafkajs() -> Path:
    """Return the directory of the kafkajs package. Fails with what to do where node is missing."""
    return installed(f"kafkajs@{KAFKAJS}") / "kafkajs"


def kafka_node() -> Path:
    """Return the directory of the kafka-node package, whose last release is of 2019."""
    return installed(f"kafka-node@{KAFKA_NODE}") / "kafka-node"


def browser_tools() -> Path:
    """Return the node_modules with playwright-core, which drives a browser, and axe-core, which judges its pages."""
    return installed(f"playwright-core@{PLAYWRIGHT}", f"axe-core@{AXE}")


def installed(*packages: str) -> Path:
    """Return the node_modules of packages as name@version. Fails with what to do where node is missing."""
    npm = shutil.which("npm")
    assert npm, MISSING.format(packages[0])
    assert shutil.which("node"), MISSING.format(packages[0])
    home = jars.cache() / re.sub("[^a-z0-9.+-]", "-", "+".join(packages))
    with locked(home):
        if not home.exists():
            _install(npm, home, packages)
    return home / "node_modules"


def _install(npm: str, home: Path, packages: tuple[str, ...]) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".npm-", dir=home.parent))
    try:
        command = [npm, "install", "--no-audit", "--no-fund", "--omit=optional", "--prefix", str(scratch), *packages]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        scratch.rename(home)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
