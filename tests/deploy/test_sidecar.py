"""deploy/examples/sidecar.yaml: valid, unprivileged, and a configuration that kproxy takes."""

from __future__ import annotations

import yaml

from kproxy.config import load
from tests.deploy.support import chart
from tests.deploy.support.apiserver import ApiServer
from tests.support import tools

SIDECAR = tools.ROOT / "deploy" / "examples" / "sidecar.yaml"


def _deployment() -> chart.Object:
    (deployment,) = yaml.safe_load_all(SIDECAR.read_text())
    return chart.only([deployment], "Deployment")


def test_the_server_takes_it(kubernetes: ApiServer) -> None:
    """The API server takes it, its pod meets the restricted profile, and kproxy is no mere init step in it."""
    deployment = _deployment()
    kubernetes.dry_run(deployment, chart.NAMESPACE)
    stored = kubernetes.dry_run(chart.pod_of(deployment), chart.NAMESPACE)
    (sidecar,) = stored["spec"]["initContainers"]
    assert sidecar["restartPolicy"] == "Always"


def test_it_matches_the_schemas_of_kubernetes() -> None:
    """The example is strictly valid for the oldest Kubernetes with native sidecars by default, and the newest."""
    for version in ("1.29", "1.37"):
        tools.output(tools.ensure("kubernetes-validate"), "-k", version, "--strict", SIDECAR)


def test_kproxy_takes_its_variables() -> None:
    """The sidecar's variables configure kproxy: reachable on loopback only, and ending before the pod is killed."""
    pod = _deployment()["spec"]["template"]["spec"]
    (sidecar,) = pod["initContainers"]
    config = load(None, {}, {variable["name"]: variable["value"] for variable in sidecar["env"]})
    (cluster,) = config.clusters
    assert (cluster.listen.host, cluster.advertised_host) == ("127.0.0.1", "127.0.0.1")
    assert config.admin is not None
    assert config.admin.listen.port == sidecar["ports"][0]["containerPort"]
    assert config.drain.deadline < pod["terminationGracePeriodSeconds"]
    (application,) = pod["containers"]
    assert application["env"] == [{"name": "BOOTSTRAP_SERVERS", "value": str(cluster.listen)}]
