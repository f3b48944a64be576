"""Run a real client as a process of its own while its sockets are watched."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kproxy.local_kafka import jars, java
from kproxy.local_kafka.broker import LOGGING
from kproxy.local_kafka.processes import kill_group, spawn
from tests.support import golang, npm
from tests.support.socket_watch import SocketWatch

_SCRIPTS = Path(__file__).with_name("clients")
LIBRDKAFKAS_OWN: Final = "failed due to skipped sequence numbers"
"""Text in librdkafka's log (debug=eos) when its threads have raced each other at a leader's move (issue 4953, open).

It sends a batch before the one in front of it and takes a new epoch. From then on nothing is exactly once: it
happened in 2 of 41 runs without kproxy. Such a run only shows whether acknowledged records are there."""
PYTHON_CLIENTS = ("confluent_kafka", "kafka_python", "aiokafka")


@dataclass
class Running:
    """A running client; after `wait` it has its output and the ports that it was connected to."""

    command: Sequence[str]
    process: subprocess.Popen[bytes]
    log: Path
    watch: SocketWatch
    _ended: bool = field(default=False)

    @property
    def output(self) -> str:
        """Everything it has printed so far, standard error too."""
        return self.log.read_text(errors="replace")

    def wait(self, timeout: float = 120) -> str:
        """Wait for exit code 0 and return the output; AssertionError shows how the output ends."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"{self.command[-3:]} not done within {timeout:.0f} s:\n{self.output[-3000:]}"
            ) from None
        assert code == 0, f"{self.command[-3:]} ended with exit code {code}:\n{self.output[-3000:]}"
        return self.output

    def lines(self) -> list[dict[str, Any]]:
        """Return the JSON objects among the lines of its output."""
        return [json.loads(line) for line in self.output.splitlines() if line.startswith("{") and line.endswith("}")]

    def result(self, timeout: float = 120) -> dict[str, Any]:
        """Wait for the end; return the last JSON object that it printed."""
        self.wait(timeout)
        return self.lines()[-1]


@contextmanager
def running(command: Sequence[str], directory: Path) -> Iterator[Running]:
    """Run a command and record its connections; it is killed at the end, if it still runs."""
    log = directory / f"client-{len(list(directory.iterdir()))}.log"
    process = spawn(command, log)
    try:
        with SocketWatch(process.pid) as watch:
            yield Running(command, process, log, watch)
    finally:
        kill_group(process)


def java_tool(main_class: str, *arguments: str, classpath: str | None = None) -> list[str]:
    """Return the command of one of Kafka's own tools."""
    return java.command(classpath or java_4_3(), main_class, *arguments, options=(*java.QUICK, LOGGING))


def idempotent(directory: Path, *, batch_bytes: int = 16_384) -> tuple[str, str]:
    """Return arguments that make the verifiable producer, which does not retry by itself, retry like Java's default.

    With `batch_bytes` of 0 each record is a batch of its own, also when the producer is late. It tries again soon then:
    of five in flight the later ones are out of order while the first one waits, which takes a second each by default.
    """
    settings = directory / f"idempotent-{batch_bytes}.properties"
    soon = "" if batch_bytes else "retry.backoff.ms=20\nretry.backoff.max.ms=50\n"
    settings.write_text(f"enable.idempotence=true\nretries=2147483647\nbatch.size={batch_bytes}\n{soon}")
    return "--command-config", str(settings)


def script(client: str, scenario: str, **settings: Any) -> list[str]:
    """Return the command of a client's script in tests/support/clients: a scenario with its settings."""
    spoken = json.dumps(settings)
    if client == "kafkajs":
        node = shutil.which("node")
        assert node, "no node on PATH"
        return [node, str(_SCRIPTS / "kafkajs_client.js"), str(npm.kafkajs()), scenario, spoken]
    if client == "franz_go":
        return [str(golang.franz_go()), scenario, spoken]
    return [sys.executable, str(_SCRIPTS / f"{client}_client.py"), scenario, spoken]


def java_3_9() -> str:
    """Return the class path of the oldest Java client that is tested."""
    return jars.classpath(jars.TOOLS_3_9)


def java_4_3() -> str:
    """Return the class path of the Java client of the 4.3 line."""
    return jars.classpath(jars.KAFKA_4_3)


def java_4_4() -> str:
    """Return the class path of the newest Java client: its jars come first, only the tools are 4.3's."""
    return f"{jars.classpath(jars.KAFKA_4_4)}:{jars.classpath(jars.KAFKA_4_3)}"
