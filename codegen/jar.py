"""The kafka-clients jar with the schemas: its version and digest are pinned.

Only `codegen.extract` asks for it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from kproxy.local_kafka.jars import Artifact, Release, classpath
from kproxy.local_kafka.processes import ToolError

VERSION: Final = "4.4.0"
SHA256: Final = "1ab07317eb6633241392449d329dbdc5d9251e6ffc4926860f42dd966e88bdf9"
KAFKA_CLIENTS: Final = Artifact("org.apache.kafka", "kafka-clients", VERSION)
RELEASE: Final = Release(f"kafka-clients-{VERSION}", (KAFKA_CLIENTS,))


def kafka_clients_classpath() -> str:
    """Return the class path of the jar and its dependencies; fetch them when they are not in the cache."""
    return classpath(RELEASE, say=print)


def kafka_clients() -> Path:
    """Return the path of the jar.

    Raises:
        ToolError: it cannot be fetched, or its digest is not the pinned one.
    """
    kafka_clients_classpath()
    jar = RELEASE.directory / f"kafka-clients-{VERSION}.jar"
    digest = hashlib.sha256(jar.read_bytes()).hexdigest()
    if digest != SHA256:
        raise ToolError(f"{jar}: sha256 is {digest}, pinned is {SHA256}; remove it, or renew the pin in codegen/jar.py")
    return jar
