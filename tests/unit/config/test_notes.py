"""kproxy.config.plan: notes on settings that are allowed but may not be intended."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config import Config
from kproxy.config.plan import notes

PROMETHEUS = {"name": "p", "type": "prometheus"}


@pytest.mark.parametrize(
    ("telemetry", "receivers", "admin", "lines"),
    [
        (None, [], None, []),
        ({}, [PROMETHEUS], "g:9", []),
        ({}, [], None, ["clusters.orders.telemetry: has no receiver: what clients push is taken and dropped"]),
        (None, [PROMETHEUS], "g:9", ["receivers.p: no virtual cluster's telemetry goes there"]),
        ({}, [PROMETHEUS], None, ["receivers.p: there is no admin port to serve /metrics/clients"]),
        (
            {"receivers": []},
            [PROMETHEUS],
            None,
            [
                "clusters.orders.telemetry: has no receiver: what clients push is taken and dropped",
                "receivers.p: no virtual cluster's telemetry goes there",
            ],
        ),
    ],
)
def test_notes(telemetry: Any, receivers: list[Any], admin: str | None, lines: list[str]) -> None:
    """There is a line for each, with its effect."""
    cluster = {"name": "orders", "bootstrap_servers": "a:1", "listen": "h:1", "telemetry": telemetry}
    config = Config.model_validate({"clusters": [cluster], "receivers": receivers, "admin": admin})
    assert list(notes(config)) == lines


@pytest.mark.parametrize(
    ("nodes", "ids"),
    [
        ({"strategy": "offset", "ranges": "1-3, 1001"}, "1-3, 1001"),
        ({"strategy": "offset", "first_port": 60_000}, "0-5535"),
        ({}, None),
    ],
)
@pytest.mark.parametrize("upstreams", [["east"], ["east", "west"]])
def test_which_nodes_several_upstreams_may_have(nodes: dict[str, Any], ids: str | None, upstreams: list[str]) -> None:
    """When ports follow from node ids, the ids are limited, which would otherwise only show at a failover."""
    servers = [{"name": name, "bootstrap_servers": "a:1"} for name in upstreams]
    cluster = {"name": "orders", "upstreams": servers, "listen": "h:9092", "nodes": nodes}
    found = list(notes(Config.model_validate({"clusters": [cluster]})))
    line = "clusters.orders.nodes: there are ports for the node ids {}: all nodes of east, west must be among them"
    assert found == ([line.format(ids) + " (--connect asks them)"] if ids and len(upstreams) > 1 else [])


@pytest.mark.parametrize("path", [None, "/var/lib/kproxy/state.db"])
def test_hosted_groups_without_a_state_file(path: str | None) -> None:
    """They do not survive a restart."""
    cluster = {"name": "orders", "bootstrap_servers": "a:1", "listen": "h:9092", "groups": [{"match": "o.*"}]}
    found = list(notes(Config.model_validate({"clusters": [cluster], "state": {"path": path}})))
    line = "clusters.orders.groups: without state.path a restart forgets the members, and they join again"
    assert found == ([] if path else [line])


@pytest.mark.parametrize(
    ("mechanism", "servers", "shown"),
    [
        ("PLAIN", "127.0.0.1:1,kafka-1:9092,kafka-2:9092", "PLAIN without TLS shows the password"),
        ("OAUTHBEARER", "kafka-1:9092", "OAUTHBEARER without TLS shows the token"),
        ("PLAIN", "localhost:1,[::1]:2", None),
        ("SCRAM-SHA-256", "kafka-1:9092", None),
    ],
)
@pytest.mark.parametrize("several", [False, True])
def test_a_secret_that_others_can_read(mechanism: str, servers: str, shown: str | None, several: bool) -> None:
    """It is noted where it would leave the machine."""
    user = {"username": "a", "password": "hunter2"}
    identity = {"mechanism": mechanism} | ({"token_file": "t"} if mechanism == "OAUTHBEARER" else user)
    upstream = {"name": "east", "bootstrap_servers": servers, "identity": identity}
    one = {"bootstrap_servers": servers, "identity": identity}
    cluster = {"name": "orders", "listen": "h:9092"} | ({"upstreams": [upstream]} if several else one)
    place = "clusters.orders.upstreams.east.identity" if several else "clusters.orders.identity"
    line = f"{place}: {shown} to whoever can read the connection to kafka-1:9092"
    assert list(notes(Config.model_validate({"clusters": [cluster]}))) == ([line] if shown else [])


def test_faults() -> None:
    """That they are enabled is told, with rules or without."""
    cluster = {"name": "orders", "bootstrap_servers": "a:1", "listen": "h:1", "faults": {"enabled": True}}
    (line,) = notes(Config.model_validate({"clusters": [cluster]}))
    assert line == "clusters.orders.faults: faults are injected into what clients get: never in production"
