"""The client libraries that are followed across a switch, each in one version, with its settings beyond defaults."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from kproxy.local_kafka import jars, java
from tests.support import golang, venvs
from tests.support.client import java_3_9, java_4_3, java_4_4

Kind = Literal["producer", "consumer", "share", "admin", "fresh-admin"]
_SCRIPTS = Path(__file__).with_name("clients")
_SOURCE = _SCRIPTS / "LongLived.java"
_LOGGING = f"-Dlog4j2.configurationFile={_SCRIPTS / 'log4j2.xml'}"


NOTIFIED = 5.0
"""Seconds for a client that can get 129 (KIP-1102), or that is served at the nodes it knows."""

ALONE = 15.0
"""Seconds for a client that bootstraps by itself (KIP-899), where its settings let it: see `JAVA_3_9_QUICK`."""


@dataclass(frozen=True, slots=True)
class Role:
    """One client: its work, bootstrap servers and topic; its records' values begin with `name`."""

    kind: Kind
    bootstrap: str
    topic: str
    name: str

    def settings(self, own: Mapping[str, object]) -> dict[str, object]:
        """Return the client's configuration: what every client needs, and the library's `own` settings."""
        settings: dict[str, object] = {"bootstrap.servers": self.bootstrap, "client.id": self.name}
        if self.kind in ("consumer", "share"):
            settings |= {"group.id": f"{self.name}-of-{self.topic}"}
        if self.kind == "consumer":
            settings |= {"auto.offset.reset": "earliest"}
        if self.kind == "producer":
            settings |= {"acks": "all"}
        return {**settings, **own}


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """A library in a version. `settings` are those that differ from its defaults, by the kind of role.

    `alone`: the seconds in which it goes on at other node ids when retired nodes refuse; None if it never may.
    """

    name: str
    version: str
    starts: Callable[[Mapping[str, Role], Path, Library], list[str]]
    alone: float | None = NOTIFIED
    note: str = ""
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Its name as a DNS label."""
        return "-".join((self.name, self.version, *self.note.split())).replace(".", "-").lower()

    def command(self, roles: Mapping[str, Role], directory: Path) -> list[str]:
        """Return the command line of a process with these roles; its files go into `directory`."""
        return self.starts(roles, directory, self)

    def settings_of(self, role: Role) -> dict[str, object]:
        """Return the whole configuration of a role."""
        return role.settings({**self.settings.get("all", {}), **self.settings.get(role.kind, {})})


def _script(client: str, python: Callable[[], str]) -> Callable[[Mapping[str, Role], Path, Library], list[str]]:
    def command(roles: Mapping[str, Role], _directory: Path, library: Library) -> list[str]:
        spoken = {who: _spoken(role, library) for who, role in roles.items()}
        return [python(), str(_SCRIPTS / f"long_lived_{client}.py"), json.dumps(spoken)]

    return command


def _spoken(role: Role, library: Library) -> dict[str, Any]:
    return {"kind": role.kind, "topic": role.topic, "name": role.name, "settings": library.settings_of(role)}


def _franz_go(roles: Mapping[str, Role], _directory: Path, library: Library) -> list[str]:
    spoken = {who: _spoken(role, library) for who, role in roles.items()}
    return [str(golang.franz_go()), "long-lived", json.dumps(spoken)]


def _java(path: Callable[[], str]) -> Callable[[Mapping[str, Role], Path, Library], list[str]]:
    def command(roles: Mapping[str, Role], directory: Path, library: Library) -> list[str]:
        arguments = []
        for who, role in roles.items():
            properties = directory / f"{library.label}-{who}.properties"
            own = {"kind": role.kind, "topic": role.topic, "name": role.name}
            lines = {**own, **library.settings_of(role)}
            properties.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
            arguments.append(f"{who}={properties}")
        classes = compiled(_SOURCE, directory)
        return java.command(f"{path()}:{classes}", "LongLived", *arguments, options=(*java.QUICK, _LOGGING))

    return command


def compiled(source: Path, directory: Path, classpath: str | None = None) -> Path:
    """Compile a Java program; return the directory of the classes.

    By default it is compiled with the oldest client, so that it runs with all.
    """
    classes = directory / "classes"
    if not classes.exists():
        compiler = shutil.which("javac")
        assert compiler, "no javac on PATH: install a JDK 17 or newer (Debian: apt-get install openjdk-17-jdk-headless)"
        command = [compiler, "-cp", classpath or java_3_9(), "-d", str(classes), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
    return classes


def _own_python() -> str:
    return sys.executable


def _librdkafka(release: str) -> Library:
    """Return `release` of confluent-kafka, whose wheel has the librdkafka of the same number, up to the last digit."""
    return Library(
        "confluent-kafka", release, _script("confluent_kafka", lambda: venvs.python_with("confluent-kafka", release))
    )


_REBOOTSTRAP = {"metadata.recovery.strategy": "rebootstrap"}
# KIP-899 acts when metadata is wanted while every known node is in its reconnect backoff, of 1 s at most. With the
# default backoff between two attempts at metadata, 1 s too, a producer of 3.9 tries one node a second: with three nodes
# one is always over its backoff, and only luck makes it rebootstrap: after 4 to 29 s, closed ports or not.
_QUICK = {**_REBOOTSTRAP, "retry.backoff.max.ms": 200}

JAVA_4_4 = Library("java", jars.KAFKA_4_4.version, _java(java_4_4))
JAVA_4_3 = Library("java", jars.KAFKA_4_3.version, _java(java_4_3))
JAVA_3_9 = Library(
    "java", jars.TOOLS_3_9.version, _java(java_3_9), alone=None, note="rebootstrap", settings={"all": _REBOOTSTRAP}
)
JAVA_3_9_QUICK = Library(
    "java", jars.TOOLS_3_9.version, _java(java_3_9), alone=ALONE, note="quick", settings={"all": _QUICK}
)
JAVA_3_9_DEFAULT = Library("java", jars.TOOLS_3_9.version, _java(java_3_9), alone=None)
LIBRDKAFKA_2_16 = _librdkafka("2.16.1")
LIBRDKAFKA_2_15 = _librdkafka("2.15.0")
LIBRDKAFKA_2_11 = _librdkafka("2.11.1")
CONFLUENT_KAFKA = Library(
    "confluent-kafka", version("confluent-kafka"), _script("confluent_kafka", _own_python), note="own"
)
"""The one that is installed with the tests: it needs no environment of its own."""
KAFKA_PYTHON = Library("kafka-python", version("kafka-python"), _script("kafka_python", _own_python))
AIOKAFKA = Library("aiokafka", version("aiokafka"), _script("aiokafka", _own_python), alone=None)
FRANZ_GO = Library("franz-go", golang.franz_go_version(), _franz_go)
# Where kproxy hides no topic ids, another cluster has other ids: franz-go takes its topics for unknown ones of the same
# name, and all records fail for good, unless the application makes it purge the topic.
FRANZ_GO_PURGE = Library(
    "franz-go", golang.franz_go_version(), _franz_go, note="purge", settings={"all": {"UNKNOWN_TOPIC_ID": "purge"}}
)

EVERY_LIBRARY = (
    JAVA_4_4,
    JAVA_4_3,
    JAVA_3_9,
    JAVA_3_9_DEFAULT,
    LIBRDKAFKA_2_16,
    LIBRDKAFKA_2_15,
    LIBRDKAFKA_2_11,
    KAFKA_PYTHON,
    AIOKAFKA,
    FRANZ_GO,
)
"""Libraries that go on at another cluster, as producer and as consumer."""
