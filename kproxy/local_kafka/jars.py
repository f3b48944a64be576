"""Fetches Kafka's jars in pinned versions, once, into a cache outside the repository.

A local cluster, one of Kafka's tools or `codegen --extract` asks for a class path before it starts a JVM.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kproxy.local_kafka import java
from kproxy.local_kafka.processes import ToolError, locked


@dataclass(frozen=True, slots=True)
class Artifact:
    """One jar with its run time dependencies, except the modules of its own group in `without`."""

    group: str
    name: str
    version: str
    without: tuple[str, ...] = ()


def run_resolver(command: Sequence[str], directory: Path, timeout: float = 600) -> None:
    """Run a resolver in `directory`; it puts the jars into `directory/lib`.

    Raises:
        ToolError: it failed; the message has its last lines.
    """
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"{Path(command[0]).name}: not done within {timeout:.0f} s") from None
    if done.returncode or not any((directory / "lib").glob("*.jar")):
        said = " | ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
        raise ToolError(f"{Path(command[0]).name}: exit code {done.returncode}: {said}")


_CARRIER = "pyspark==4.0.*"
_DOWNLOAD_SECONDS = 900
_RUNTIME = "default->runtime(*),master(*)"


def resolve_with_ivy(artifacts: Sequence[Artifact], directory: Path, cache: Path) -> None:
    """Put the artifacts and their run time dependencies into `directory/lib`.

    Raises:
        ToolError: there is no Java, pip cannot fetch Ivy, or Ivy failed.
    """
    (directory / "ivy.xml").write_text(_module(artifacts))
    arguments = ["-cache", str(cache / "ivy"), "-ivy", "ivy.xml", "-types", "jar", "bundle"]
    pattern = ["-retrieve", "lib/[artifact]-[revision](-[classifier]).[ext]"]
    run_resolver([java.find_java(), *java.trust_store(), "-jar", str(_jar(cache)), *arguments, *pattern], directory)


def _jar(cache: Path) -> Path:
    """Return the path of Ivy's jar: from an installed pyspark, or from one that pip downloads."""
    spark = importlib.util.find_spec("pyspark")
    installed = sorted(Path(spark.origin).parent.glob("jars/ivy-*.jar")) if spark and spark.origin else []
    kept = sorted((cache / "ivy-jar").glob("ivy-*.jar"))
    return (installed + kept or [_download(cache)])[0]


def _download(cache: Path) -> Path:
    (cache / "ivy-jar").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", scratch, _CARRIER]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_DOWNLOAD_SECONDS)
        except subprocess.TimeoutExpired:
            raise ToolError(f"pip download {_CARRIER}: not done within {_DOWNLOAD_SECONDS} s") from None
        if done.returncode:
            raise ToolError(f"pip download {_CARRIER}, which has Ivy inside: {done.stderr.strip()[-300:]}")
        return _extract(next(Path(scratch).iterdir()), Path(scratch) / "ivy.jar", cache / "ivy-jar")


def _extract(package: Path, scratch: Path, directory: Path) -> Path:
    with tarfile.open(package) as archive:
        for member in archive:
            name = Path(member.name).name
            content = archive.extractfile(member) if name.startswith("ivy-") and name.endswith(".jar") else None
            if content is not None:
                scratch.write_bytes(content.read())
                return scratch.rename(directory / name)
    raise ToolError(f"{package.name}: no Ivy inside")


def _module(artifacts: Sequence[Artifact]) -> str:
    dependencies = "".join(_ivy_dependency(artifact) for artifact in artifacts)
    return (
        '<ivy-module version="2.0"><info organisation="kproxy" module="tools"/><configurations><conf name="default"/>'
        f"</configurations><dependencies>{dependencies}</dependencies></ivy-module>"
    )


def _ivy_dependency(artifact: Artifact) -> str:
    exclusions = "".join(f'<exclude org="{artifact.group}" module="{name}"/>' for name in artifact.without)
    names = f'org="{artifact.group}" name="{artifact.name}" rev="{artifact.version}"'
    return f'<dependency {names} conf="{_RUNTIME}">{exclusions}</dependency>'


_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


def resolve_with_maven(artifacts: Sequence[Artifact], directory: Path, cache: Path) -> None:
    """Put the artifacts and their run time dependencies into `directory/lib`; Maven keeps its own cache.

    Raises:
        ToolError: there is no Maven, or it failed.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise ToolError("mvn: not on PATH")
    (directory / "pom.xml").write_text(_pom(artifacts))
    run_resolver([maven, "-B", "-q", _PLUGIN, "-DoutputDirectory=lib", "-DincludeScope=runtime"], directory)


def _pom(artifacts: Sequence[Artifact]) -> str:
    dependencies = "".join(_maven_dependency(artifact) for artifact in artifacts)
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>kproxy</groupId><artifactId>tools</artifactId>"
        f"<version>1</version><packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
    )


def _maven_dependency(artifact: Artifact) -> str:
    exclusions = "".join(
        f"<exclusion><groupId>{artifact.group}</groupId><artifactId>{name}</artifactId></exclusion>"
        for name in artifact.without
    )
    return (
        f"<dependency><groupId>{artifact.group}</groupId><artifactId>{artifact.name}</artifactId>"
        f"<version>{artifact.version}</version><exclusions>{exclusions}</exclusions></dependency>"
    )


_LOGGING: Final = Artifact("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4")


@dataclass(frozen=True, slots=True)
class Release:
    """A set of jars for one class path."""

    name: str
    artifacts: tuple[Artifact, ...]

    @property
    def directory(self) -> Path:
        """The directory of its jars, once they are fetched; each set of artifacts has its own."""
        digest = hashlib.sha256(repr(self.artifacts).encode()).hexdigest()[:8]
        return cache() / "jars" / f"{self.name}-{digest}"

    @property
    def version(self) -> str:
        """The version of its first artifact."""
        return self.artifacts[0].version


def of_kafka(version: str, *artifacts: str, without: tuple[str, ...] = ()) -> tuple[Artifact, ...]:
    """Return artifacts of Kafka, and the logging that is configured for all of them."""
    return (*(Artifact("org.apache.kafka", name, version, without) for name in artifacts), _LOGGING)


KAFKA_4_3: Final = Release("kafka-4.3.1", of_kafka("4.3.1", "kafka_2.13", "kafka-tools"))
# 4.4.0's kafka-tools-api is not available, and its server does not need it: run 4.3.1's tools against it.
KAFKA_4_4: Final = Release("kafka-4.4.0", of_kafka("4.4.0", "kafka_2.13", without=("kafka-tools-api",)))
# The last release line with brokers that serve Metadata v12 at most: without REBOOTSTRAP_REQUIRED (KIP-1102).
KAFKA_3_9: Final = Release("kafka-3.9.2", of_kafka("3.9.2", "kafka_2.13"))
# The first line that runs without ZooKeeper. Brokers before 3.9 do not start where `advertised.listeners` has those of
# controllers: take that line out of their settings.
KAFKA_2_8: Final = Release("kafka-2.8.2", of_kafka("2.8.2", "kafka_2.13"))
TOOLS_3_9: Final = Release("tools-3.9.2", of_kafka("3.9.2", "kafka-tools"))


def cache() -> Path:
    """Return the directory of everything that is fetched once: `KPROXY_TOOLS`, else one in the user's cache."""
    named = os.environ.get("KPROXY_TOOLS")
    return Path(named) if named else Path.home() / ".cache" / "kproxy-tools"


def classpath(release: Release, *, say: Callable[[str], None] = lambda line: None) -> str:
    """Return the Java class path of a release; fetch the jars, after a line to `say`, if the cache lacks them.

    Raises:
        ToolError: they cannot be fetched; the message has the resolvers' reasons.
    """
    directory = release.directory
    if not directory.exists():
        with locked(cache() / "jars"):  # one lock for all: two processes must not share the resolvers' own caches
            if not directory.exists():
                say(f"fetching the jars of {release.name} into {directory}, once")
                _fill(directory, release)
    # Kafka 3.9 has a logging binding of its own. The first one on the class path wins: ours, which is configured.
    return f"{directory}/{_LOGGING.name}-{_LOGGING.version}.jar:{directory}/*"


def _fill(directory: Path, release: Release) -> None:
    directory.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{release.name}-", dir=directory.parent))
    try:
        _resolve(release, scratch)
        (scratch / "lib").rename(directory)  # the directory appears complete or not at all
    finally:
        shutil.rmtree(scratch)


def _resolve(release: Release, scratch: Path) -> None:
    reasons = []
    for resolver in (resolve_with_maven, resolve_with_ivy):
        try:
            resolver(release.artifacts, scratch, cache())
        except ToolError as error:
            reasons.append(str(error))
        else:
            return
    raise ToolError(f"cannot fetch {release.name}: {'; '.join(reasons)}")
