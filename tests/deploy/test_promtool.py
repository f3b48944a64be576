"""A real scrape of the admin port, checked by Prometheus' own linter."""

from __future__ import annotations

from functools import partial

import trio

from kproxy.admin.server import serve_admin
from kproxy.observe.families import FAMILIES, PROCESS_FAMILIES
from tests.support.promtool import complaints
from tests.unit.admin.memory_view import MemoryView
from tests.unit.admin.raw import fetch


async def test_a_scrape_is_clean(nursery: trio.Nursery) -> None:
    """With a series in every family, the linter finds neither an error nor a bad name."""
    _, port = await nursery.start(partial(serve_admin, MemoryView(), "127.0.0.1", 0))
    page = (await fetch(port, "/metrics")).body
    assert page.count(b"# TYPE kproxy_") == len(FAMILIES) + len(PROCESS_FAMILIES) + 2
    assert await trio.to_thread.run_sync(complaints, page) == ""


def test_the_linter_is_awake() -> None:
    """A counter without _total and a metric without help are reported: the test above can fail."""
    found = complaints(b"# HELP a_b Help.\n# TYPE a_b counter\na_b 1\n# TYPE c_seconds gauge\nc_seconds 1\n")
    assert "a_b counter metrics should have" in found
    assert "c_seconds no help text" in found
