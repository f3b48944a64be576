"""The client libraries of the table: their names, versions, and the commands of their drivers."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kproxy.local_kafka import jars, java
from kproxy.local_kafka.broker import LOGGING
from tests.support import golang, npm
from tests.support.client import java_3_9, java_4_4
from tests.support.libraries import compiled

_SCRIPTS = Path(__file__).parents[1] / "support" / "clients"
Order = Mapping[str, Any]
"""What conformance.py says of the command line's JSON."""


@dataclass(frozen=True, slots=True)
class Client:
    """A library: its `name` for `--only`, its `label` in the table, and the command of its driver."""

    name: str
    label: str
    version: Callable[[], str]
    command: Callable[[Order, Path], list[str]]


def _python(name: str, label: str | None = None) -> Client:
    script = str(_SCRIPTS / f"conformance_{name.replace('-', '_')}.py")
    return Client(
        name, label or name, lambda: version(name), lambda order, _: [sys.executable, script, json.dumps(order)]
    )


def _java(name: str, label: str, release: jars.Release, classpath: Callable[[], str]) -> Client:
    def command(order: Order, directory: Path) -> list[str]:
        classes = compiled(_SCRIPTS / "Conformance.java", directory)
        path = f"{classpath()}:{classes}"
        return java.command(path, "Conformance", json.dumps(order), heap_mb=256, options=(*java.QUICK, LOGGING))

    return Client(name, label, lambda: release.version, command)


def _kafkajs(order: Order, _directory: Path) -> list[str]:
    node = shutil.which("node")
    assert node, npm.MISSING.format("kafkajs")
    return [node, str(_SCRIPTS / "conformance_kafkajs.js"), str(npm.kafkajs()), json.dumps(order)]


def _franz_go(order: Order, _directory: Path) -> list[str]:
    return [str(golang.franz_go()), "conformance", json.dumps(order)]


LIBRDKAFKA = _python("confluent-kafka", "librdkafka")
JAVA = _java("java", "Java 4", jars.KAFKA_4_4, java_4_4)
CLIENTS = (
    JAVA,
    _java("java-3.9", "Java 3.9", jars.TOOLS_3_9, java_3_9),
    LIBRDKAFKA,
    _python("kafka-python"),
    _python("aiokafka"),
    Client("kafkajs", "kafkajs", lambda: npm.KAFKAJS, _kafkajs),
    Client("franz-go", "franz-go", golang.franz_go_version, _franz_go),
)
