"""Java's transactional producers: one process that does what it is told, step by step."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from kproxy.local_kafka import java
from kproxy.local_kafka.broker import LOGGING
from tests.support.client import java_4_4
from tests.support.libraries import compiled

_SOURCE: Final = Path(__file__).with_name("clients") / "Transactions.java"
OK: Final = "ok"


class JavaProducers:
    """The process; its producers are known by names."""

    def __init__(self, process: subprocess.Popen[str], bootstrap: str) -> None:
        self._process = process
        self._bootstrap = bootstrap

    def start(self, producer: str, **settings: object) -> None:
        """Make a producer and have it begin; `a_b="x"` sets its config `a.b`."""
        dotted = {name.replace("_", "."): str(value) for name, value in settings.items()}
        made = {"bootstrap.servers": self._bootstrap, "client.id": producer, "linger.ms": "0", **dotted}
        assert self.do(producer, "start", settings=made) == OK

    def do(self, producer: str, what: str, **order: Any) -> str:
        """Have it do something; return "ok", or the kind of the exception."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"producer": producer, "what": what, **order}) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@contextmanager
def java_producers(bootstrap: str, directory: Path) -> Iterator[JavaProducers]:
    """Yield producers of the newest Java client; the process ends behind it."""
    classes = compiled(_SOURCE, directory)
    command = java.command(f"{java_4_4()}:{classes}", "Transactions", options=(*java.QUICK, LOGGING))
    log = (directory / "java.log").open("wb")
    with (
        log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            yield JavaProducers(process, bootstrap)
        finally:
            process.kill()
