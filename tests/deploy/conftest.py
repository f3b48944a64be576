"""Session fixtures of the deploy group; what they build takes minutes once, and seconds afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from tests.deploy.support import chart
from tests.deploy.support.apiserver import ApiServer
from tests.support import tools

IMAGE = "localhost/kproxy:test"


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Limit a test's own time, not that of the builds in its fixtures: those have timeouts of their own."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(180, func_only=True))


@pytest.fixture(scope="session")
def image() -> str:
    """Return kproxy's image, built from this tree."""
    tools.ensure("containers")
    tools.output(tools.ROOT / "deploy" / "tools" / "build-image", IMAGE, timeout=900)
    return IMAGE


@pytest.fixture(scope="session")
def kubernetes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """Yield an API server that knows ServiceMonitors, with a namespace that enforces the restricted profile."""
    tools.ensure("etcd")
    with ApiServer(tmp_path_factory.mktemp("kubernetes")) as server:
        server.create(yaml.safe_load((Path(__file__).parent / "servicemonitor-crd.yaml").read_text()))
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        metadata = {"name": chart.NAMESPACE, "labels": labels}
        server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        yield server
