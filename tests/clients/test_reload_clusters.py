"""Virtual clusters come and go by reloads, on a real Kafka, while a producer writes to another one."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import Producer

from kproxy.local_kafka.ports import free_ports
from tests.support.backend import Backend
from tests.support.footprint import nothing_kept
from tests.support.proxy import HOST, NODE_PORTS, Proxy
from tests.support.wait import until

ROUNDS = 20


class Steady:
    """A producer that writes a record at a time; `errors` is whatever librdkafka reports."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.errors: list[str] = []
        self.delivered = 0
        self._topic = topic
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "error_cb": lambda error: self.errors.append(str(error)), "log_level": 0}
        )
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write in a thread for as long as the block runs."""
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            self._producer.produce(self._topic, b"x", on_delivery=self._done)
            self._producer.flush(10)

    def _done(self, error: object, _: object) -> None:
        if error is None:
            self.delivered += 1
        else:
            self.errors.append(str(error))


def used(bootstrap: str, topic: str) -> None:
    """Write a record through a virtual cluster."""
    found: list[object] = []
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    producer.produce(topic, b"y", on_delivery=lambda error, _: found.append(error))
    producer.flush(10)
    assert found == [None]


def with_b(config: dict[str, Any], servers: str, port: int) -> dict[str, Any]:
    """Return the configuration with virtual cluster b."""
    more = copy.deepcopy(config)
    more["clusters"].append({"name": "b", "bootstrap_servers": servers, "listen": f"{HOST}:{port}"})
    return more


def reloaded(proxy: Proxy, config: dict[str, Any]) -> tuple[int, Any]:
    """Write the configuration and have it applied; return the answer."""
    proxy.config.write_text(yaml.safe_dump(config))
    return proxy.post("/api/v1/reload")


def connections_of_a(proxy: Proxy) -> list[int]:
    """Return the ids of the connections at virtual cluster a."""
    return sorted(one["id"] for one in proxy.get_json("/api/v1/connections?cluster=a")["connections"])


def series_of_b(proxy: Proxy) -> list[str]:
    """Return the names of the series that virtual cluster b has."""
    return [name for name, labels, _ in proxy.samples() if labels.get("cluster") == "b"]


def test_one_that_comes_and_goes_disturbs_no_other(newest_kafka: Backend, tmp_path: Path) -> None:
    """Twenty times added, used and removed: the producer at the other keeps its connections, and nothing is kept."""
    servers, topic = newest_kafka.cluster.bootstrap, newest_kafka.topic(1)
    with Proxy(tmp_path, {"a": servers}, drain={"deadline": "1s"}) as proxy:
        alone, port = yaml.safe_load(proxy.config.read_text()), free_ports(NODE_PORTS)[0]
        steady = Steady(proxy.bootstrap("a"), topic)

        def round_trip() -> None:
            assert reloaded(proxy, with_b(alone, servers, port)) == (200, changes(added=["b"]))
            used(f"{HOST}:{port}", topic)
            assert reloaded(proxy, alone) == (200, changes(removed=["b"]))
            until(
                lambda: all(labels.get("cluster") != "b" for _, labels, _ in proxy.samples()),
                "the series of b to be gone",
            )

        with steady.writing():
            until(lambda: steady.delivered > 10, "records of the producer")
            round_trip()  # the first one loads what is needed, and that stays
            before, delivered = connections_of_a(proxy), steady.delivered
            with nothing_kept(proxy):
                for _ in range(ROUNDS):
                    round_trip()
            assert connections_of_a(proxy) == before != []
            assert steady.delivered > delivered + ROUNDS
        assert steady.errors == []


def changes(**moves: list[str]) -> dict[str, Any]:
    """Return the answer of a reload that only adds or removes virtual clusters."""
    return {"process": [], "clusters": {}, "added": [], "removed": []} | moves


def test_a_port_that_is_taken_changes_nothing(newest_kafka: Backend, tmp_path: Path) -> None:
    """The reason names setting and address; the virtual cluster that there is goes on, and the metric says refused."""
    servers, topic = newest_kafka.cluster.bootstrap, newest_kafka.topic(1)
    with Proxy(tmp_path, {"a": servers}) as proxy:
        alone = yaml.safe_load(proxy.config.read_text())
        taken = int(servers.rpartition(":")[2])
        status, said = reloaded(proxy, with_b(alone, servers, taken) | {"limits": {"max_connections": 7}})
        assert status == 409
        assert f"clusters.1.listen: cannot listen on {HOST}:{taken}" in said["error"]
        assert proxy.cluster_names() == ["a"]
        assert proxy.metric("kproxy_connections_limit") != 7
        assert proxy.metric("kproxy_config_last_reload_successful") == 0
        used(proxy.bootstrap("a"), topic)
