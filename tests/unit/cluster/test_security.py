"""kproxy.cluster.security: hints about the names in certificates."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.cluster.security import name_hints
from kproxy.config import VirtualCluster
from kproxy.upstream.validity import Validity


@pytest.mark.parametrize(
    ("settings", "names", "refused"),
    [
        ({}, ("DNS:other",), []),
        ({"advertised_host": "kafka.example.org"}, ("DNS:kafka.example.org",), []),
        ({"advertised_host": "KAFKA.example.org"}, ("DNS:*.example.org",), []),
        ({"advertised_host": "kafka.example.org"}, ("DNS:example.org",), ["kafka.example.org"]),
        ({"advertised_host": "10.0.0.7"}, ("IP Address:10.0.0.7",), []),
        ({"advertised_host": "10.0.0.7"}, ("DNS:10.0.0.7",), ["10.0.0.7"]),
    ],
)
def test_what_clients_are_told(settings: dict[str, Any], names: tuple[str, ...], refused: list[str]) -> None:
    """Without an advertised host nobody knows at which name clients connect."""
    cluster = VirtualCluster.model_validate(
        {"name": "a", "bootstrap_servers": "b:1", "listen": "0.0.0.0:9093", **settings}
    )
    hints = list(name_hints(cluster, {"tls": Validity(0, 1, names)}))
    assert [hint.partition(" at ")[2].partition(": ")[0] for hint in hints] == refused


def test_a_certificate_without_names() -> None:
    """Clients no longer look at the common name."""
    cluster = VirtualCluster.model_validate(
        {"name": "a", "bootstrap_servers": "b:1", "listen": "0.0.0.0:9093", "advertised_host": "k"}
    )
    assert list(name_hints(cluster, {"tls": Validity(0, 1)})) == [
        "clusters.a.tls: clients refuse the certificate at k: it is for no name at all"
    ]
    assert list(name_hints(cluster, {})) == []
