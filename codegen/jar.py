"""The kafka-clients jars with the schemas: their versions and digests are pinned.

Only `codegen.extract`, and the tests' oracle, ask for them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kproxy.local_kafka.jars import Artifact, Release, classpath
from kproxy.local_kafka.processes import ToolError


@dataclass(frozen=True)
class ClientsJar:
    """One release of kafka-clients."""

    version: str
    sha256: str

    @property
    def artifact(self) -> Artifact:
        return Artifact("org.apache.kafka", "kafka-clients", self.version)

    def classpath(self) -> str:
        """Return the class path of the jar and its dependencies; fetch them when they are not in the cache."""
        return classpath(self._release, say=print)

    def path(self) -> Path:
        """Return the path of the jar.

        Raises:
            ToolError: it cannot be fetched, or its digest is not the pinned one.
        """
        self.classpath()
        jar = self._release.directory / f"kafka-clients-{self.version}.jar"
        digest = hashlib.sha256(jar.read_bytes()).hexdigest()
        if digest != self.sha256:
            raise ToolError(
                f"{jar}: sha256 is {digest}, pinned is {self.sha256}; remove it, or renew the pin in codegen/jar.py"
            )
        return jar

    @property
    def _release(self) -> Release:
        return Release(f"kafka-clients-{self.version}", (self.artifact,))


NEWEST: Final = ClientsJar("4.4.0", "1ab07317eb6633241392449d329dbdc5d9251e6ffc4926860f42dd966e88bdf9")
OLDER: Final = ClientsJar("3.9.2", "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8")
"""The last line of releases that knows every stable version before it: Kafka 4.0 removed the oldest (KIP-896)."""
