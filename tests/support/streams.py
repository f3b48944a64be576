"""An application of Kafka Streams: instances that count records by key, exactly once."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kproxy.local_kafka import java
from kproxy.local_kafka.broker import LOGGING
from kproxy.local_kafka.jars import Release, classpath, of_kafka
from kproxy.local_kafka.processes import kill_group, spawn
from tests.support.libraries import compiled

_RELEASE: Final = Release("streams-4.3.1", of_kafka("4.3.1", "kafka-streams"))
_SOURCE: Final = Path(__file__).parent / "clients" / "Counts.java"
SESSION: Final = 6
"""Seconds after which an instance that was killed is no member any more."""


@dataclass(frozen=True)
class Application:
    """What its instances have in common; `name` is that of its group."""

    bootstrap: str
    name: str
    source: str
    sink: str
    directory: Path
    protocol: str = "classic"
    """Its `group.protocol`; "streams" is that of KIP-1071."""

    @contextmanager
    def instance(self, name: str) -> Iterator[Instance]:
        """Run an instance, which is killed at the end."""
        file = self.directory / f"{name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in self._settings(name).items()))
        libraries = classpath(_RELEASE)
        path = f"{libraries}:{compiled(_SOURCE, self.directory, libraries)}"
        command = java.command(
            path, "Counts", str(file), self.source, self.sink, heap_mb=192, options=(*java.QUICK, LOGGING)
        )
        log = self.directory / f"{name}.log"
        process = spawn(command, log)
        try:
            yield Instance(process, log)
        finally:
            kill_group(process)

    def _settings(self, name: str) -> dict[str, str | int]:
        serde = "org.apache.kafka.common.serialization.Serdes$StringSerde"
        # With "streams" the broker decides on sessions, and refuses to be told.
        sessions = {"session.timeout.ms": SESSION * 1000, "heartbeat.interval.ms": 1000}
        return {
            **(sessions if self.protocol == "classic" else {}),
            "application.id": self.name,
            "bootstrap.servers": self.bootstrap,
            "client.id": name,
            "group.protocol": self.protocol,
            "processing.guarantee": "exactly_once_v2",
            "statestore.cache.max.bytes": 0,
            "commit.interval.ms": 100,
            "default.key.serde": serde,
            "default.value.serde": serde,
            "num.stream.threads": 1,
            "replication.factor": 1,
            "auto.offset.reset": "earliest",
            "state.dir": str(self.directory / f"{name}-state"),
        }


@dataclass(frozen=True)
class Instance:
    """A process of the application."""

    process: subprocess.Popen[bytes]
    log: Path

    def check(self) -> None:
        """It still runs."""
        assert self.process.poll() is None, self.log.read_text()[-3000:]

    def kill(self) -> None:
        """End it without a word to its group."""
        kill_group(self.process)
