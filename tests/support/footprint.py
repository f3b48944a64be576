"""What a kproxy keeps after what was done to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support import proc
from tests.support.proxy import Proxy
from tests.support.wait import until

MEMORY_SLACK = 4 << 20
"""What an allocator may keep of a flood: less than a kilobyte for each of its connections would show."""


@contextmanager
def nothing_kept(proxy: Proxy) -> Iterator[None]:
    """At the end there are as few connections, descriptors and held bytes as before, and about as little memory."""
    active, files, rss = proxy.metric("kproxy_connections_active"), proc.open_files(proxy.pid), proxy.rss
    yield
    until(lambda: proxy.metric("kproxy_connections_active") <= active, "the connections to be gone")
    until(lambda: proc.open_files(proxy.pid) <= files, "the descriptors to be closed")
    until(lambda: proxy.metric("kproxy_held_bytes") == 0, "no bytes held")
    assert proxy.rss - rss < MEMORY_SLACK, f"{(proxy.rss - rss) >> 20} MiB kept"
