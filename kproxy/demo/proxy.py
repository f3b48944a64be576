"""The demo's kproxy: `kproxy serve` as users run it, and the answers of its admin port.

`Play` starts it once the Kafka behind it runs, and asks its admin port at each sample of the clients.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kproxy.demo import scrape
from kproxy.demo.children import Child
from kproxy.local_kafka.ports import free_ports
from kproxy.local_kafka.processes import ToolError

HOST: Final = "127.0.0.1"
_READY_TIMEOUT: Final = 30.0
_ANSWER_TIMEOUT: Final = 10.0
_DRAIN_TIMEOUT: Final = 15.0
_DEATH_GRACE: Final = 1.0
"""Seconds to wait for the process's end after a connection broke: when it dies, its sockets close first."""
_OK: Final = 200
_NOT_FOUND: Final = 404
_CONFIG: Final = """\
clusters:
  - name: kafka
    bootstrap_servers: %s
    listen: %s
    groups:
      - match: %s
admin: %s
"""


class Proxy(Child):
    """`kproxy serve` in front of `nodes` brokers, on adjacent ports: bootstrap, nodes, admin."""

    def __init__(self, bootstrap_servers: str, nodes: int, out: Path, group: str | None) -> None:
        """Files go into `out`. A `group` that kproxy hosts takes a configuration file, because no flag says so."""
        ports = free_ports(nodes + 2)
        self.bootstrap = f"{HOST}:{ports[0]}"
        self.admin = f"{HOST}:{ports[-1]}"
        if group is None:
            flags = ["--bootstrap-servers", bootstrap_servers, "--listen", self.bootstrap, "--admin", self.admin]
        else:
            config = out / "kproxy.yaml"
            config.write_text(_CONFIG % (bootstrap_servers, self.bootstrap, group, self.admin))
            flags = ["--config", str(config)]
        super().__init__("kproxy serve", ("-m", "kproxy", "serve", *flags, "--log-format", "json"), out / "kproxy.log")

    def wait_ready(self) -> None:
        """Wait until /readyz says ready. Raise ToolError when that takes too long."""
        self.wait_until(self._is_ready, "not ready", _READY_TIMEOUT)

    def scrape(self) -> scrape.Scrape:
        """Scrape /metrics."""
        return scrape.read(self._get("/metrics"))

    def nodes(self) -> Sequence[Mapping[str, Any]]:
        """Return the nodes of the virtual cluster, from /api/v1/clusters."""
        (cluster,) = json.loads(self._get("/api/v1/clusters"))["clusters"]
        nodes: Sequence[Mapping[str, Any]] = cluster["nodes"]
        return nodes

    def connections(self) -> Sequence[Mapping[str, Any]]:
        """Return the client connections, from /api/v1/connections."""
        connections: Sequence[Mapping[str, Any]] = json.loads(self._get("/api/v1/connections?limit=1000"))[
            "connections"
        ]
        return connections

    def group(self, group: str) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]] | None:
        """Return a hosted group and its members, from /api/v1/clusters/kafka/groups; None before any member joined."""
        path = f"/api/v1/clusters/kafka/groups/{group}"
        status, found = self._asked(path)
        if status == _NOT_FOUND:
            return None
        return json.loads(found), json.loads(self._get(f"{path}/members"))["members"]

    def drain(self) -> None:
        """End the process as an orchestrator does. Raise ToolError when its exit code is not 0."""
        code = self.end(_DRAIN_TIMEOUT)
        if code:
            raise ToolError(f"kproxy serve ended with exit code {code} after SIGTERM (see {self.log})")

    def _is_ready(self) -> bool:
        try:
            return self._ask("/readyz")[0] == _OK
        except OSError:
            return False

    def _get(self, path: str) -> str:
        status, body = self._asked(path)
        if status != _OK:
            raise ToolError(f"kproxy serve: GET {path} answers {status}: {body[:200]}")
        return body

    def _asked(self, path: str) -> tuple[int, str]:
        try:
            return self._ask(path)
        except (OSError, http.client.HTTPException) as error:
            self.check(grace=_DEATH_GRACE)
            raise ToolError(f"kproxy serve: no answer to GET {path}: {error} (see {self.log})") from error

    def _ask(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection(self.admin, timeout=_ANSWER_TIMEOUT)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()
