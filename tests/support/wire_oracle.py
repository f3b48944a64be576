"""kafka-clients itself as the reference for messages: a long-lived Java process a release, asked line by line."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from codegen.extraction import load
from codegen.jar import NEWEST, OLDER, ClientsJar
from kproxy.local_kafka import java
from kproxy.local_kafka.jars import Artifact, Release, classpath

_JSON = Artifact("com.fasterxml.jackson.core", "jackson-databind", "2.19.2")  # kafka-clients leaves this to its user
SCHEMAS = load()
_SOURCE = Path(__file__).parent.parent / "clients" / "oracle" / "WireOracle.java"


class Opinion(NamedTuple):
    """What kafka-clients made of bytes: the same message written again, and its content."""

    encoded: bytes
    content: dict[str, Any]


class WireOracle:
    """Asks the process; raises `ValueError` with kafka-clients' reason for what it refuses."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def check(self, name: str, version: int, encoded: bytes) -> Opinion:
        """Parse a body."""
        again, _, content = self._ask(f"check {name} {version} {encoded.hex()}").partition(" ")
        return Opinion(bytes.fromhex(again), json.loads(content))

    def build(self, name: str, version: int, content: dict[str, Any]) -> bytes:
        """Return a body with this content; names and forms are those of Kafka's JSON converters."""
        return bytes.fromhex(self._ask(f"build {name} {version} {json.dumps(content)}"))

    def versions(self, name: str) -> tuple[int, int]:
        """Return the lowest and the highest version of a message."""
        low, _, high = self._ask(f"versions {name}").partition(" ")
        return int(low), int(high)

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        outcome, _, rest = self._process.stdout.readline().rstrip("\n").partition(" ")
        if outcome != "ok":
            raise ValueError(rest or "the oracle's Java process ended")
        return rest


class WireOracles(NamedTuple):
    """Both releases that the schemas are from: each is asked about the versions that are its own."""

    newest: WireOracle
    older: WireOracle

    def check(self, name: str, version: int, encoded: bytes) -> Opinion:
        """Parse a body."""
        return self._of(name, version).check(name, version, encoded)

    def build(self, name: str, version: int, content: dict[str, Any]) -> bytes:
        """Return a body with this content."""
        return self._of(name, version).build(name, version, content)

    def _of(self, name: str, version: int) -> WireOracle:
        return self.older if version < SCHEMAS.messages[name].newest_from else self.newest


@contextmanager
def wire_oracles(scratch: Path) -> Iterator[WireOracles]:
    """Both processes."""
    with wire_oracle(scratch / "newest") as newest, wire_oracle(scratch / "older", OLDER) as older:
        yield WireOracles(newest, older)


@contextmanager
def wire_oracle(scratch: Path, jar: ClientsJar = NEWEST) -> Iterator[WireOracle]:
    """The process of one release, compiled in `scratch` first; it ends with the block."""
    scratch.mkdir(exist_ok=True)
    path = classpath(Release(f"wire-oracle-{jar.version}", (jar.artifact, _JSON)), say=print)
    command = [java.find_java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]
    if compiler := shutil.which("javac"):
        done = subprocess.run(
            [compiler, "-cp", path, "-d", str(scratch), str(_SOURCE)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        command += [f"{path}:{scratch}", "WireOracle"]
    else:  # a JRE compiles a single source file itself, if it has the module for that
        command += [path, str(_SOURCE)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        try:
            yield WireOracle(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=20)
