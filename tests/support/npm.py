"""Packages of npm, each set once in the cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from kproxy.local_kafka import jars
from kproxy.local_kafka.processes import locked

KAFKAJS = "2.2.4"
KAFKA_NODE = "5.0.0"
NODE_RDKAFKA = ("2.14.6", "3.6.1")
"""With librdkafka 1.9.2 and 2.12.0, which the packages have as sources."""
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


def node_rdkafka(release: str) -> Path:
    """Return the directory of the node-rdkafka package in a release; npm compiles it, for four minutes."""
    return installed(f"node-rdkafka@{release}") / "node-rdkafka"


def browser_tools() -> Path:
    """Return the node_modules with playwright-core, which drives a browser, and axe-core, which judges its pages."""
    return installed(f"playwright-core@{PLAYWRIGHT}", f"axe-core@{AXE}")


def packed(package: str, directory: Path) -> Path:
    """Put the archive of a package, as name@version, into the directory; return its path."""
    npm = shutil.which("npm")
    assert npm, MISSING.format(package)
    command = [npm, "pack", "--silent", package]
    done = subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True, timeout=120)
    return directory / done.stdout.strip()


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
        subprocess.run(command, check=True, capture_output=True, timeout=900, env={**_headers(), **os.environ})
        scratch.rename(home)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


def _headers() -> dict[str, str]:
    """Return where node's headers are, if beside node: npm takes them from the network otherwise."""
    node = Path(shutil.which("node") or "").resolve().parents[1]
    return {"npm_config_nodedir": str(node)} if (node / "include" / "node" / "node.h").exists() else {}
