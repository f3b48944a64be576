"""The chart's objects: strictly valid for every Kubernetes it supports, and consistent with kproxy's configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kproxy.config import Config, GroupRule, Telemetry, load
from kproxy.config.tls import UpstreamTls
from tests.deploy.support import chart
from tests.support import tools
from tests.support.proxy import KPROXY

OLDEST, NEWEST = "1.30", "1.37"
DRAIN_MARGIN = 5


@pytest.fixture(params=chart.VALUES)
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> list[chart.Object]:
    """Return the objects that one set of values renders."""
    return chart.rendered(chart.VALUES[request.param], tmp_path)


def _config(objects: list[chart.Object], directory: Path) -> Config:
    file = directory / "kproxy.yaml"
    file.write_text(chart.configuration(objects))
    return load(file, {}, chart.environment(objects))


def _pod(objects: list[chart.Object]) -> dict[str, Any]:
    spec: dict[str, Any] = chart.only(objects, "Deployment")["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("name", chart.VALUES)
def test_lints(name: str, tmp_path: Path) -> None:
    """helm lint --strict has no warning."""
    values = chart.values_file(chart.VALUES[name], tmp_path)
    done = chart.helm("lint", "--strict", chart.CHART, "--values", values)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_matches_the_schemas_of_kubernetes(version: str, tmp_path: Path) -> None:
    """Every object of every set of values has only fields that this Kubernetes knows, of the right types."""
    files, count = [], 0
    for name, values in chart.VALUES.items():
        done = chart.template(values, tmp_path)
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(done.stdout)
        count += done.stdout.count("\nkind: ") - done.stdout.count("\nkind: ServiceMonitor")
    done = tools.run(tools.ensure("kubernetes-validate"), "-k", version, "--strict", *files)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert said.count(" passed for resource ") == count


def test_kproxy_accepts_its_configuration(objects: list[chart.Object], tmp_path: Path) -> None:
    """`kproxy config check` takes the ConfigMap's file, with the variables of the container."""
    file = tmp_path / "kproxy.yaml"
    file.write_text(chart.configuration(objects))
    tools.output(KPROXY, "config", "check", file, env=chart.environment(objects))


def test_upstreams_come_to_kproxy_in_their_order(tmp_path: Path) -> None:
    """Upstreams keep names, servers, order and failover settings; a drain sends clients to the other replicas."""
    config = _config(chart.rendered(chart.VALUES["failover"], tmp_path), tmp_path)
    (cluster,) = config.clusters
    servers = {upstream.name: list(map(str, upstream.bootstrap_servers)) for upstream in cluster.backends}
    assert list(servers.items()) == [(given["name"], given["bootstrapServers"]) for given in chart.UPSTREAMS]
    assert (cluster.failover.automatic, cluster.failover.after, cluster.failover.floor) == (True, 30, 900)
    assert cluster.failover.hide_topic_ids_from == ()
    assert cluster.failover.separate_producer_ids is False
    assert config.drain.rebootstrap


def test_telemetry_comes_to_kproxy(tmp_path: Path) -> None:
    """Telemetry arrives as it was given, and `{}` switches it on; Prometheus scrapes the clients' page if asked to."""
    objects = chart.rendered(chart.VALUES["telemetry"], tmp_path)
    config = _config(objects, tmp_path)
    expected = {key: value for key, value in chart.TELEMETRY.items() if key != "maxBytes"} | {"max_bytes": 512 * 1024}
    assert config.clusters[0].telemetry == Telemetry.model_validate(expected)
    assert [receiver.name for receiver in config.receivers] == ["scrape", "lake"]
    endpoints = chart.only(objects, "ServiceMonitor")["spec"]["endpoints"]
    assert [endpoint["path"] for endpoint in endpoints] == ["/metrics", "/metrics/clients"]
    bare = _config(chart.rendered({"clusters": [{**chart.MAIN, "telemetry": {}}]}, tmp_path), tmp_path)
    assert bare.clusters[0].telemetry == Telemetry()


def test_hosted_groups_come_to_kproxy(tmp_path: Path) -> None:
    """As they were given; a rollout ends the old pod first, so that no group has two coordinators at once."""
    objects = chart.rendered(chart.VALUES["groups"], tmp_path)
    first, second = _config(objects, tmp_path).clusters[0].groups
    assert (first.match, first.initial_rebalance_delay, first.offset_refresh) == ("orders-.*", 0.5, 3600)
    assert (first.min_session_timeout, first.max_session_timeout) == (10, 300)
    assert (first.max_members, first.leader) == (500, "random")
    assert second == GroupRule(match="audit")
    assert chart.only(objects, "Deployment")["spec"]["strategy"] == {"type": "Recreate"}
    assert _pod(objects)["securityContext"]["fsGroup"] == 65532, "a fresh volume belongs to root"
    others = chart.only(chart.rendered(chart.VALUES["single"], tmp_path), "Deployment")["spec"]
    assert others["strategy"]["type"] == "RollingUpdate"


def test_tls_and_the_identity_come_to_kproxy(tmp_path: Path) -> None:
    """As they were given, of the virtual cluster and of each upstream; an empty upstreamTls switches TLS on."""
    identity = {"mechanism": "SCRAM-SHA-512", "username": "kproxy", "passwordFile": "/identity/password"}
    tls = {"certificate": "/tls/tls.crt", "key": "/tls/tls.key", "clientCa": "/tls/ca.crt", "minVersion": "TLSv1.3"}
    one = {**chart.MAIN, "tls": tls, "upstreamTls": {}, "identity": identity}
    (cluster,) = _config(chart.rendered({"clusters": [one]}, tmp_path), tmp_path).clusters
    assert cluster.tls is not None
    assert (cluster.tls.key, cluster.tls.client_ca, cluster.tls.min_version) == (
        "/tls/tls.key",
        "/tls/ca.crt",
        "TLSv1.3",
    )
    assert cluster.upstream_tls == UpstreamTls()
    assert cluster.identity is not None
    assert (cluster.identity.username, cluster.identity.password_file) == ("kproxy", "/identity/password")
    east: dict[str, object] = {"name": "east", "bootstrapServers": ["east:9093"]}
    west: dict[str, object] = {"name": "west", "bootstrapServers": ["west:9093"]}
    several = {key: value for key, value in chart.MAIN.items() if key != "bootstrapServers"}
    west |= {"tls": {"serverName": "kafka.west", "dangerouslyAcceptAnyHostName": True}, "identity": identity}
    values = {"clusters": [{**several, "upstreams": [east, west]}]}
    (cluster,) = _config(chart.rendered(values, tmp_path), tmp_path).clusters
    first, second = cluster.upstreams
    assert (first.tls, first.identity) == (None, None)
    assert second.tls == UpstreamTls(server_name="kafka.west", dangerously_accept_any_host_name=True)
    assert second.identity is not None
    assert second.identity.mechanism == "SCRAM-SHA-512"


def test_names_for_web_pages_come_to_kproxy(tmp_path: Path) -> None:
    """As they were given; the admin listener stays what it is."""
    values = {"clusters": [chart.MAIN], "admin": {"allowedHosts": ["kproxy.example.com"]}}
    admin = _config(chart.rendered(values, tmp_path), tmp_path).admin
    assert admin is not None
    assert (admin.allowed_hosts, admin.listen.port) == (("kproxy.example.com",), 9190)


def test_balancers_that_speak_the_proxy_protocol(tmp_path: Path) -> None:
    """Their networks come to kproxy, as does the cluster's own limit."""
    own = {"proxyProtocol": {"networks": ["10.0.0.0/8"]}, "maxConnections": 5000}
    (cluster,) = _config(chart.rendered({"clusters": [{**chart.MAIN, **own}]}, tmp_path), tmp_path).clusters
    assert (cluster.proxy_protocol.networks, cluster.max_connections) == (("10.0.0.0/8",), 5000)


def test_the_token_of_commands(tmp_path: Path) -> None:
    """A Secret's key is mounted where kproxy looks for it; without one there is neither mount nor setting."""
    admin = {"tokenSecret": {"name": "operators", "key": "secret"}}
    for values, token_file in (({}, None), ({"admin": admin}, "/etc/kproxy-admin/secret")):
        objects = chart.rendered({"clusters": [chart.MAIN], **values}, tmp_path)
        config = _config(objects, tmp_path).admin
        assert config is not None
        assert config.token_file == token_file
        (deployment,) = chart.of_kind(objects, "Deployment")
        pod = deployment["spec"]["template"]["spec"]
        mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert mounts.get("admin-token") == (None if token_file is None else "/etc/kproxy-admin")
        if token_file is not None:
            secret = {"secretName": "operators", "items": [{"key": "secret", "path": "secret"}]}
            assert volumes["admin-token"]["secret"] == secret


def test_every_node_has_its_port_in_the_service(objects: list[chart.Object], tmp_path: Path) -> None:
    """For each cluster the Service maps the bootstrap port and, by node id, exactly the ports that kproxy will bind."""
    config = _config(objects, tmp_path)
    services = {service["metadata"]["name"]: service for service in chart.of_kind(objects, "Service")}
    for cluster in config.clusters:
        ids = [node for nodes in cluster.nodes.ranges for node in range(nodes.first, nodes.last + 1)]
        expected = {"bootstrap": cluster.listen.port}
        expected |= {f"node-{node}": cluster.first_port + index for index, node in enumerate(ids)}
        service = services.pop(f"kproxy-{cluster.name}")
        assert {port["name"]: port["port"] for port in service["spec"]["ports"]} == expected
        assert {port["name"]: port["targetPort"] for port in service["spec"]["ports"]} == expected
        advertised = {
            port["nodePort"] for port in service["spec"]["ports"] if "nodePort" in port and port["name"] != "bootstrap"
        }
        first = cluster.nodes.advertised_first_port
        assert advertised == (set(range(first, first + len(ids))) if first else set())
    assert list(services) == ["kproxy"]


def test_clients_get_the_service_name(objects: list[chart.Object], tmp_path: Path) -> None:
    """The advertised host is the Service's own name, unless the values give another."""
    for cluster in _config(objects, tmp_path).clusters:
        assert cluster.advertised_host in {f"kproxy-{cluster.name}.{chart.NAMESPACE}.svc", "kafka.example.org"}


def test_the_pod_outlives_its_drain(objects: list[chart.Object], tmp_path: Path) -> None:
    """terminationGracePeriodSeconds covers preStop and the drain deadline, so that kproxy is never killed."""
    pod = _pod(objects)
    hook = pod["containers"][0].get("lifecycle", {}).get("preStop", {}).get("sleep", {"seconds": 0})
    needed = hook["seconds"] + _config(objects, tmp_path).drain.deadline
    assert pod["terminationGracePeriodSeconds"] >= needed + DRAIN_MARGIN


def test_probes_ask_the_admin_listener(objects: list[chart.Object], tmp_path: Path) -> None:
    """Both probes use the port of kproxy's admin listener, whatever its number."""
    admin = _config(objects, tmp_path).admin
    container = _pod(objects)["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"] if "name" in port}
    assert admin is not None
    assert ports == {"admin": admin.listen.port}
    paths = {kind: container[f"{kind}Probe"]["httpGet"] for kind in ("liveness", "readiness")}
    assert paths == {
        "liveness": {"path": "/livez", "port": "admin"},
        "readiness": {"path": "/readyz", "port": "admin"},
    }


def test_selectors_find_the_pods(objects: list[chart.Object]) -> None:
    """Services, budget, policy and spread select labels that the pods have; the monitor selects the admin Service."""
    labels = chart.only(objects, "Deployment")["spec"]["template"]["metadata"]["labels"].items()
    pod = _pod(objects)
    selectors = [service["spec"]["selector"] for service in chart.of_kind(objects, "Service")]
    selectors += [b["spec"]["selector"]["matchLabels"] for b in chart.of_kind(objects, "PodDisruptionBudget")]
    selectors += [p["spec"]["podSelector"]["matchLabels"] for p in chart.of_kind(objects, "NetworkPolicy")]
    selectors += [spread["labelSelector"]["matchLabels"] for spread in pod["topologySpreadConstraints"]]
    assert all(selector.items() <= labels for selector in selectors)
    for monitor in chart.of_kind(objects, "ServiceMonitor"):
        wanted = monitor["spec"]["selector"]["matchLabels"].items()
        chosen = [s for s in chart.of_kind(objects, "Service") if wanted <= s["metadata"]["labels"].items()]
        assert [service["metadata"]["name"] for service in chosen] == ["kproxy"]


def test_a_new_configuration_rolls_the_pods(tmp_path: Path) -> None:
    """The pod template changes with the configuration, and with nothing else."""

    def checksum(**values: Any) -> str:
        deployment = chart.only(chart.rendered({"clusters": [chart.MAIN], **values}, tmp_path), "Deployment")
        return str(deployment["spec"]["template"]["metadata"]["annotations"]["checksum/config"])

    assert checksum() == checksum(replicas=5)
    assert checksum() != checksum(config={"limits": {"max_connections": 5}})


def test_no_budget_for_a_single_replica(tmp_path: Path) -> None:
    """A budget for one replica would keep a machine from being drained for ever."""
    kinds = {name: {found["kind"] for found in chart.rendered(chart.VALUES[name], tmp_path)} for name in chart.VALUES}
    assert "PodDisruptionBudget" not in kinds["single"]
    assert "PodDisruptionBudget" in kinds["minimal"]
    assert {"NetworkPolicy", "ServiceMonitor"} <= kinds["everything"]
    assert not {"NetworkPolicy", "ServiceMonitor"} & kinds["minimal"]


def test_notes_name_the_bootstrap_address(tmp_path: Path) -> None:
    """helm's notes after an install give clients their bootstrap.servers."""
    where = ("--namespace", chart.NAMESPACE, "--dry-run=client")
    values = chart.values_file(chart.VALUES["minimal"], tmp_path)
    done = chart.helm("install", chart.RELEASE, chart.CHART, *where, "--values", values)
    assert f"bootstrap.servers=kproxy-main.{chart.NAMESPACE}.svc:9092" in done.stdout, done.stderr


def test_notes_name_every_upstream(tmp_path: Path) -> None:
    """The notes name each upstream with its servers, in order."""
    values = chart.values_file(chart.VALUES["failover"], tmp_path)
    done = chart.helm("install", chart.RELEASE, chart.CHART, "--dry-run=client", "--values", values)
    assert "main (east: kafka-0.east:9092,kafka-1.east:9092; west: kafka-0.west:9092)\n" in done.stdout, done.stderr
