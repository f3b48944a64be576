"""The chart against a real API server, which refuses objects that only look right."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.support import chart
from tests.deploy.support.apiserver import ApiServer, Refused

KINDS = (
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "ServiceAccount"),
    ("policy/v1", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("monitoring.coreos.com/v1", "ServiceMonitor"),
)


@pytest.fixture
def release(kubernetes: ApiServer, tmp_path: Path) -> Iterator[Any]:
    """Yield a function that runs `helm VERB RELEASE …` in the test's namespace; the release is gone afterwards."""

    def call(verb: str, *arguments: str | Path, values: str | None = None) -> str:
        where: list[str | Path] = ["--namespace", chart.NAMESPACE]
        if values:
            where += ["--values", chart.values_file(chart.VALUES[values], tmp_path)]
        done = chart.helm(verb, chart.RELEASE, *arguments, *where, kubeconfig=kubernetes.kubeconfig)
        assert done.returncode == 0, done.stderr
        return done.stdout

    yield call
    call("uninstall", "--ignore-not-found")


def _stored(server: ApiServer) -> dict[str, list[str]]:
    found = {}
    for version, kind in KINDS:
        names = [item["metadata"]["name"] for item in server.listed(version, kind, chart.NAMESPACE)]
        if names := [name for name in names if name != "kube-root-ca.crt"]:
            found[kind] = names
    return found


@pytest.mark.parametrize("name", chart.VALUES)
def test_the_server_takes_every_object(name: str, kubernetes: ApiServer, tmp_path: Path) -> None:
    """Each object passes the API server's own validation, strictly."""
    objects = chart.rendered(chart.VALUES[name], tmp_path)
    assert len(objects) >= 6
    for found in objects:
        kubernetes.dry_run(found, chart.NAMESPACE)


@pytest.mark.parametrize("name", ["minimal", "two-clusters", "config-map"])
def test_the_pod_meets_the_restricted_profile(name: str, kubernetes: ApiServer, tmp_path: Path) -> None:
    """The pod itself is admitted to a namespace that enforces Kubernetes' restricted profile."""
    deployment = chart.only(chart.rendered(chart.VALUES[name], tmp_path), "Deployment")
    stored = kubernetes.dry_run(chart.pod_of(deployment), chart.NAMESPACE)
    assert stored["spec"]["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True
    assert stored["spec"]["enableServiceLinks"] is False


def test_the_server_would_object(kubernetes: ApiServer, tmp_path: Path) -> None:
    """The checks can fail: a misspelt field, a port out of range and a privileged pod are refused."""
    objects = chart.rendered(chart.VALUES["minimal"], tmp_path)
    deployment, service = chart.only(objects, "Deployment"), chart.of_kind(objects, "Service")[0]
    misspelt, pod = copy.deepcopy(deployment), chart.pod_of(deployment)
    misspelt["spec"]["template"]["spec"]["containers"][0]["containerProt"] = 9092
    service["spec"]["ports"][0]["port"] = 99092
    pod["spec"]["containers"][0]["securityContext"]["capabilities"] = {"add": ["NET_ADMIN"]}
    with pytest.raises(Refused, match="containerProt"):
        kubernetes.dry_run(misspelt, chart.NAMESPACE)
    with pytest.raises(Refused, match="99092"):
        kubernetes.dry_run(service, chart.NAMESPACE)
    with pytest.raises(Refused, match="PodSecurity"):
        kubernetes.dry_run(pod, chart.NAMESPACE)


def test_install_upgrade_uninstall(kubernetes: ApiServer, release: Any) -> None:
    """A release installs, gains a cluster by an upgrade, and leaves nothing when it is uninstalled."""
    release("install", chart.CHART, values="minimal")
    assert _stored(kubernetes) == {
        "Deployment": ["kproxy"],
        "Service": ["kproxy", "kproxy-main"],
        "ConfigMap": ["kproxy"],
        "ServiceAccount": ["kproxy"],
        "PodDisruptionBudget": ["kproxy"],
    }
    release("upgrade", chart.CHART, values="two-clusters")
    assert _stored(kubernetes)["Service"] == ["kproxy", "kproxy-audit", "kproxy-main"]
    release("uninstall")
    assert _stored(kubernetes) == {}


def test_every_optional_object_installs(kubernetes: ApiServer, release: Any) -> None:
    """With everything switched on, all objects are stored, the ServiceMonitor too."""
    release("install", chart.CHART, values="everything")
    assert set(_stored(kubernetes)) == {kind for _, kind in KINDS}
