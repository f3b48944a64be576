"""One version everywhere: the package, the chart, the examples."""

from __future__ import annotations

import re

import yaml

import kproxy
from tests.deploy.support import chart
from tests.support import tools


def test_the_chart_deploys_this_version() -> None:
    """appVersion, which is the image's tag by default, is the package's version."""
    assert yaml.safe_load((chart.CHART / "Chart.yaml").read_text())["appVersion"] == kproxy.__version__


def test_examples_and_page_name_this_version() -> None:
    """Every kproxy:TAG in the sidecar example and in docs/deploy.md is this version."""
    for name in ("deploy/examples/sidecar.yaml", "docs/deploy.md"):
        tags = re.findall(r"\bkproxy:([0-9]\S*)", (tools.ROOT / name).read_text())
        assert tags, name
        assert set(tags) == {kproxy.__version__}, name
