"""What a kproxy keeps after a test has loaded it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support import proc
from tests.support.proxy import Proxy
from tests.support.wait import until

MEMORY_SLACK = 4 << 20
"""Bytes that an allocator may keep of a flood: a leak of less than a kilobyte for each connection would show."""


@contextmanager
def nothing_kept(proxy: Proxy) -> Iterator[None]:
    """Check that as few connections, descriptors and held bytes are there at the end as before, and similar memory."""
    active, files, rss = proxy.metric("kproxy_connections_active"), proc.open_files(proxy.pid), proxy.rss
    yield
    until(lambda: proxy.metric("kproxy_connections_active") <= active, "the connections to be gone")
    until(lambda: proc.open_files(proxy.pid) <= files, "the descriptors to be closed")
    until(lambda: proxy.metric("kproxy_held_bytes") == 0, "no bytes held")
    assert proxy.rss - rss < MEMORY_SLACK, f"{(proxy.rss - rss) >> 20} MiB kept"
