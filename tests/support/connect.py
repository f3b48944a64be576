"""Workers of Kafka Connect, each a process with a REST port, whose groups have the protocol type `connect`."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from kproxy.local_kafka import java
from kproxy.local_kafka.broker import LOGGING
from kproxy.local_kafka.jars import Release, classpath, of_kafka
from kproxy.local_kafka.ports import free_port
from kproxy.local_kafka.processes import kill_group, spawn
from tests.support.wait import until

_RELEASE: Final = Release("connect-4.3.1", of_kafka("4.3.1", "connect-runtime", "connect-file"))
_HOST: Final = "127.0.0.1"
SESSION: Final = 10
"""Seconds after which a worker that was killed is no member any more.

Heartbeats have Connect's own interval of 3 s: a worker that finds no coordinator for so long leaves its tasks, and
joins again. A kproxy that is killed must be back before that, on a busy machine, too.
"""


@dataclass
class Worker:
    """A distributed worker; `cluster` is the name of its group. It is killed at the end."""

    bootstrap: str
    cluster: str
    directory: Path
    name: str

    def __post_init__(self) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def id(self) -> str:
        """As the others know it."""
        return f"{_HOST}:{self.port}"

    def __enter__(self) -> Self:
        file = self.directory / f"{self.name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in self._settings().items()))
        run = java.command(
            classpath(_RELEASE),
            "org.apache.kafka.connect.cli.ConnectDistributed",
            str(file),
            heap_mb=192,
            options=(*java.QUICK, LOGGING),
        )
        self._process = spawn(run, self.log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def log(self) -> Path:
        """The file of its output."""
        return self.directory / f"{self.name}.log"

    def kill(self) -> None:
        """End it without a word to its group."""
        if self._process is not None:
            kill_group(self._process)

    def wait_ready(self) -> None:
        """Wait until it is a member of its group, and answers."""
        until(lambda: self._asked("/connectors") is not None, f"{self.name} answers", timeout=90, every=0.2)

    def tail(self, connector: str, file: Path, topic: str) -> None:
        """Create a connector of one task, which writes each line of a file to a topic."""
        settings = {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
            "file": str(file),
            "topic": topic,
        }
        body = json.dumps({"name": connector, "config": settings}).encode()
        request = urllib.request.Request(
            f"http://{self.id}/connectors", body, {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=90) as answer:
            assert answer.status == 201

    def tasks(self) -> Counter[str]:
        """How many tasks run at each worker, as this one knows."""
        found = self._asked("/connectors?expand=status") or {}
        tasks = [task for connector in found.values() for task in connector["status"]["tasks"]]
        return Counter(task["worker_id"] for task in tasks if task["state"] == "RUNNING")

    def _asked(self, path: str) -> Any:
        """The answer to a GET; None while there is none."""
        assert self._process is not None
        assert self._process.poll() is None, f"{self.name} ended by itself:\n{self.log.read_text()[-3000:]}"
        try:
            with urllib.request.urlopen(f"http://{self.id}{path}", timeout=10) as answer:
                return json.load(answer)
        except (OSError, urllib.error.HTTPError):
            return None

    def _settings(self) -> dict[str, str | int]:
        stores = ("config", "offset", "status")
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.cluster,
            "listeners": f"http://{self.id}",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            "session.timeout.ms": SESSION * 1000,
            "scheduled.rebalance.max.delay.ms": 0,
            "plugin.discovery": "only_scan",
            **{f"{store}.storage.topic": f"{self.cluster}-{store}" for store in stores},
            **{f"{store}.storage.replication.factor": 1 for store in stores},
            **{f"{store}.storage.partitions": 1 for store in stores[1:]},
        }
