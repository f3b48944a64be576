"""Makes a class data archive (JEP 350) beside Kafka's jars: a JVM then starts with its classes parsed and verified.

A cluster's first start makes it, once for each set of jars and each Java; `java.command` uses it from then on. With it
a broker starts in half the processor time, and one of Kafka's tools in two thirds.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kproxy.local_kafka import java
from kproxy.local_kafka.broker import Broker
from kproxy.local_kafka.processes import ToolError, locked

_START_TIMEOUT: Final = 120.0
_END_TIMEOUT: Final = 120.0
"""A JVM writes the archive, some 50 MB, at its end."""
_ALONE: Final = {"log.cleaner.dedupe.buffer.size": 4 << 20, "log.cleaner.threads": 1}
_ANY_ID: Final = "kproxy-class-archive00"


def ensure(classpath: str, heap_mb: int, *, say: Callable[[str], None]) -> None:
    """Make the archive of a class path, after a line to `say`, unless it is there.

    Where a Java makes none, as one without an archive of its own classes, an empty file says so. JVMs start without
    it there, and where the jars' directory is not ours to write.
    """
    archive = java.class_archive(classpath)
    if archive is None or archive.exists() or not os.access(archive.parent, os.W_OK):
        return
    with locked(archive):
        if not archive.exists():
            say(f"writing Kafka's classes as Java starts with them into {archive}, once")
            _make(archive, classpath, heap_mb)


def _make(archive: Path, classpath: str, heap_mb: int) -> None:
    with tempfile.TemporaryDirectory(prefix=".classes-", dir=archive.parent) as scratch:
        written = Path(scratch) / "classes.jsa"
        broker = Broker(1, Path(scratch) / "broker")
        broker.write_properties(f"1@{broker.controller_address}", _ALONE)
        try:
            broker.start(classpath, heap_mb, (*java.QUICK, f"-XX:ArchiveClassesAtExit={written}"), _ANY_ID)
            broker.wait_ready(_START_TIMEOUT)
            broker.terminate(_END_TIMEOUT)
        except ToolError:
            written.unlink(missing_ok=True)  # the empty file says so
        finally:
            broker.kill()
        if not written.exists():
            written.touch()
        written.rename(archive)  # it appears complete or not at all
