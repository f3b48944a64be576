"""values.schema.json and the chart's own checks: a wrong value is refused, and the message says where and why."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.support import chart

NAMES = {"strategy": "sni", "pattern": "b$(node_id).example.org"}
REFUSED: Mapping[str, tuple[dict[str, Any], str]] = {
    "no clusters": ({"clusters": []}, "at '/clusters': minItems: got 0, want 1"),
    "unknown key": ({"replica": 3}, "additional properties 'replica' not allowed"),
    "misspelt nested key": (
        {"service": {"tpye": "ClusterIP"}},
        "at '/service': additional properties 'tpye' not allowed",
    ),
    "wrong type": ({"replicas": "two"}, "at '/replicas': got string, want integer"),
    "unknown service type": ({"service": {"type": "ExternalName"}}, "at '/service/type'"),
    "pull policy": ({"image": {"pullPolicy": "ifNotPresent"}}, "at '/image/pullPolicy'"),
    "digest": ({"image": {"digest": "latest"}}, "at '/image/digest'"),
    "generated key": ({"config": {"clusters": []}}, "at '/config/clusters': false schema"),
    "interval": ({"serviceMonitor": {"interval": "30"}}, "at '/serviceMonitor/interval'"),
    "bind address": ({"bindAddress": "127.0.0.1"}, "at '/bindAddress'"),
    "quantity": ({"resources": {"limits": {"memory": "256 MB"}}}, "at '/resources/limits/memory'"),
}
REFUSED_CLUSTER: Mapping[str, tuple[dict[str, Any], str]] = {
    "no ranges": ({"nodes": {}}, "at '/clusters/0/nodes': missing property 'ranges'"),
    "names without a pattern": ({"nodes": {"strategy": "sni"}}, "at '/clusters/0/nodes': missing property 'pattern'"),
    "names without TLS": ({"nodes": NAMES}, "at '/clusters/0': missing properties 'tls', 'advertisedHost'"),
    "names and ranges": ({**chart.NAMED, "nodes": NAMES | {"ranges": ["0"]}}, "at '/clusters/0/nodes/ranges': false"),
    "a pattern for ports": ({"nodes": {"ranges": ["0"], "pattern": "b$(node_id).x"}}, "nodes/pattern': false schema"),
    "a pattern without an id": ({**chart.NAMED, "nodes": NAMES | {"pattern": "b.x"}}, "at '/clusters/0/nodes/pattern'"),
    "names at another node port": (
        {**chart.NAMED, "nodePort": 30092, "nodes": NAMES | {"advertisedPort": 30093}},
        "main: nodePort: 30092 must be nodes.advertisedPort, where nodes have names: there is one port",
    ),
    "empty ranges": ({"nodes": {"ranges": []}}, "at '/clusters/0/nodes/ranges': minItems: got 0, want 1"),
    "port 0": ({"port": 0}, "at '/clusters/0/port': minimum: got 0, want 1"),
    "server without port": ({"bootstrapServers": ["kafka"]}, "at '/clusters/0/bootstrapServers/0'"),
    "two ways to name the backend": (
        {"upstreams": chart.UPSTREAMS},
        "main: give either bootstrapServers or upstreams, not both",
    ),
    "upstream without servers": ({"upstreams": [{"name": "east"}]}, "at '/clusters/0/upstreams/0': missing property"),
    "upstream's name": ({"upstreams": [{"name": "East"}]}, "at '/clusters/0/upstreams/0/name'"),
    "failover as a flag": ({"failover": True}, "at '/clusters/0/failover': got boolean, want object"),
    "unknown key of failover": ({"failover": {"when": "60s"}}, "additional properties 'when' not allowed"),
    "seconds without a unit": ({"failover": {"after": 60}}, "at '/clusters/0/failover/after': got number, want string"),
    "nowhere to fail over": (
        {"failover": {"automatic": True}},
        "main: failover.automatic: needs at least two upstreams",
    ),
    "a name for the ConfigMap": (
        {"failover": {"configMap": "orders"}},
        "at '/clusters/0/failover/configMap': got string, want boolean",
    ),
    "a topic that Kafka does not take": (
        {"failover": {"controlTopic": "a b"}},
        "at '/clusters/0/failover/controlTopic'",
    ),
    "nothing to agree on": (
        {"failover": {"configMap": True}},
        "main: failover.configMap: needs at least two upstreams",
    ),
    "nothing to agree on by a topic": (
        {"failover": {"controlTopic": "a"}},
        "main: failover.controlTopic: needs at least two upstreams",
    ),
    "telemetry as a flag": ({"telemetry": True}, "at '/clusters/0/telemetry': got boolean, want object"),
    "who may alter": ({"telemetry": {"admin": "all"}}, "at '/clusters/0/telemetry/admin'"),
    "kproxy's spelling": ({"telemetry": {"max_bytes": "1MiB"}}, "additional properties 'max_bytes' not allowed"),
    "bytes without a unit": ({"telemetry": {"maxBytes": 1024}}, "at '/clusters/0/telemetry/maxBytes'"),
    "subscription without metrics": (
        {"telemetry": {"subscriptions": [{"name": "all"}]}},
        "at '/clusters/0/telemetry/subscriptions/0': missing property 'metrics'",
    ),
    "a group that matches nothing": ({"groups": [{}]}, "at '/clusters/0/groups/0': missing property 'match'"),
    "who leads": ({"groups": [{"match": "a", "leader": "last"}]}, "at '/clusters/0/groups/0/leader'"),
    "groups in two replicas": ({"groups": [{"match": "a"}]}, "main: groups: needs replicas: 1: each replica would"),
    "TLS without a certificate": ({"tls": {"key": "a"}}, "at '/clusters/0/tls': missing property 'certificate'"),
    "a version of TLS": ({"upstreamTls": {"minVersion": "1.2"}}, "at '/clusters/0/upstreamTls/minVersion'"),
    "a password in the values": ({"identity": {"mechanism": "PLAIN", "password": "a"}}, "'password' not allowed"),
    "name": ({"name": "Main"}, "at '/clusters/0/name'"),
    "range of words": ({"nodes": {"ranges": ["all"]}}, "at '/clusters/0/nodes/ranges/0'"),
    "a number for a range": ({"nodes": {"ranges": [1]}}, "at '/clusters/0/nodes/ranges/0': got number, want string"),
    "range reversed": ({"nodes": {"ranges": ["2-0"]}}, "main: nodes.ranges: 2-0 ends before it begins"),
    "node twice": ({"nodes": {"ranges": ["0-2", "2-3"]}}, "main: nodes.ranges: node 2 is named twice"),
    "node id": ({"nodes": {"ranges": ["2147483648"]}}, "the highest node id of Kafka is 2147483647"),
    "too many nodes": ({"nodes": {"ranges": ["0-99"]}}, "main: nodes.ranges: more than 99 nodes"),
    "too many in parts": ({"nodes": {"ranges": ["0-60", "100-140"]}}, "main: nodes.ranges: more than 99 nodes"),
    "no room": (
        {"nodes": {"ranges": ["0-2"], "firstPort": 65534}},
        "main: nodes.firstPort: 65534 leaves no room for 3 nodes below 65536",
    ),
    "admin's port": (
        {"nodes": {"ranges": ["0-2"], "firstPort": 9188}},
        "port 9190 of cluster main (node 2) is taken by admin.port",
    ),
    "own bootstrap port": (
        {"nodes": {"ranges": ["0-2"], "firstPort": 9090}},
        "port 9092 of cluster main (node 2) is taken by cluster main (bootstrap)",
    ),
}


def _refusal(values: Mapping[str, Any], directory: Path) -> str:
    done = chart.template(values, directory)
    assert done.returncode != 0, done.stdout
    return done.stderr


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_a_wrong_value(name: str, tmp_path: Path) -> None:
    """A wrong value outside of the clusters is refused; the message has its place."""
    wrong, message = REFUSED[name]
    assert message in _refusal({"clusters": [chart.MAIN], **wrong}, tmp_path)


@pytest.mark.parametrize("name", REFUSED_CLUSTER)
def test_refuses_a_wrong_cluster(name: str, tmp_path: Path) -> None:
    """A cluster that cannot be served is refused; the message has its place or its name."""
    wrong, message = REFUSED_CLUSTER[name]
    assert message in _refusal({"clusters": [{**chart.MAIN, **wrong}]}, tmp_path)


def test_refuses_groups_that_are_sent_away(tmp_path: Path) -> None:
    """kproxy would refuse it as well, when the old pod has ended already."""
    values = {"clusters": [{**chart.MAIN, "groups": chart.GROUPS}], "replicas": 1, "drain": {"rebootstrap": True}}
    assert "main: groups: go with drain.rebootstrap: false" in _refusal(values, tmp_path)


def test_refuses_replicas_with_one_state(tmp_path: Path) -> None:
    """The second one would wait for the file, and never start."""
    values = {**chart.VALUES["groups"], "clusters": [chart.MAIN], "replicas": 2}
    assert "config.state.path: is on a PersistentVolumeClaim" in _refusal(values, tmp_path)


def test_refuses_the_account_of_everybody(tmp_path: Path) -> None:
    """Every pod that has no account of its own could switch the clients."""
    values = {"clusters": [chart.AGREEING], "serviceAccount": {"create": False}}
    assert "failover.configMap: needs a ServiceAccount of its own" in _refusal(values, tmp_path)


def test_refuses_the_chart_without_values() -> None:
    """The defaults alone lack a cluster, and the message says so."""
    done = chart.helm("template", "kproxy", chart.CHART)
    assert done.returncode != 0
    assert "at '/clusters': minItems: got 0, want 1" in done.stderr


def test_refuses_node_port_without_its_ports(tmp_path: Path) -> None:
    """service.type NodePort needs the host and the ports that are advertised to clients outside."""
    message = _refusal({"clusters": [chart.MAIN], "service": {"type": "NodePort"}}, tmp_path)
    assert "at '/clusters/0': missing property 'advertisedHost'" in message
    assert "at '/clusters/0/nodes': missing property 'advertisedFirstPort'" in message


def test_refuses_clusters_that_share_a_port(tmp_path: Path) -> None:
    """All clusters live in one pod, so their ports and names must differ."""
    other = {**chart.MAIN, "name": "audit"}
    message = _refusal({"clusters": [chart.MAIN, other]}, tmp_path)
    assert "port 9092 of cluster audit (bootstrap) is taken by cluster main (bootstrap)" in message
    assert "the name main is given twice" in _refusal({"clusters": [chart.MAIN, chart.MAIN]}, tmp_path)


def test_refuses_a_cluster_without_a_backend(tmp_path: Path) -> None:
    """A cluster has either bootstrapServers or upstreams; an upstream's name appears once."""
    message = _refusal({"clusters": [{"name": "main", "nodes": {"ranges": ["0-2"]}}]}, tmp_path)
    assert "at '/clusters/0': missing property 'bootstrapServers'" in message
    assert "at '/clusters/0': missing property 'upstreams'" in message
    twice = {"name": "main", "nodes": {"ranges": ["0-2"]}, "upstreams": [chart.UPSTREAMS[0], chart.UPSTREAMS[0]]}
    assert "main: upstreams: the name east is given twice" in _refusal({"clusters": [twice]}, tmp_path)


def test_refuses_two_ways_to_agree(tmp_path: Path) -> None:
    """A topic and a ConfigMap could say different things."""
    both = {**chart.AGREEING, "failover": {"configMap": True, "controlTopic": "a"}}
    message = _refusal({"clusters": [both]}, tmp_path)
    assert "main: failover: give either controlTopic or configMap, not both" in message


def test_refuses_an_old_kubernetes(tmp_path: Path) -> None:
    """Before 1.30 preStop has no sleep action, and the chart says so."""
    message = chart.template(chart.VALUES["minimal"], tmp_path, "--kube-version", "1.29").stderr
    assert "chart requires kubeVersion: >=1.30.0-0" in message


def test_schema_knows_every_default() -> None:
    """Each default value is in the schema, and each value of the schema in values.yaml: no key is undocumented."""
    defaults = yaml.safe_load((chart.CHART / "values.yaml").read_text())
    schema = json.loads((chart.CHART / "values.schema.json").read_text())
    assert set(schema["properties"]) - {"global"} == set(defaults)
    for key, group in schema["properties"].items():
        if group.get("additionalProperties") is False and "properties" in group and defaults[key]:
            assert set(group["properties"]) == set(defaults[key]), key


def test_schema_is_closed() -> None:
    """Every object of the schema with known keys refuses others."""
    schema = json.loads((chart.CHART / "values.schema.json").read_text())
    open_for_a_reason = {"config", "namedObjects"}
    groups = copy.deepcopy(schema["properties"]) | schema["$defs"]
    for name, group in groups.items():
        if "properties" in group and name not in open_for_a_reason:
            assert group.get("additionalProperties") is False, name
