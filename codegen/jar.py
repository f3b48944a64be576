"""The kafka-clients jar that the schemas come from: version and digest pinned."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from kproxy.local_kafka.jars import Artifact, Release, classpath
from kproxy.local_kafka.processes import ToolError

VERSION: Final = "4.4.0"
SHA256: Final = "1ab07317eb6633241392449d329dbdc5d9251e6ffc4926860f42dd966e88bdf9"
KAFKA_CLIENTS: Final = Artifact("org.apache.kafka", "kafka-clients", VERSION)


def kafka_clients() -> Path:
    """The jar, fetched into the cache of tools when it is not there.

    Raises:
        ToolError: it cannot be fetched, or is not the one that is pinned.
    """
    directory = Path(classpath(Release(f"kafka-clients-{VERSION}", (KAFKA_CLIENTS,)), say=print)).parent
    jar = directory / f"kafka-clients-{VERSION}.jar"
    digest = hashlib.sha256(jar.read_bytes()).hexdigest()
    if digest != SHA256:
        raise ToolError(f"{jar}: sha256 is {digest}, pinned is {SHA256}; remove it, or renew the pin in codegen/jar.py")
    return jar
