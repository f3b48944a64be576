"""`kproxy serve` as the README shows it: flags alone, no file."""

from __future__ import annotations

from pathlib import Path

from tests.clients.test_python_clients import check_everything
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.side import Side


def test_flags_alone(kafka: Backend, tmp_path: Path) -> None:
    """Bootstrap on the port of --listen, nodes with any ids on the following ones, and a clean end."""
    with Proxy.of_flags(tmp_path, kafka.cluster.bootstrap) as proxy:
        check_everything(Side(proxy, proxy.cluster_names()[0], kafka, tmp_path), "confluent_kafka")
        first = proxy.port()
        assert sorted(proxy.node_ports(proxy.cluster_names()[0]).values()) == [first + 1, first + 2, first + 3]


def test_two_clusters_in_one_process_stay_apart(both: Proxy, kafka: Backend, newest_kafka: Backend) -> None:
    """Each virtual cluster of the process reports its own cluster's id and nodes, on ports of its own."""
    for name, backend in {"kafka": kafka, "newest": newest_kafka}.items():
        shown = next(one for one in both.get_json("/api/v1/clusters")["clusters"] if one["name"] == name)
        assert shown["cluster_id"] == backend.cluster.cluster_id
        assert both.node_ports(name).keys() == backend.cluster.brokers.keys()
        assert set(both.node_ports(name).values()) <= set(both.ports[name])
