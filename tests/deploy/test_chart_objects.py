"""The chart's objects: strictly valid for every Kubernetes it supports, and consistent with kproxy's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kproxy.config import Config, GroupRule, Telemetry, load
from kproxy.config.tls import AdminTls, UpstreamTls
from tests.deploy.support import chart
from tests.support import tools
from tests.support.authority import Authority
from tests.support.proxy import KPROXY

OLDEST, NEWEST = "1.30", "1.37"
PATTERN = "b$(node_id).main.example.org"
DRAIN_MARGIN = 15
"""Seconds for which events and telemetry are delivered behind the drain, and the state is closed, at most."""


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
    own, file = Authority(tmp_path).signed("kproxy"), tmp_path / "kproxy.yaml"
    text = chart.configuration(objects)
    for directory in ("/etc/kproxy-admin-tls", "/tls"):
        text = text.replace(f"{directory}/tls.crt", str(own.chain)).replace(f"{directory}/tls.key", str(own.key))
    file.write_text(text)
    for name in ("token", "namespace", "ca.crt"):
        (tmp_path / name).write_text("as in a pod")
    mounted = {"KUBERNETES_SERVICE_ACCOUNT_DIR": str(tmp_path)}
    tools.output(KPROXY, "config", "check", file, env=chart.environment(objects) | mounted)


def test_upstreams_come_to_kproxy_in_their_order(tmp_path: Path) -> None:
    """Upstreams keep names, servers, order and failover settings; a drain sends clients to the other replicas."""
    config = _config(chart.rendered(chart.VALUES["failover"], tmp_path), tmp_path)
    (cluster,) = config.clusters
    servers = {upstream.name: list(map(str, upstream.bootstrap_servers)) for upstream in cluster.backends}
    assert list(servers.items()) == [(given["name"], given["bootstrapServers"]) for given in chart.UPSTREAMS]
    assert (cluster.failover.automatic, cluster.failover.after, cluster.failover.floor) == (True, 30, 900)
    assert cluster.failover.hide_topic_ids_from == ()
    assert cluster.failover.separate_producer_ids is False
    assert cluster.failover.standby_interval == 20
    assert config.drain.rebootstrap


def test_replicas_agree(objects: list[chart.Object], tmp_path: Path) -> None:
    """The pods have a token for Kubernetes' API where a ConfigMap is used, and it opens that ConfigMap alone."""
    config = _config(objects, tmp_path)
    names = {cluster.failover.config_map for cluster in config.clusters} - {None}
    assert _pod(objects)["automountServiceAccountToken"] is bool(names)
    assert chart.only(objects, "ServiceAccount")["automountServiceAccountToken"] is False
    roles, bindings = chart.of_kind(objects, "Role"), chart.of_kind(objects, "RoleBinding")
    assert len(roles) == len(bindings) == len(names)
    for role, binding, name in zip(roles, bindings, names, strict=True):
        verbs = ["get", "watch", "patch", "create"]
        rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [name], "verbs": verbs}
        assert role["rules"] == [rule]
        assert binding["roleRef"]["name"] == role["metadata"]["name"]
        account = {"kind": "ServiceAccount", "name": _pod(objects)["serviceAccountName"], "namespace": chart.NAMESPACE}
        assert binding["subjects"] == [account]
    assert names.isdisjoint(found["metadata"]["name"] for found in chart.of_kind(objects, "ConfigMap"))


def test_ways_to_agree_come_to_kproxy(tmp_path: Path) -> None:
    """A topic as it was given; the ConfigMap is named after the release."""
    for values, expected in (("control-topic", ("kproxy-orders", None)), ("config-map", (None, "kproxy-orders"))):
        config = _config(chart.rendered(chart.VALUES[values], tmp_path), tmp_path)
        failover = config.clusters[0].failover
        assert (failover.control_topic, failover.config_map) == expected


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


def test_client_credentials_come_to_kproxy(tmp_path: Path) -> None:
    """A group within the identity: its keys are written as kproxy's, too."""
    grant = {"tokenEndpoint": "https://login/token", "clientId": "kproxy", "clientSecretFile": "/s", "scope": "a b"}
    identity = {"mechanism": "OAUTHBEARER", "clientCredentials": grant}
    objects = chart.rendered({"clusters": [{**chart.MAIN, "identity": identity}]}, tmp_path)
    (cluster,) = _config(objects, tmp_path).clusters
    assert cluster.identity is not None
    found = cluster.identity.client_credentials
    assert found is not None
    assert (found.endpoint.where, found.client_id) == ("https://login:443/token", "kproxy")
    assert (found.client_secret_file, found.scope) == ("/s", "a b")


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


def test_clients_that_authenticate_to_kproxy(tmp_path: Path) -> None:
    """By users, tokens or certificates; names of claims stay as they are."""
    tls = {"certificate": "/tls/tls.crt", "key": "/tls/tls.key", "clientCa": "/clients/ca.crt"}
    tokens = {
        "issuer": "https://login.example.org/",
        "audience": ["kafka"],
        "jwksUrl": "https://login.example.org/keys",
        "requiredClaims": {"tenantId": "a"},
        "clockSkew": "10s",
    }
    users = {"mechanisms": ["SCRAM-SHA-512", "OAUTHBEARER"], "usersFile": "/users/users", "oauthbearer": tokens}
    rules = {"certificates": [{"subject": "CN=(.*)", "principal": "$1"}]}
    both = [
        {**chart.MAIN, "tls": tls, "authentication": {**users, "sessionLifetime": "1h"}},
        {**chart.MAIN, "name": "other", "port": 9192, "tls": tls, "authentication": rules},
    ]
    one, other = _config(chart.rendered({"clusters": both}, tmp_path), tmp_path).clusters
    assert one.authentication is not None
    assert other.authentication is not None
    assert one.authentication.oauthbearer is not None
    assert one.authentication.oauthbearer.required_claims == {"tenantId": "a"}
    assert (one.authentication.session_lifetime, one.authentication.users_file) == (3600, "/users/users")
    assert [rule.principal for rule in other.authentication.certificates] == ["$1"]


def test_names_for_web_pages_come_to_kproxy(tmp_path: Path) -> None:
    """As they were given; the admin listener stays what it is."""
    values = {"clusters": [chart.MAIN], "admin": {"allowedHosts": ["kproxy.example.com"]}}
    admin = _config(chart.rendered(values, tmp_path), tmp_path).admin
    assert admin is not None
    assert (admin.allowed_hosts, admin.listen.port) == (("kproxy.example.com",), 9190)


def test_balancers_that_speak_the_proxy_protocol(tmp_path: Path) -> None:
    """Their networks come to kproxy, as does the cluster's own limit."""
    own = {"proxyProtocol": {"networks": ["10.0.0.0/8"]}, "maxConnections": 5000}
    own |= {"maxConnectionsPerPrincipal": 500, "byteRates": [{"principal": "User:batch-.*", "produce": "10MiB"}]}
    (cluster,) = _config(chart.rendered({"clusters": [{**chart.MAIN, **own}]}, tmp_path), tmp_path).clusters
    assert (cluster.proxy_protocol.networks, cluster.max_connections) == (("10.0.0.0/8",), 5000)
    assert cluster.max_connections_per_principal == 500
    assert [(rate.principal, rate.produce) for rate in cluster.byte_rates] == [("User:batch-.*", 10 << 20)]


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


def test_tls_of_the_admin_port(tmp_path: Path) -> None:
    """A Secret's files are mounted where kproxy looks for them; probes, scrapes and commands in the pod use https."""
    tls = {"secretName": "admin-tls", "clientCaKey": "ca.crt", "clientNames": ["operators"]}
    monitor = {"enabled": True, "clients": True}
    objects = chart.rendered({"clusters": [chart.MAIN], "admin": {"tls": tls}, "serviceMonitor": monitor}, tmp_path)
    admin = _config(objects, tmp_path).admin
    assert admin is not None
    assert admin.tls == AdminTls(
        certificate="/etc/kproxy-admin-tls/tls.crt",
        key="/etc/kproxy-admin-tls/tls.key",
        client_ca="/etc/kproxy-admin-tls/ca.crt",
        client_names=("operators",),
    )
    pod = _pod(objects)
    container = pod["containers"][0]
    assert {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}["admin-tls"] == (
        "/etc/kproxy-admin-tls"
    )
    assert {"name": "admin-tls", "secret": {"secretName": "admin-tls"}} in pod["volumes"]
    assert {container[f"{probe}Probe"]["httpGet"]["scheme"] for probe in ("liveness", "readiness")} == {"HTTPS"}
    name = f"kproxy.{chart.NAMESPACE}.svc"
    expected = {"ca": {"secret": {"name": "admin-tls", "key": "ca.crt"}}, "serverName": name}
    for endpoint in chart.only(objects, "ServiceMonitor")["spec"]["endpoints"]:
        assert (endpoint["scheme"], endpoint["tlsConfig"]) == ("https", expected)
    environment = _environment(container)
    assert environment["KPROXY_ADMIN_URL"] == "https://127.0.0.1:9190"
    assert environment["KPROXY_ADMIN_CA_FILE"] == "/etc/kproxy-admin-tls/tls.crt"
    assert environment["KPROXY_ADMIN_SERVER_NAME"] == name


def _environment(container: Mapping[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container["env"]}


def test_commands_inside_the_pod(tmp_path: Path) -> None:
    """They find the admin port and the token, whatever the values say of both."""
    values = {**chart.VALUES["single"], "admin": {"port": 8080, "tokenSecret": {"name": "token", "key": "t"}}}
    container = _pod(chart.rendered(values, tmp_path))["containers"][0]
    environment = _environment(container)
    assert environment["KPROXY_ADMIN_URL"] == "http://127.0.0.1:8080"
    mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert environment["KPROXY_ADMIN_TOKEN_FILE"] == f"{mounted['admin-token']}/t"


def test_a_state_on_a_claim(tmp_path: Path) -> None:
    """The old pod ends first in a rollout: the new one would wait for the file in vain."""
    claim = {"name": "state", "persistentVolumeClaim": {"claimName": "kproxy"}}
    for mount, strategy in (("/state", "Recreate"), ("/other", "RollingUpdate")):
        values = {
            **chart.VALUES["single"],
            "config": {"state": {"path": "/state/kproxy.db"}},
            "extraVolumes": [claim],
            "extraVolumeMounts": [{"name": "state", "mountPath": mount}],
        }
        deployment = chart.only(chart.rendered(values, tmp_path), "Deployment")
        assert deployment["spec"]["strategy"]["type"] == strategy


def test_ports_below_1024(tmp_path: Path) -> None:
    """kproxy may open them without root, and asks for nothing where there is none."""
    low = {"clusters": [{**chart.MAIN, **chart.NAMED, "port": 443, "nodes": {"strategy": "sni", "pattern": PATTERN}}]}
    sysctls = [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}]
    assert _pod(chart.rendered(low, tmp_path))["securityContext"]["sysctls"] == sysctls
    assert "sysctls" not in _pod(chart.rendered(chart.VALUES["single"], tmp_path))["securityContext"]


def test_the_tests_pod_may_ask(tmp_path: Path) -> None:
    """`helm test` reaches the admin port, whoever else may."""
    peers = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    values = {**chart.VALUES["single"], "networkPolicy": {"enabled": True, "monitoring": peers}}
    objects = chart.rendered(values, tmp_path)
    *_, admin = chart.only(objects, "NetworkPolicy")["spec"]["ingress"]
    labels = next(each for each in objects if each["kind"] == "Pod")["metadata"]["labels"]
    assert admin["from"][0] == peers[0]
    assert admin["from"][1]["podSelector"]["matchLabels"].items() <= labels.items()


def test_every_node_has_its_port_in_the_service(objects: list[chart.Object], tmp_path: Path) -> None:
    """For each cluster the Service maps the bootstrap port and, by node id, exactly the ports that kproxy will bind."""
    config = _config(objects, tmp_path)
    services = {service["metadata"]["name"]: service for service in chart.of_kind(objects, "Service")}
    for cluster in config.clusters:
        if cluster.server_names is not None:
            services.pop("kproxy-sni", None)  # a test of its own is below
            continue
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


def test_names_share_one_port_in_one_service(tmp_path: Path) -> None:
    """Two virtual clusters at one port have one Service with that port alone; others keep one of their own."""
    objects = chart.rendered(chart.VALUES["names"], tmp_path)
    services = {service["metadata"]["name"]: service["spec"] for service in chart.of_kind(objects, "Service")}
    assert set(services) == {"kproxy", "kproxy-ports", "kproxy-sni"}
    assert services["kproxy-sni"]["type"] == "LoadBalancer"
    assert services["kproxy-sni"]["ports"] == [{"name": "clients-9093", "port": 9093, "targetPort": 9093}]
    main, bills, _ = _config(objects, tmp_path).clusters
    assert main.listen == bills.listen
    assert main.server_names is not None
    assert bills.server_names is not None
    assert (main.server_names.nodes.name(7), bills.server_names.nodes.name(7)) == (
        "b7.main.example.org",
        "b7.bills.example.org",
    )
    opened = [port["containerPort"] for port in _pod(objects)["containers"][0]["ports"]]
    assert sorted(opened) == [9093, 9190, 9192, 9193, 9194, 9195]
    allowed = chart.only(objects, "NetworkPolicy")["spec"]["ingress"][0]["ports"]
    assert {"port": 9093, "protocol": "TCP"} in allowed


def test_names_at_a_node_port(tmp_path: Path) -> None:
    """The one port of every Kubernetes node is the one that is advertised."""
    objects = chart.rendered(chart.VALUES["names-node-port"], tmp_path)
    (service,) = [one for one in chart.of_kind(objects, "Service") if one["metadata"]["name"] == "kproxy-sni"]
    assert [port["nodePort"] for port in service["spec"]["ports"]] == [30093]
    (cluster,) = _config(objects, tmp_path).clusters
    assert cluster.nodes.advertised_port == 30093


def test_clients_get_the_service_name(objects: list[chart.Object], tmp_path: Path) -> None:
    """The advertised host is the Service's own name, unless the values give another."""
    for cluster in _config(objects, tmp_path).clusters:
        own = f"kproxy-{cluster.name}.{chart.NAMESPACE}.svc"
        assert cluster.advertised_host in {own, "kafka.example.org", "bills.example.org"}


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
    scheme = {} if admin.tls is None else {"scheme": "HTTPS"}
    assert paths == {
        "liveness": {"path": "/livez", "port": "admin", **scheme},
        "readiness": {"path": "/readyz", "port": "admin", **scheme},
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


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (chart.VALUES["failover"], "WARNING: nothing makes the 2 replicas agree on the active upstream"),
        ({**chart.VALUES["failover"], "replicas": 1}, None),
        (chart.VALUES["minimal"], None),
        (chart.VALUES["control-topic"], None),
        (chart.VALUES["config-map"], "Replicas agree on the active upstream by the ConfigMap kproxy-orders."),
    ],
)
def test_notes_say_whether_replicas_agree(values: Mapping[str, Any], said: str | None, tmp_path: Path) -> None:
    """They warn where several replicas would be switched one by one."""
    file = chart.values_file(values, tmp_path)
    done = chart.helm("install", chart.RELEASE, chart.CHART, "--dry-run=client", "--values", file)
    assert done.returncode == 0, done.stderr
    notes = done.stdout.partition("NOTES:")[2]
    assert (said in notes) if said else ("agree" not in notes)
