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
BUILT_FOR_MINUTES = frozenset({"image", "kubernetes", "taken"})
"""Fixtures of an image, an API server and a collector: what asks for one of them is `long`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Mark the long tests; limit a test's own time, not that of the builds in its fixtures, which have their own."""
    for item in items:
        if not item.path.is_relative_to(Path(__file__).parent):
            continue
        if BUILT_FOR_MINUTES & set(getattr(item, "fixturenames", ())):
            item.add_marker("long")
        if not item.get_closest_marker("timeout"):
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
