"""Replicas that agree by a ConfigMap of a real API server, with the rights that the chart gives to them, and no others.

They run beside the API server, not in pods, with a token of the chart's service account.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.deploy.support import chart
from tests.deploy.support.apiserver import ApiServer, Refused
from tests.support import tools
from tests.support.backend import Backend
from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.wait import until

NAMESPACE: Final = "agreeing"
PATH: Final = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
ORDERS: Final = f"{PATH}/kproxy-orders"
MOST_SECONDS: Final = 2.0
"""From a command at one replica until the other one has switched, too; 0.1 to 0.2 s are measured, with the floor."""
APPLY: Final = "application/apply-patch+yaml"


class Installed:
    """The chart's release, and the files that its pods would have."""

    def __init__(self, server: ApiServer, directory: Path) -> None:
        self.server = server
        self.directory = directory
        (directory / "namespace").write_text(NAMESPACE)
        (directory / "ca.crt").write_bytes(server.authority.read_bytes())

    def helm(self, verb: str, *arguments: str | Path) -> None:
        """Run helm for this release."""
        where = ("--namespace", NAMESPACE)
        done = chart.helm(verb, chart.RELEASE, *arguments, *where, kubeconfig=self.server.kubeconfig)
        assert done.returncode == 0, done.stderr

    def renew_token(self) -> str:
        """Put a new token in the place of the last one, as a kubelet does."""
        token = self.server.token_of("kproxy", NAMESPACE)
        new = self.directory / "token.new"
        new.write_text(token)
        new.rename(self.directory / "token")
        return token

    @property
    def variables(self) -> dict[str, str]:
        """What a pod's container has, and where its files are here."""
        where = {"KUBERNETES_SERVICE_HOST": HOST, "KUBERNETES_SERVICE_PORT": str(self.server.port)}
        return where | {"KUBERNETES_SERVICE_ACCOUNT_DIR": str(self.directory)}

    def order(self) -> dict[str, Any] | None:
        """Return the order that the ConfigMap has."""
        try:
            data = self.server.request("GET", ORDERS).get("data", {})
        except Refused:
            return None
        return dict(json.loads(data["main"])) if "main" in data else None


@pytest.fixture(scope="module")
def installed(kubernetes: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Install the chart with replicas that agree by a ConfigMap."""
    directory = tmp_path_factory.mktemp("account")
    made = Installed(kubernetes, directory)
    values = chart.values_file(chart.VALUES["config-map"], directory)
    made.helm("install", chart.CHART, "--create-namespace", "--values", values)
    made.renew_token()
    yield made
    made.helm("uninstall")


@pytest.fixture(scope="module")
def replica(
    installed: Installed, kafka: Backend, newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Proxy]:
    """Return a function that makes a replica, which has no disk."""
    upstreams = {"east": kafka.cluster.bootstrap, "west": newest_kafka.cluster.bootstrap}

    def make() -> Proxy:
        return Proxy(
            tmp_path_factory.mktemp("replica"),
            {"main": upstreams},
            program=("env", *(f"{name}={value}" for name, value in installed.variables.items()), KPROXY),
            each={"failover": {"config_map": "kproxy-orders"}},
            topology={"epoch_floor": "100ms"},
        )

    return make


@pytest.fixture(scope="module")
def two(replica: Callable[[], Proxy]) -> Iterator[tuple[Proxy, Proxy]]:
    """Two replicas, in front of the same two Kafka clusters."""
    with replica() as one, replica() as other:
        yield one, other


def _cluster(proxy: Proxy) -> dict[str, Any]:
    (found,) = proxy.get_json("/api/v1/clusters")["clusters"]
    return dict(found)


def _active(proxy: Proxy) -> str:
    return next(str(one["name"]) for one in _cluster(proxy)["upstreams"] if one["active"])


def _reads(proxy: Proxy) -> bool:
    return bool(_cluster(proxy)["agreement"]["places"][0]["readable"])


def _command(proxy: Proxy, target: str) -> tuple[int, dict[str, Any]]:
    """Order a switch, once the floor allows it; return the status and the answer."""
    answers: list[tuple[int, dict[str, Any]]] = []

    def answered() -> bool:
        answers.append(proxy.post("/api/v1/clusters/main/failover", {"to": target}))
        return answers[-1][0] != 429

    until(answered, "the floor has passed", timeout=5, every=0.02)
    return answers[-1]


def _switch(two: tuple[Proxy, Proxy]) -> tuple[str, float]:
    """Order the other upstream at one replica; return it, and after how many seconds the other replica is there."""
    one, other = two
    target = "west" if _active(one) == "east" else "east"
    begun = time.monotonic()
    status, said = _command(one, target)
    assert status == 200, said
    until(lambda: _active(other) == target, f"the other replica is at {target}", timeout=10, every=0.01)
    taken = time.monotonic() - begun
    assert _active(one) == target
    return target, taken


def test_one_command_switches_both(two: tuple[Proxy, Proxy], installed: Installed) -> None:
    """And back, with a new token; the ConfigMap has the order, in a field of kproxy's alone."""
    for _ in range(2):
        target, taken = _switch(two)
        print(f"both replicas at {target} after {taken:.2f} s")
        assert taken < MOST_SECONDS
        order = installed.order()
        assert order is not None
        assert order["upstream"] == target
        installed.renew_token()
    found = installed.server.request("GET", ORDERS)
    assert {one["manager"] for one in found["metadata"]["managedFields"]} == {"kproxy"}
    assert found["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "kproxy"}


def test_a_replica_that_starts_learns(two: tuple[Proxy, Proxy], replica: Callable[[], Proxy]) -> None:
    """It is at the active upstream when it is ready, though it is the second one."""
    if _active(two[0]) == "east":
        _switch(two)
    with replica() as third:
        assert _active(third) == "west"
        assert _cluster(third)["agreement"]["places"][0]["name"] == "config_map"
        assert third.logged(event="order")[0]["read_at"] == "config_map"


def test_an_upgrade_keeps_the_order(two: tuple[Proxy, Proxy], installed: Installed) -> None:
    """A release that is upgraded has the ConfigMap as before."""
    _switch(two)
    before = installed.server.request("GET", ORDERS)
    installed.helm("upgrade", chart.CHART, "--reuse-values", "--set", "drain.deadlineSeconds=31")
    assert installed.server.request("GET", ORDERS) == before


def test_a_config_map_that_is_deleted(two: tuple[Proxy, Proxy], installed: Installed) -> None:
    """Replicas say so, create it again, and write the order that they know."""
    target, _ = _switch(two)
    before = installed.order()
    installed.server.request("DELETE", ORDERS)
    until(lambda: installed.order() == before, "the order is written again", timeout=15, every=0.1)
    for proxy in two:
        until(partial(_reads, proxy), "it is read again", 10, every=0.1)
        (lost,) = proxy.logged(event="orders cannot be read")[-1:]
        assert lost["reason"] == "ConfigMap kproxy-orders was deleted; it is created again"
        assert _active(proxy) == target
    assert _switch(two)[0] != target


def test_it_may_do_nothing_else(two: tuple[Proxy, Proxy], installed: Installed) -> None:
    """No other ConfigMap can be read, listed, watched, made or changed, and this one not deleted."""
    server, token = installed.server, installed.renew_token()
    assert server.request("GET", ORDERS, token=token)["metadata"]["name"] == "kproxy-orders"
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}}
    for method, path, body, kind in (
        ("GET", f"{PATH}/kproxy", None, ""),
        ("GET", PATH, None, ""),
        ("GET", f"{PATH}?watch=1", None, ""),
        ("GET", f"{PATH}?fieldSelector=metadata.name%3Dkproxy-orders", None, ""),
        ("POST", PATH, other, "application/json"),
        ("PATCH", f"{PATH}/other?fieldManager=kproxy", other, APPLY),
        ("PATCH", f"{PATH}/kproxy?fieldManager=kproxy", {"data": {}}, "application/merge-patch+json"),
        ("DELETE", ORDERS, None, ""),
        ("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets", None, ""),
    ):
        with pytest.raises(Refused, match="forbidden"):
            server.request(method, path, body, kind, token)


def test_without_the_rights(two: tuple[Proxy, Proxy], installed: Installed) -> None:
    """A command is refused, with the API server's reason and what the Role must have; nobody is switched."""
    bindings = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/rolebindings"
    binding = installed.server.request("GET", f"{bindings}/kproxy-orders")
    installed.server.request("DELETE", f"{bindings}/kproxy-orders")
    before = _active(two[0])
    target = "west" if before == "east" else "east"
    try:
        until(lambda: _refuses(installed), "the API server has noticed", timeout=10, every=0.05)
        status, said = _command(two[0], target)
    finally:
        del binding["metadata"]["resourceVersion"], binding["metadata"]["uid"]
        installed.server.request("POST", bindings, binding)
    assert status == 409
    user = f"system:serviceaccount:{NAMESPACE}:kproxy"
    assert f'"kproxy-orders" is forbidden: User "{user}" cannot get resource "configmaps"' in said["error"]
    assert "a Role with the verbs get, watch, patch and create for configmaps with resourceNames" in said["error"]
    assert [_active(proxy) for proxy in two] == [before] * 2
    until(lambda: not _refuses(installed), "the API server has noticed", timeout=10, every=0.05)
    assert _switch(two)[0] == target


def _refuses(installed: Installed) -> bool:
    try:
        installed.server.request("GET", ORDERS, token=(installed.directory / "token").read_text())
    except Refused:
        return True
    return False


def test_outside_kubernetes(replica: Callable[[], Proxy], tmp_path: Path) -> None:
    """kproxy does not start, and says in one line what is missing and what to do."""
    nowhere = {"KUBERNETES_SERVICE_ACCOUNT_DIR": str(tmp_path)}
    for command in (("config", "check"), ("serve", "--config")):
        done = tools.run(KPROXY, *command, replica().config, env=nowhere)
        assert done.returncode == 2
        (line,) = done.stderr.strip().splitlines()
        assert "clusters.main.failover.config_map: needs a pod of Kubernetes with the token of its service" in line
        assert f"{tmp_path}/ca.crt cannot be read" in line
        assert line.endswith("automountServiceAccountToken: true, or use failover.control_topic")
