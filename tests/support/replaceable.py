"""A cluster in which all brokers can be replaced, because the controller is a node of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self

from kproxy.local_kafka import jars
from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.cluster import Cluster

CONTROLLER: Final = 100


class Replaceable(Cluster):
    """Brokers `old`, which the context starts, and `new`, which `start` starts; the controller is node 100."""

    def __init__(self, release: jars.Release, old: Sequence[int], new: Sequence[int]) -> None:
        super().__init__(release, (CONTROLLER, *old, *new), settings={"min.insync.replicas": 2})
        self.old, self.new = tuple(old), tuple(new)
        self.up = self.old
        for node_id, broker in self.brokers.items():
            # The last line of a key wins.
            with (broker.directory / "server.properties").open("a") as properties:
                properties.writelines(f"{key}={value}\n" for key, value in self._part(node_id).items())

    @property
    def bootstrap(self) -> str:
        """`host:port,...` of the brokers that are `up`."""
        return ",".join(self.brokers[node_id].address for node_id in self.up)

    def retire_old(self) -> None:
        """Send SIGTERM to each old broker, one after the other; they lead nothing any more."""
        for node_id in self.old:
            self.brokers[node_id].terminate()

    def _part(self, node_id: int) -> dict[str, str]:
        controller, own = self.brokers[CONTROLLER], self.brokers[node_id]
        voters = {"controller.quorum.voters": f"{CONTROLLER}@{HOST}:{controller.controller_port}"}
        is_controller = node_id == CONTROLLER
        listener = f"CONTROLLER://{HOST}:{own.controller_port}" if is_controller else f"CLIENT://{HOST}:{own.port}"
        role = "controller" if is_controller else "broker"
        return {**voters, "process.roles": role, "listeners": listener, "advertised.listeners": listener}

    def __enter__(self) -> Self:
        try:
            self.start(CONTROLLER, *self.old)
            self.wait_ready(CONTROLLER, *self.old)
        except BaseException:
            self.stop()
            raise
        return self
