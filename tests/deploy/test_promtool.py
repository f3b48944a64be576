"""A real scrape of the admin port, checked by Prometheus' own linter."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import partial

import pytest
import trio

from kproxy.admin.server import serve_admin
from kproxy.observe.families import FAMILIES, PROCESS_FAMILIES
from tests.unit.admin.memory_view import MemoryView
from tests.unit.admin.raw import fetch


@pytest.fixture(scope="module")
def check_metrics() -> Callable[[bytes], str]:
    """Runs `promtool check metrics` over a page; what it has to say, "" when nothing."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.fail("promtool is missing: install Prometheus (Debian: apt-get install prometheus)", pytrace=False)

    def check(page: bytes) -> str:
        done = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, timeout=60, check=False)
        assert done.returncode in {0, 3}, done.stderr.decode()  # 3: the linter found something
        return (done.stdout + done.stderr).decode()

    return check


async def test_a_scrape_is_clean(check_metrics: Callable[[bytes], str], nursery: trio.Nursery) -> None:
    """With a series in every family, the linter finds neither an error nor a bad name."""
    _, port = await nursery.start(partial(serve_admin, MemoryView(), "127.0.0.1", 0))
    page = (await fetch(port, "/metrics")).body
    assert page.count(b"# TYPE kproxy_") == len(FAMILIES) + len(PROCESS_FAMILIES) + 2
    assert await trio.to_thread.run_sync(check_metrics, page) == ""


async def test_the_linter_is_awake(check_metrics: Callable[[bytes], str]) -> None:
    """A counter without _total and a metric without help are told, so that the test above can fail."""
    found = check_metrics(b"# HELP a_b Help.\n# TYPE a_b counter\na_b 1\n# TYPE c_seconds gauge\nc_seconds 1\n")
    assert "a_b counter metrics should have" in found
    assert "c_seconds no help text" in found
