"""One of several kproxy processes that agree: in a network namespace of its own, with links that a test can cut."""

from __future__ import annotations

import http.client
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.support.link import Link
from tests.support.namespace import Namespace
from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.wait import until

CLUSTER: Final = "orders"
"""The virtual cluster."""
NO_ANSWER: Final = (OSError, http.client.HTTPException, ValueError, KeyError)
"""What is raised where it does not run, or is being killed."""
_TIMEOUTS: Final = {"connect": "1s", "upstream_request": "2s"}
_TOPOLOGY: Final = {"interval": "500ms", "epoch_floor": "200ms"}


class Replica(Proxy):
    """kproxy in front of upstreams, each of one broker; its log is a new file for each start.

    `links` are by upstream. Nothing else reaches the process but its admin port, through the namespace.
    """

    def __init__(self, directory: Path, servers: Mapping[str, str], topic: str, **failover: Any) -> None:
        directory.mkdir()
        ports = {name: int(address.rpartition(":")[2]) for name, address in servers.items()}
        self.namespace = Namespace(list(ports.values()), directory / "namespace.log")
        self.links = {name: Link(self.namespace.listeners[port], (HOST, port)) for name, port in ports.items()}
        self.starts = 0
        self._state = directory / "state"
        self._state.mkdir()
        super().__init__(
            directory,
            {CLUSTER: dict(servers)},
            program=(*self.namespace.command, KPROXY),
            each={"failover": {"control_topic": topic, **failover}},
            timeouts=_TIMEOUTS,
            topology=_TOPOLOGY,
            state={"path": str(self._state / "kproxy.db")},
        )

    def launch(self) -> None:
        """Spawn it with a log of its own."""
        self.starts += 1
        self.log = self.directory / f"start-{self.starts}.log"
        super().launch()

    @property
    def logs(self) -> list[Path]:
        """The logs of all its starts so far."""
        return sorted(self.directory.glob("start-*.log"))

    def forget(self) -> None:
        """Remove its state; it must not run."""
        shutil.rmtree(self._state)
        self._state.mkdir()

    def cut(self, *upstreams: str) -> None:
        """Cut it from these upstreams, or all."""
        for name in upstreams or self.links:
            self.links[name].cut()

    def heal(self) -> None:
        """Heal all its links."""
        for link in self.links.values():
            link.heal()

    def close(self) -> None:
        """Kill it, and remove its namespace."""
        self.kill()
        for link in self.links.values():
            link.close()
        self.namespace.close()

    def shown(self) -> dict[str, Any]:
        """The virtual cluster, from the API."""
        (found,) = self.get_json("/api/v1/clusters")["clusters"]
        return dict(found)

    def strict(self) -> tuple[bool, str]:
        """Whether /readyz?strict answers 200, and all that it says."""
        status, said = self.get("/readyz?strict")
        return status == 200, said.decode()

    def order(self, to: str, *, force: bool = False) -> tuple[int, Any]:
        """Have it fail over, once it can at this moment; status and answer."""
        path, asked = f"/api/v1/clusters/{CLUSTER}/failover", {"to": to, "force": force}
        return until(lambda: _unless_too_soon(self.post(path, asked)), f"no answer 429 to a failover to {to}")

    def is_at(self, upstream: str) -> bool:
        """Whether this upstream is active here, and no order is pending."""
        shown = self.shown()
        return shown["upstream"] == upstream and not shown["agreement"]["pending"]

    def until_at(self, upstream: str, timeout: float = 10) -> None:
        """Wait until this upstream is active here, by the newest order."""
        until(lambda: self.is_at(upstream), f"{self.directory.name} at {upstream}", timeout)

    def until_live(self) -> None:
        """Wait until the API answers."""
        until(self.answers, f"{self.directory.name} answers", 20)

    def answers(self) -> bool:
        """Whether the API does; it must run."""
        assert self.exited is None, self.tail()
        try:
            return bool(self.shown())
        except NO_ANSWER:
            return False

    def _admin(self, timeout: float) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(HOST, self.admin_port, timeout=timeout)
        connection.sock = self.namespace.connect(self.admin_port, timeout)
        return connection


def _unless_too_soon(answer: tuple[int, Any]) -> tuple[int, Any] | None:
    return None if answer[0] == 429 else answer
