"""A real Apache Kafka cluster on this machine: start, disturb and remove it.

`kproxy demo --kafka` and the tests use it; kproxy itself does not.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kproxy.local_kafka import class_archive, jars, java
from kproxy.local_kafka.broker import LOGGING, Broker
from kproxy.local_kafka.processes import Tick, ToolError, no_tick

HEAP_MB: Final = 350
START_TIMEOUT: Final = 120.0
_SMALL: Final[Mapping[str, object]] = {
    "num.network.threads": 2,
    "num.io.threads": 4,
    "log.retention.ms": -1,  # records dated in the past stay
    "log.cleaner.threads": 1,
    "log.cleaner.dedupe.buffer.size": 4 << 20,
    "offsets.topic.num.partitions": 6,
    "transaction.state.log.num.partitions": 6,
    "share.coordinator.state.topic.num.partitions": 6,
    "group.initial.rebalance.delay.ms": 0,
    "group.share.heartbeat.interval.ms": 1000,
    "group.share.min.heartbeat.interval.ms": 1000,
    "broker.heartbeat.interval.ms": 1000,
    "broker.session.timeout.ms": 6000,
    "auto.create.topics.enable": "false",
}
_REPLICATED: Final = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")


class Cluster:
    """Brokers on free ports of the loopback interface, in a temporary directory that `stop` removes.

    Call `start` from the main thread (`spawn` says why); `wait_ready` may run in another. As a context manager it does
    both, and always `stop` at the end.

    Args:
        node_ids: any ids that Kafka accepts, 0 to 2147483646.
        settings: lines of `server.properties` for all brokers; None takes one out that they have of their own.
        front: give each broker one more listener, at `front_port`, which advertises `front_advertised_port`:
            for a proxy that cannot rewrite addresses.
        options: the JVM's options; `java.QUICK` starts fast, `()` runs fast.
        say: is called with a line before slow work, as fetching the jars.
    """

    def __init__(
        self,
        release: jars.Release = jars.KAFKA_4_3,
        node_ids: Sequence[int] = (1, 2, 3),
        *,
        settings: Mapping[str, object] | None = None,
        front: bool = False,
        heap_mb: int = HEAP_MB,
        options: tuple[str, ...] = java.QUICK,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.release = release
        self.cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "_")
        self._classpath = jars.classpath(release, say=say)
        class_archive.ensure(self._classpath, heap_mb, say=say)
        self._heap_mb, self._options = heap_mb, options
        self.directory = Path(tempfile.mkdtemp(prefix="kproxy-kafka-"))
        self.brokers = {node: Broker(node, self.directory / str(node), front) for node in node_ids}
        voters = ",".join(f"{b.node_id}@{b.controller_address}" for b in self.brokers.values())
        for broker in self.brokers.values():
            broker.write_properties(voters, {**_SMALL, **_replication(len(self.brokers)), **(settings or {})})

    @property
    def bootstrap(self) -> str:
        """`host:port,...` of all brokers, for a client that bypasses the proxy."""
        return ",".join(broker.address for broker in self.brokers.values())

    @property
    def ports(self) -> frozenset[int]:
        """All ports on which the brokers listen."""
        return frozenset(
            port for b in self.brokers.values() for port in (b.port, b.controller_port, b.front_port) if port
        )

    def start(self, *node_ids: int) -> None:
        """Start these nodes, or all; a node that ran before keeps its data."""
        for node_id in node_ids or self.brokers:
            self.brokers[node_id].start(self._classpath, self._heap_mb, self._options, self.cluster_id)

    def wait_ready(self, *node_ids: int, timeout: float = START_TIMEOUT, tick: Tick = no_tick) -> None:
        """Wait until these nodes, or all, serve and know each other; `tick` is called at every poll and may raise."""
        waited = [self.brokers[node_id] for node_id in node_ids or self.brokers]
        for broker in waited:
            broker.wait_ready(timeout, tick)
        for broker in waited:
            broker.wait_knows([each.node_id for each in waited], timeout, tick)

    def check(self) -> None:
        """Raise ToolError when a node that was started has ended by itself."""
        for broker in self.brokers.values():
            broker.check()

    def restart(self, node_id: int, timeout: float = START_TIMEOUT) -> None:
        """Start a node that was killed, on its old data and ports, and wait for it."""
        self.start(node_id)
        self.wait_ready(node_id, timeout=timeout)

    def run(
        self, main_class: str, *arguments: str, timeout: float = 120, classpath: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run one of Kafka's tools by its class, in a JVM; capture its output as text.

        Raises:
            ToolError: it failed or took longer than `timeout` seconds; the message has its last lines.
        """
        command = java.command(classpath or tools_classpath(), main_class, *arguments, options=(*java.QUICK, LOGGING))
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=timeout, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            raise ToolError(f"{main_class}: not done within {timeout:.0f} s") from None
        if done.returncode:
            said = " | ".join((done.stdout + done.stderr).strip().splitlines()[-5:])
            raise ToolError(f"{main_class}: exit code {done.returncode}: {said}")
        return done

    def stop(self) -> None:
        """Kill every node and remove the directory; a second call is harmless."""
        for broker in self.brokers.values():
            broker.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            self.start()
            self.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def tools_classpath() -> str:
    """Return the class path of Kafka's command line tools; one version serves every cluster."""
    return jars.classpath(jars.KAFKA_4_3)


def _replication(brokers: int) -> dict[str, object]:
    factor, in_sync = min(3, brokers), min(2, brokers)
    settings: dict[str, object] = {}
    for prefix in _REPLICATED:
        settings |= {f"{prefix}.replication.factor": factor, f"{prefix}.min.isr": in_sync}
    del settings["offsets.topic.min.isr"]  # Kafka has no such setting: acks=all and min.insync.replicas decide
    return settings
