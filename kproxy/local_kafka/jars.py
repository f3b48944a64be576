"""Kafka's jars in pinned versions, resolved once into a cache outside the repository."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kproxy.local_kafka import ivy, maven
from kproxy.local_kafka.artifacts import Artifact
from kproxy.local_kafka.processes import ToolError

_LOGGING: Final = Artifact("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4")


@dataclass(frozen=True, slots=True)
class Release:
    """A set of jars that goes onto one class path."""

    name: str
    artifacts: tuple[Artifact, ...]

    @property
    def directory(self) -> Path:
        """Where its jars are, or will be: another set of artifacts is another directory."""
        digest = hashlib.sha256(repr(self.artifacts).encode()).hexdigest()[:8]
        return cache() / "jars" / f"{self.name}-{digest}"

    @property
    def version(self) -> str:
        """The version of its first artifact."""
        return self.artifacts[0].version


def _kafka(version: str, *artifacts: str, without: tuple[str, ...] = ()) -> tuple[Artifact, ...]:
    return (*(Artifact("org.apache.kafka", name, version, without) for name in artifacts), _LOGGING)


KAFKA_4_3: Final = Release("kafka-4.3.1", _kafka("4.3.1", "kafka_2.13", "kafka-tools"))
# 4.4.0's kafka-tools-api cannot be had, and its server does not need it: run 4.3.1's tools against it.
KAFKA_4_4: Final = Release("kafka-4.4.0", _kafka("4.4.0", "kafka_2.13", without=("kafka-tools-api",)))
# The last line whose brokers serve Metadata v12 at most: without REBOOTSTRAP_REQUIRED (KIP-1102).
KAFKA_3_9: Final = Release("kafka-3.9.2", _kafka("3.9.2", "kafka_2.13"))
TOOLS_3_9: Final = Release("tools-3.9.2", _kafka("3.9.2", "kafka-tools"))


def cache() -> Path:
    """The directory of everything that is fetched once: `KPROXY_TOOLS`, else under the user's cache."""
    named = os.environ.get("KPROXY_TOOLS")
    return Path(named) if named else Path.home() / ".cache" / "kproxy-tools"


def classpath(release: Release, *, say: Callable[[str], None] = lambda line: None) -> str:
    """The Java class path of a release, fetched when it is not in the cache yet; `say` hears what takes long.

    Raises:
        ToolError: it cannot be fetched; the message has the resolvers' reasons.
    """
    directory = release.directory
    if not directory.exists():
        with locked(cache() / "jars"):  # one for all: the resolvers' own caches are not made for two
            if not directory.exists():
                say(f"fetching the jars of {release.name} into {directory}, once")
                _fill(directory, release)
    # Kafka 3.9 brings a binding of its own, and the first one on the class path wins: ours, which is configured.
    return f"{directory}/{_LOGGING.name}-{_LOGGING.version}.jar:{directory}/*"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock beside `path`: one process fetches, the others wait for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fill(directory: Path, release: Release) -> None:
    directory.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{release.name}-", dir=directory.parent))
    try:
        _resolve(release, scratch)
        (scratch / "lib").rename(directory)  # whole or not at all
    finally:
        shutil.rmtree(scratch)


def _resolve(release: Release, scratch: Path) -> None:
    reasons = []
    for resolver in (maven.resolve, ivy.resolve):
        try:
            resolver(release.artifacts, scratch, cache())
        except ToolError as error:
            reasons.append(str(error))
        else:
            return
    raise ToolError(f"cannot fetch {release.name}: {'; '.join(reasons)}")
