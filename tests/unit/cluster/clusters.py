"""A virtual cluster that listens, without the rest of the process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio

from kproxy.cluster.cluster import Cluster
from kproxy.config import Config
from kproxy.observe.counters import Counters
from kproxy.relay.relay import Relay
from tests.unit.app.living import HOST

NOBODY = f"{HOST}:1"


@asynccontextmanager
async def started(
    *, servers: str = NOBODY, listen: int = 0, admin: str | None = None, **nodes: Any
) -> AsyncIterator[Cluster]:
    """A cluster that listens, without a pump behind its acceptor."""
    described = {"name": "c", "bootstrap_servers": servers, "listen": f"{HOST}:{listen}", "nodes": nodes}
    config = Config.model_validate({"clusters": [described], "admin": admin})
    relay = Relay(config.limits, config.timeouts)
    cluster = Cluster(config.clusters[0], config, Counters(0.0).cluster("c"), relay.connections)
    async with trio.open_nursery() as work:
        cluster.start(work, work, relay)
        try:
            yield cluster
        finally:
            work.cancel_scope.cancel()
