"""One node of a real Apache Kafka: a broker and a controller in one JVM of its own.

`Cluster` makes one for each node id, and starts it.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kproxy.local_kafka import java
from kproxy.local_kafka.known import known_brokers
from kproxy.local_kafka.ports import free_ports
from kproxy.local_kafka.processes import Tick, ToolError, kill_group, no_tick, signal_group, spawn, wait_until

HOST: Final = "127.0.0.1"
LOGGING: Final = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.xml')}"
_STARTED: Final = b"Kafka Server started"  # a KRaft node logs this after it was registered and unfenced


@dataclass(slots=True)
class Broker:
    """A node: its id, its ports, its directory, and its process while it runs."""

    node_id: int
    directory: Path
    front: bool = False
    port: int = field(init=False)
    controller_port: int = field(init=False)
    front_port: int = field(init=False, default=0)
    front_advertised_port: int = field(init=False, default=0)
    _process: subprocess.Popen[bytes] | None = field(init=False, default=None)
    _log_start: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.port, self.controller_port, self.front_port, self.front_advertised_port = free_ports(4)

    @property
    def address(self) -> str:
        """`host:port` of the listener for clients."""
        return f"{HOST}:{self.port}"

    @property
    def controller_address(self) -> str:
        """`host:port` of the listener for the other nodes' controllers."""
        return f"{HOST}:{self.controller_port}"

    @property
    def log(self) -> Path:
        """The file with all output of the node's JVM, over all its starts."""
        return self.directory / "kafka.log"

    @property
    def pid(self) -> int:
        """The JVM's process id.

        Raises:
            ToolError: the node does not run.
        """
        if self._process is None:
            raise ToolError(f"broker {self.node_id} does not run")
        return self._process.pid

    def write_properties(self, voters: str, settings: Mapping[str, object]) -> None:
        """Write the node's `server.properties`; the cluster's `settings` replace the node's own, None takes one out."""
        self.directory.mkdir(parents=True)
        lines = {**self._own_settings(), "controller.quorum.voters": voters, **settings}
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in lines.items() if value is not None))

    def start(self, classpath: str, heap_mb: int, options: tuple[str, ...], cluster_id: str) -> None:
        """Start the JVM, after formatting a new log directory; call this from the main thread."""
        run = java.command(
            classpath, "kafka.Kafka", str(self._properties), heap_mb=heap_mb, options=(*options, LOGGING)
        )
        line = f"exec {shlex.join(run)}"
        if not self._data.exists():
            arguments = ("format", "-t", cluster_id, "-c", str(self._properties))
            tool = java.command(classpath, "kafka.tools.StorageTool", *arguments, options=(*java.QUICK, LOGGING))
            line = f"{shlex.join(tool)} && {line}"
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        self._process = spawn(["/bin/sh", "-c", line], self.log)

    def wait_ready(self, timeout: float, tick: Tick = no_tick) -> None:
        """Wait until the cluster's controller has unfenced this broker; `timeout` in seconds."""
        self._wait(self._has_started, "", timeout, tick)

    def wait_knows(self, node_ids: Collection[int], timeout: float, tick: Tick = no_tick) -> None:
        """Wait until this broker names these in its answers: its clients take any of them for the cluster."""
        self._wait(lambda: known_brokers(HOST, self.port).issuperset(node_ids), " knowing the others", timeout, tick)

    def _wait(self, happened: Callable[[], bool], what: str, timeout: float, tick: Tick) -> None:
        if self._process is None:
            raise ToolError(f"broker {self.node_id} does not run")
        try:
            wait_until(happened, f"broker {self.node_id}{what}", timeout=timeout, tick=tick, process=self._process)
        except ToolError as error:
            raise ToolError(f"{error}; its log ends: {self._last_lines()}") from None

    def kill(self) -> None:
        """Kill the node with SIGKILL, even a paused one: it ends as in a power failure, and its data stays."""
        process, self._process = self._process, None
        if process is not None:
            kill_group(process)

    def pause(self) -> None:
        """Send SIGSTOP: connections stay open and nothing answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Send SIGCONT, after `pause`."""
        self._signal(signal.SIGCONT)

    def terminate(self, timeout: float = 30) -> None:
        """Send SIGTERM, and wait until the node has handed over its leaderships and ended; `timeout` in seconds.

        Raises:
            ToolError: it takes longer.
        """
        self._signal(signal.SIGTERM)
        if self._process is not None:
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                raise ToolError(f"broker {self.node_id} did not end within {timeout:.0f} s") from None
            self._process = None

    def check(self) -> None:
        """Raise ToolError when the node was started, and has ended by itself."""
        if self._process is not None and (code := self._process.poll()) is not None:
            raise ToolError(f"broker {self.node_id} ended, exit code {code}; its log ends: {self._last_lines()}")

    @property
    def _properties(self) -> Path:
        return self.directory / "server.properties"

    @property
    def _data(self) -> Path:
        return self.directory / "data"

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            signal_group(self._process, number)

    def _has_started(self) -> bool:
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return _STARTED in log.read()

    def _last_lines(self) -> str:
        return " | ".join(self.log.read_text(errors="replace").strip().splitlines()[-5:])

    def _own_settings(self) -> dict[str, object]:
        listeners = {"CLIENT": self.port, "CONTROLLER": self.controller_port}
        advertised = dict(listeners)
        if self.front:
            listeners["FRONT"], advertised["FRONT"] = self.front_port, self.front_advertised_port
        return {
            "node.id": self.node_id,
            "broker.rack": rack(self.node_id),
            "process.roles": "broker,controller",
            "listeners": _addresses(listeners),
            "advertised.listeners": _addresses(advertised),
            "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in listeners),
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "CLIENT",
            "log.dirs": self._data,
        }


def rack(node_id: int) -> str:
    """Return the rack that a broker says it is in: each is in one of its own."""
    return f"rack-{node_id}"


def _addresses(ports: Mapping[str, int]) -> str:
    return ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items())
