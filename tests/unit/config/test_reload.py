"""kproxy.config.reload: the differences, and those that can be applied while running."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from kproxy.config import Config, Telemetry, VirtualCluster
from kproxy.config.address import HostPort
from kproxy.config.authentication import Authentication
from kproxy.config.base import dotted
from kproxy.config.reload import CLUSTER_APPLIES, PROCESS_APPLIES, Changes, changes

EAST = {"name": "east", "bootstrap_servers": "e:1"}
WEST = {"name": "west", "bootstrap_servers": "w:1"}
IDENTITY = {"mechanism": "PLAIN", "username": "a", "password": "b"}
RESTART = {
    "admin.listen",
    "log.format", "name", "receivers", "state.path",
    "telemetry.max_bytes", "telemetry.receivers", "events.destinations", "events.interval", "events.instance",
    "failover.hide_topic_ids_from", "failover.control_topic", "failover.config_map",
    "authentication.dangerously_accept_secrets_without_tls", "faults.enabled", "faults.seed",
}  # fmt: skip
APPLIED = {
    "limits.max_request_bytes", "limits.max_response_bytes", "limits.max_held_bytes",
    "limits.held_request_bytes", "limits.held_response_bytes",
    "limits.max_connections", "limits.max_connections_per_address", "limits.connections_per_second",
    "limits.connections_per_second_per_address",
    "limits.handshakes_per_second", "limits.max_handshakes", "limits.max_unauthenticated",
    "timeouts.whole_request", "timeouts.request_bytes_per_second",
    "timeouts.idle", "timeouts.unread_response", "timeouts.unanswered_request", "timeouts.tcp_keepalive",
    "timeouts.connect", "timeouts.tls_handshake", "timeouts.stalled_frame", "timeouts.first_request",
    "timeouts.upstream_request",
    "topology.interval", "topology.epoch_floor", "topology.grace", "topology.retired", "drain.deadline",
    "drain.rebootstrap", "reload.interval", "log.level", "bootstrap_servers", "upstreams", "identity",
    "listen", "failover.automatic",
    "failover.after", "failover.floor", "failover.standby_interval", "failover.separate_producer_ids",
    "advertised_host", "tls", "upstream_tls",
    "proxy_protocol.networks", "max_connections", "max_connections_per_principal",
    "nodes.strategy", "nodes.first_port",
    "nodes.ranges", "nodes.advertised_first_port", "nodes.pattern", "nodes.advertised_port",
    "authentication.mechanisms", "authentication.users_file", "authentication.session_lifetime",
    "authentication.oauthbearer", "authentication.certificates",
    "groups", "byte_rates", "faults.rules", "telemetry.admin", "telemetry.interval",
    "telemetry.subscriptions",
    "telemetry.max_points", "telemetry.max_attributes", "telemetry.max_buckets", "telemetry.max_fields",
    "telemetry.connection_decode", "telemetry.address_decode", "telemetry.connection_instances",
    "telemetry.address_share", "telemetry.require_principal",
}  # fmt: skip


def cluster(name: str = "orders", **changed: Any) -> dict[str, Any]:
    """Return a virtual cluster as YAML yields it."""
    return {"name": name, "bootstrap_servers": "a:1", "listen": f"h:{9000 + 100 * (ord(name[0]) - 97)}"} | changed


def config(*clusters: dict[str, Any], **settings: Any) -> Config:
    """Return a configuration."""
    return Config.model_validate({"clusters": clusters or [cluster()]} | settings)


def keys(model: type[BaseModel], *path: str) -> set[str]:
    """Return every setting, dotted."""
    found: set[str] = set()
    for name, info in model.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind is not HostPort:
            found |= keys(kind, *path, name)
        else:
            found.add(dotted((*path, name)))
    return found


def test_every_setting_is_sorted() -> None:
    """A new setting must be added to one side or the other, here and in kproxy.config.reload."""
    optional = {"admin.listen"} | keys(Telemetry, "telemetry") | keys(Authentication, "authentication")
    everything = (keys(Config) | keys(VirtualCluster)) - {"clusters", "admin", "telemetry", "authentication"} | optional
    assert everything == RESTART | APPLIED
    applies = {dotted(path) for path in PROCESS_APPLIES | CLUSTER_APPLIES} | {"bootstrap_servers", "upstream_tls"}
    assert {key for key in everything if any(f"{key}.".startswith(f"{group}.") for group in applies)} == APPLIED


def test_the_docs_list_what_applies() -> None:
    """The docs have both lists, with nothing else in them."""
    page = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text()
    section = page.partition("\n## What can change while kproxy runs\n")[2].partition("\n## ")[0]
    [cluster, process] = [set(re.findall("`([a-z_.]+)`", line)) for line in section.splitlines() if line[:2] == "- "]
    assert cluster == {dotted(path) for path in CLUSTER_APPLIES} | {"bootstrap_servers", "upstream_tls"}
    assert process == {dotted(path) for path in PROCESS_APPLIES}


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"limits": {"max_connections": 5}}, "limits.max_connections"),
        ({"timeouts": {"connect": 5}}, "timeouts.connect"),
        ({"topology": {"grace": 1}}, "topology.grace"),
        ({"topology": {"retired": "refuse"}}, "topology.retired"),
        ({"drain": {"deadline": 1}}, "drain.deadline"),
        ({"drain": {"rebootstrap": True}}, "drain.rebootstrap"),
        ({"log": {"level": "debug"}}, "log.level"),
        ({"reload": {"interval": "1s"}}, "reload.interval"),
    ],
)
def test_of_the_process_what_can_be_applied(settings: dict[str, Any], key: str) -> None:
    """The setting is listed alone, by its dotted name."""
    assert changes(config(), config(**settings)) == Changes(process=frozenset({key}))


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"admin": "h:1"}, "admin"),
        ({"log": {"format": "json"}}, "log.format"),
        ({"receivers": [{"name": "p", "type": "prometheus"}]}, "receivers"),
        ({"state": {"path": "x"}}, "state.path"),
    ],
)
def test_of_the_process_what_takes_a_restart(settings: dict[str, Any], key: str) -> None:
    """A change takes a restart in both directions."""
    assert changes(config(), config(**settings)) == changes(config(**settings), config()) == Changes(restart=(key,))


def test_the_address_of_the_admin_port() -> None:
    """It counts as one value, not as a host and a port."""
    assert changes(config(admin="h:1"), config(admin="h:2")).restart == ("admin.listen",)


@pytest.mark.parametrize(
    ("changed", "can"),
    [
        ({"bootstrap_servers": "a:2"}, {"upstreams"}),
        ({"bootstrap_servers": "", "upstreams": [EAST, WEST]}, {"upstreams"}),
        ({"advertised_host": "k"}, {"advertised_host"}),
        ({"listen": "h:5"}, {"listen"}),
        ({"listen": "[::1]:9000"}, {"listen"}),
        ({"identity": IDENTITY}, {"identity"}),
        ({"bootstrap_servers": "", "upstreams": [EAST | {"identity": IDENTITY}]}, {"upstreams"}),
        ({"failover": {"after": 1, "floor": 1}}, {"failover.after", "failover.floor"}),
        ({"nodes": {"strategy": "offset", "ranges": "0-2"}}, {"nodes.strategy", "nodes.ranges"}),
    ],
)
def test_of_a_cluster_what_can_be_applied(changed: dict[str, Any], can: set[str]) -> None:
    """The change is listed under the cluster's name, and nothing under the other's."""
    old = config(cluster(), cluster("audit"))
    new = config(cluster("audit"), cluster(**changed))
    assert changes(old, new) == Changes(clusters={"orders": frozenset(can)})


def test_another_password() -> None:
    """The setting alone is named, and only once, though each upstream has it."""
    old, new = (config(cluster(identity=IDENTITY | {"password": password})) for password in ("one", "two"))
    assert changes(old, new) == Changes(clusters={"orders": frozenset({"identity.password"})})


def test_topic_ids_are_hidden_from_the_start_or_not_at_all() -> None:
    """Clients that know topic ids cannot forget them; the rest of failover can be applied."""
    found = changes(config(), config(cluster(failover={"hide_topic_ids_from": "", "after": 1})))
    restart = ("clusters.orders.failover.hide_topic_ids_from",)
    assert found == Changes(restart, {"orders": frozenset({"failover.after"})})


def test_of_a_cluster_what_takes_a_restart() -> None:
    """Telemetry that is switched on takes a restart; changes that can be applied are listed beside it."""
    found = changes(config(), config(cluster(listen="h:5", advertised_host="k", telemetry={})))
    assert found == Changes(("clusters.orders.telemetry",), {"orders": frozenset({"advertised_host", "listen"})})


SUBSCRIPTION = {"name": "all", "metrics": "*"}


@pytest.mark.parametrize(
    ("changed", "can", "cannot"),
    [
        ({"subscriptions": [SUBSCRIPTION]}, ["telemetry.subscriptions"], []),
        ({"admin": "any", "interval": "1m"}, ["telemetry.admin", "telemetry.interval"], []),
        ({"max_bytes": "2MiB"}, [], ["telemetry.max_bytes"]),
        ({"max_fields": 99, "require_principal": True}, ["telemetry.max_fields", "telemetry.require_principal"], []),
        ({"receivers": [], "admin": "none"}, ["telemetry.admin"], ["telemetry.receivers"]),
        (None, [], ["telemetry"]),
    ],
)
def test_of_telemetry(changed: dict[str, Any] | None, can: list[str], cannot: list[str]) -> None:
    """Subscriptions, interval and admin can be applied; other changes take a restart; in both directions."""
    with_it, other = config(cluster(telemetry={})), config(cluster(telemetry=changed))
    expected = Changes(tuple(f"clusters.orders.{key}" for key in cannot), {"orders": frozenset(can)} if can else {})
    assert changes(with_it, other) == changes(other, with_it) == expected


def test_clusters_that_come_and_go() -> None:
    """A renamed one is removed and added."""
    found = changes(config(cluster(), cluster("audit")), config(cluster(), cluster("billing")))
    assert found == Changes(added=("billing",), removed=("audit",))
    assert found


@pytest.mark.parametrize(
    ("destination", "restart"),
    [
        ({"type": "kafka", "name": "e", "topic": "events", "cluster": "audit"}, ("clusters.audit",)),
        ({"type": "kafka", "name": "e", "topic": "events", "bootstrap_servers": "z:1"}, ()),
        ({"type": "files", "name": "e", "directory": "/tmp"}, ()),
    ],
)
def test_one_that_has_the_events_takes_a_restart(destination: dict[str, Any], restart: tuple[str, ...]) -> None:
    """The event stream keeps its destinations, and so must the virtual cluster that it writes to."""
    events = {"destinations": [destination]}
    before = config(cluster(), cluster("audit"), events=events)
    after = before.model_copy(update={"clusters": before.clusters[:1]})
    assert changes(before, after).restart == restart


def test_the_same_in_other_words_is_no_change() -> None:
    """Neither the order of clusters nor the long form of a single backend counts."""
    old = config(cluster(), cluster("audit"), log={"level": "info"})
    long = cluster(bootstrap_servers=[], upstreams=[{"name": "main", "bootstrap_servers": ["a:1"]}])
    assert not changes(old, config(cluster("audit"), long))
    assert changes(old, old) == Changes()
    assert changes(config(), config(log={"level": "debug"}))


def test_the_order_of_upstreams_is_a_change() -> None:
    """The order is significant: it is the order of failover."""
    old, new = (config(cluster(bootstrap_servers="", upstreams=order)) for order in ([EAST, WEST], [WEST, EAST]))
    assert changes(old, new).clusters == {"orders": frozenset({"upstreams"})}


NAMES = {"strategy": "sni", "pattern": "b$(node_id).example.com"}
BY_NAME = {"advertised_host": "a.example.com", "tls": {"certificate": "c"}, "nodes": NAMES}


@pytest.mark.parametrize(
    ("changed", "applied", "restart"),
    [
        ({"nodes": NAMES | {"pattern": "c$(node_id).example.com"}}, {"nodes.pattern"}, ()),
        ({"nodes": NAMES | {"advertised_port": 443}}, {"nodes.advertised_port"}, ()),
        ({"tls": {"certificate": "d"}}, {"tls.certificate"}, ()),
        ({"advertised_host": "d.example.com"}, set(), ("clusters.orders.advertised_host",)),
        ({"nodes": {}}, {"nodes.pattern"}, ("clusters.orders.nodes.strategy",)),
    ],
)
def test_nodes_with_names(changed: dict[str, Any], applied: set[str], restart: tuple[str, ...]) -> None:
    """Patterns and certificates apply; the bootstrap name, and names in place of ports, take a restart."""
    found = changes(config(cluster() | BY_NAME), config(cluster() | BY_NAME | changed))
    assert found.restart == restart
    assert found.clusters.get("orders", frozenset()) == applied
