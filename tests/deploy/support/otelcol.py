"""A real OpenTelemetry collector on loopback, which forwards everything at once and unchanged."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import yaml

from kproxy.local_kafka.ports import free_ports
from kproxy.local_kafka.processes import kill_group, spawn
from tests.support import tools
from tests.support.wait import until
from tests.unit.telemetry.receivers.certificates import Authority

TOKEN: Final = "of-the-test"
_AUTHENTICATOR: Final = "bearertokenauth"


class Otelcol:
    """Up after `start`: at `plain` without TLS; at `secure` with a certificate of `authority`, for clients with TOKEN.

    Each of the two forwards to an endpoint of its own, without a queue: a push is acknowledged when it is there.
    """

    def __init__(self, directory: Path, *, plain_to: str, secure_to: str) -> None:
        """The endpoints are URLs for OTLP/HTTP."""
        self._ports = free_ports(2)
        self.plain, self.secure = (
            f"{scheme}://localhost:{port}/v1/metrics"
            for scheme, port in zip(("http", "https"), self._ports, strict=True)
        )
        self.authority = Authority(directory)
        self.log = directory / "otelcol.log"
        self._config = directory / "otelcol.yaml"
        self._config.write_text(yaml.safe_dump(self._configuration(plain_to, secure_to)))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it listens."""
        self._process = spawn([tools.ensure("otelcol"), "--config", str(self._config)], self.log)
        until(lambda: all(map(_listens, self._ports)) or self._died(), "otelcol listens", 20)

    def stop(self) -> None:
        """End it as its supervisor would; it forwards what it has taken."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(20) == 0, self._tail()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            kill_group(self._process)

    def _configuration(self, plain_to: str, secure_to: str) -> dict[str, Any]:
        plain, secure = (f"localhost:{port}" for port in self._ports)
        tls = {"cert_file": str(self.authority.own.chain), "key_file": str(self.authority.own.key)}
        guarded = {"endpoint": secure, "tls": tls, "auth": {"authenticator": _AUTHENTICATOR}}
        ways = {"plain": ({"endpoint": plain}, plain_to), "secure": (guarded, secure_to)}
        return {
            "extensions": {_AUTHENTICATOR: {"token": TOKEN}},
            "receivers": {f"otlp/{name}": {"protocols": {"http": http}} for name, (http, _) in ways.items()},
            "exporters": {f"otlp_http/{name}": _hand_on(to) for name, (_, to) in ways.items()},
            "service": {
                "extensions": [_AUTHENTICATOR],
                "telemetry": {"metrics": {"level": "none"}},
                "pipelines": {
                    f"metrics/{name}": {"receivers": [f"otlp/{name}"], "exporters": [f"otlp_http/{name}"]}
                    for name in ways
                },
            },
        }

    def _died(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._tail()
        return False

    def _tail(self) -> str:
        return f"otelcol ended:\n{self.log.read_text(errors='replace')[-3000:]}"


def _hand_on(to: str) -> dict[str, Any]:
    off = {"enabled": False}
    return {"metrics_endpoint": to, "sending_queue": off, "retry_on_failure": off}


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("localhost", port), 1).close()
    except OSError:
        return False
    return True
