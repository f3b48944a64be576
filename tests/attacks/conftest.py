"""Brokers of the attacks for the tests that need one kproxy, and no figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kproxy.config.process import Timeouts
from tests.support.file_limit import file_limit_restored
from tests.support.proxy import HOST, Proxy

from .setting import ATTACKED, brokers


@pytest.fixture(scope="session")
def backend() -> Iterator[str]:
    """The bootstrap servers of a cluster that answers at once."""
    with brokers() as (ports, _):
        yield f"{HOST}:{ports[ATTACKED]}"


@pytest.fixture
def proxy(backend: str, tmp_path: Path) -> Iterator[Proxy]:
    """A kproxy in front of it, with telemetry and short deadlines."""
    timeouts = {"stalled_frame": "1s", "first_request": "2s", "connect": "2s"}
    if "whole_request" in Timeouts.model_fields:  # builds before it know no such limit, and are to be attacked, too
        timeouts["whole_request"] = "3s"
    each = {"telemetry": {"interval": 0.1, "subscriptions": [{"name": "all", "metrics": "*"}]}}
    receivers = [{"name": "scrape", "type": "prometheus"}]
    with Proxy(tmp_path, {"attacked": backend}, each=each, timeouts=timeouts, receivers=receivers) as made:
        yield made


@pytest.fixture(autouse=True)
def _limit() -> Iterator[None]:
    """Attacks of many connections raise the limit of files."""
    with file_limit_restored():
        yield
