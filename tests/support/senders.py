"""The producers that send in rounds, each library in a version: the commands of their programs, and their settings.

Settings are the library's defaults, except idempotence where that is off, and a delivery that is given up in less
than a minute.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kproxy.local_kafka import jars, java
from kproxy.local_kafka.broker import LOGGING
from tests.support import golang, npm, venvs
from tests.support.client import java_3_9, java_4_3
from tests.support.libraries import compiled

_SCRIPTS = Path(__file__).with_name("clients")
_SOURCE = _SCRIPTS / "Rounds.java"


@dataclass(frozen=True, slots=True, eq=False)
class Sender:
    """A library in a version; `settings`, by Kafka's names, are those that differ from its defaults."""

    library: str
    version: str
    starts: Callable[[str, Path], list[str]]
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Its name, with which the values of its records begin."""
        return f"{self.library}-{self.version}".replace(".", "-").lower()

    @property
    def who(self) -> tuple[str, str]:
        """The library and its version."""
        return self.library, self.version

    def command(self, bootstrap: str, producers: int, mode: str, directory: Path) -> list[str]:
        """Return the command line of a process with so many producers; its files go into `directory`."""
        settings = {"bootstrap.servers": bootstrap, **self.settings}
        start: dict[str, Any] = {"name": self.label, "producers": producers, "mode": mode, "settings": settings}
        return self.starts(json.dumps(start), directory)


def _java(path: Callable[[], str]) -> Callable[[str, Path], list[str]]:
    def command(start: str, directory: Path) -> list[str]:
        classes = compiled(_SOURCE, directory)
        return java.command(f"{path()}:{classes}", "Rounds", start, options=(*java.QUICK, LOGGING))

    return command


def _script(client: str, python: Callable[[], str]) -> Callable[[str, Path], list[str]]:
    return lambda start, _: [python(), str(_SCRIPTS / f"rounds_{client}.py"), start]


def _librdkafka(release: str) -> Sender:
    """Return `release` of confluent-kafka, whose wheel has the librdkafka of the same number, up to the last digit."""
    return Sender(
        "confluent-kafka",
        release,
        _script("confluent_kafka", lambda: venvs.python_with("confluent-kafka", release)),
        {"enable.idempotence": True},
    )


def _go(scenario: str) -> Callable[[str, Path], list[str]]:
    return lambda start, _: [str(golang.franz_go()), scenario, start]


def _kafkajs(start: str, _directory: Path) -> list[str]:
    package = npm.kafkajs()
    return [shutil.which("node") or "node", str(_SCRIPTS / "rounds_kafkajs.js"), str(package), start]


def _own_python() -> str:
    return sys.executable


def java_sender(release: str, classpath: Callable[[], str]) -> Sender:
    """Return a release of Java's, with its class path."""
    return Sender("java", release, _java(classpath))


JAVA_4_3 = java_sender(jars.KAFKA_4_3.version, java_4_3)
JAVA_3_9 = java_sender(jars.TOOLS_3_9.version, java_3_9)
LIBRDKAFKA_2_16 = _librdkafka("2.16.1")
LIBRDKAFKA_2_11 = _librdkafka("2.11.1")

KAFKA_PYTHON = Sender("kafka-python", version("kafka-python"), _script("kafka_python", _own_python))
AIOKAFKA = Sender(
    "aiokafka",
    version("aiokafka"),
    _script("aiokafka", _own_python),
    # A record is given up after the time for a request: 40 s otherwise.
    {"enable.idempotence": True, "request.timeout.ms": 60_000},
)
FRANZ_GO = Sender("franz-go", golang.franz_go_version(), _go("rounds-franz-go"))
SARAMA = Sender(
    "sarama",
    golang.sarama_version(),
    _go("rounds-sarama"),
    # It tries again every 100 ms: 60 s in all, not the default's 0.3 s.
    {"enable.idempotence": True, "retries": 600},
)
KAFKAJS = Sender("kafkajs", npm.KAFKAJS, _kafkajs)

EVERY_SENDER = (JAVA_4_3, JAVA_3_9, LIBRDKAFKA_2_16, LIBRDKAFKA_2_11, KAFKA_PYTHON, AIOKAFKA, FRANZ_GO, SARAMA, KAFKAJS)
