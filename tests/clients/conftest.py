"""The virtual clusters that clients are tested with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.side import Side


@pytest.fixture(params=["kafka", "newest"])
def side(request: pytest.FixtureRequest, both: Proxy, tmp_path: Path) -> Side:
    """Each of the two virtual clusters: three brokers of 4.3.1, one node of 4.4.0."""
    backend = request.getfixturevalue("kafka" if request.param == "kafka" else "newest_kafka")
    return Side(both, request.param, backend, tmp_path)


@pytest.fixture
def three(both: Proxy, kafka: Backend, tmp_path: Path) -> Side:
    """The virtual cluster of three brokers."""
    return Side(both, "kafka", kafka, tmp_path)
