"""One kproxy process in front of the test's Kafka: its configuration, its start, its log, its end.

The fixture `kproxy` has one. It takes any free ports, so that several run beside each other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import kproxy
from kproxy.errors import CommandError, InvalidArgumentError, KproxyError
from kproxy.testing.observed import address, readable

CLUSTER: Final = "kafka"
"""The virtual cluster's name, in metrics and logs."""
_HOST: Final = "127.0.0.1"
_POLL: Final = 0.05
_ASK: Final = 10.0
_DRAIN: Final = 5
_DYING: Final = 2.0
"""Seconds until a process whose socket is gone is gone, too."""
_TETHER: Final = Path(kproxy.__file__).with_name("local_kafka") / "tether.py"
"""Has the kernel end the process with pytest, also with one that is killed."""
_TAIL: Final = 4000
_HTTP: Final = build_opener(ProxyHandler({}))
"""Asks kproxy itself, whatever proxy the environment names: that one cannot reach this machine's own address."""


class StartError(KproxyError):
    """kproxy has not become ready: why, and its log."""


class EndedError(KproxyError):
    """kproxy has ended, or does not answer, in the middle of the tests."""


def settings(bootstrap_servers: str | Sequence[str], cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration; `cluster` are the user's settings of the virtual cluster, which come first."""
    faults = {"enabled": True, **cluster.get("faults", {})}
    nodes = {"strategy": "automatic", "first_port": 0}
    listen = {"listen": f"{_HOST}:0", "nodes": nodes}
    servers = {} if "upstreams" in cluster else {"bootstrap_servers": bootstrap_servers}
    return {
        "clusters": [{"name": CLUSTER, **servers, **listen, **cluster, "faults": faults}],
        "admin": {"listen": f"{_HOST}:0"},
        "drain": {"deadline": _DRAIN},
        "log": {"format": "json", "level": "info"},
    }


class KproxyProcess:
    """A process of `kproxy serve`, asked over HTTP."""

    def __init__(self, directory: Path, config: Mapping[str, Any]) -> None:
        self._log = directory / "kproxy.log"
        self._config = directory / "kproxy.yaml"
        self._config.write_text(json.dumps(config, indent=2))  # JSON is YAML
        self._process: subprocess.Popen[bytes] | None = None
        self._admin = ""

    def start(self, timeout: float) -> str:
        """Start it; return `host:port` at which clients bootstrap once it is ready. Raises StartError."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KPROXY_")}
        command = [sys.executable, "-m", "kproxy", "serve", "--config", str(self._config)]
        tied = [sys.executable, "-I", "-S", str(_TETHER), str(os.getpid()), *command]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                tied,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                process_group=0,  # Ctrl-C is pytest's: the test's fixtures still need kproxy
            )
        deadline = time.monotonic() + timeout
        while (bootstrap := self._ready()) is None:
            if self.ended_within(_POLL):
                raise StartError(f"kproxy did not start, exit code {self._process.returncode}:\n{self.log()}")
            if time.monotonic() > deadline:
                raise StartError(f"kproxy is not ready after {timeout:g} s (kproxy_start_timeout):\n{self.log()}")
        return bootstrap

    def _ready(self) -> str | None:
        """Return where clients bootstrap, once kproxy knows a broker: /readyz would not wait for one."""
        log = self._log.read_text(errors="replace")
        admin, bootstrap = address(log, "admin port is open"), address(log, "listening")
        if admin is None or bootstrap is None:
            return None
        self._admin = f"http://{admin}"
        try:
            with _HTTP.open(f"{self._admin}/api/v1/clusters", timeout=_ASK) as answer:
                (cluster,) = json.load(answer)["clusters"]
        except (OSError, ValueError):  # it has just begun
            return None
        return bootstrap if cluster["nodes"] else None

    def ended_within(self, seconds: float) -> bool:
        """Wait so long for its end; return whether it has ended."""
        assert self._process is not None
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self) -> None:
        """End it: it drains for 5 s at most, and is killed after twice that."""
        if self._process is None:
            return
        self._process.terminate()
        if not self.ended_within(2 * _DRAIN):
            self._process.kill()
            self._process.wait()

    def log_size(self) -> int:
        """Return how many bytes the log has."""
        return self._log.stat().st_size

    def log(self, begin: int = 0) -> str:
        """Return the log from a byte on, for eyes: its end, where it is long."""
        return readable(self._log.read_bytes()[begin:].decode(errors="replace"))[-_TAIL:]

    def check(self, seconds: float = 0) -> None:
        """Raise EndedError where it does not run any more, or ends within so many seconds."""
        if self.ended_within(seconds):
            assert self._process is not None
            raise EndedError(f"kproxy has ended, exit code {self._process.returncode}; its log ends:\n{self.log()}")

    def ask(self, method: str, path: str, fields: Mapping[str, Any] | None = None) -> str:
        """Return the admin port's answer. Raises InvalidArgumentError, CommandError, EndedError."""
        self.check()
        body = None if fields is None else json.dumps(fields).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        request = Request(self._admin + path, body, headers, method=method)
        try:
            with _HTTP.open(request, timeout=_ASK) as answer:
                return str(answer.read().decode())
        except HTTPError as error:
            reason = json.loads(error.read())["error"]
            raise (InvalidArgumentError if error.code == 400 else CommandError)(reason) from None
        except OSError as error:
            self.check(_DYING)
            raise EndedError(f"kproxy does not answer: {error}; its log ends:\n{self.log()}") from error
