"""A virtual cluster that listens, without the rest of the process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

import trio

from kproxy.cluster.cluster import Cluster
from kproxy.cluster.shared_ports import SharedPorts
from kproxy.config import Config
from kproxy.observe.counters import Counters
from kproxy.relay.relay import Relay
from tests.unit.app.living import HOST

NOBODY = f"{HOST}:1"


@asynccontextmanager
async def started(
    *,
    servers: str | None = NOBODY,
    listen: int = 0,
    admin: str | None = None,
    others: Mapping[str, Any] = MappingProxyType({}),
    timeouts: Mapping[str, float] = MappingProxyType({}),
    **nodes: Any,
) -> AsyncIterator[Cluster]:
    """A cluster that listens, without a pump behind its acceptor; `others` are more settings of it."""
    described = {"name": "c", "listen": f"{HOST}:{listen}", "nodes": nodes, **others}
    if servers is not None:
        described["bootstrap_servers"] = servers
    config = Config.model_validate({"clusters": [described], "admin": admin, "timeouts": timeouts})
    relay = Relay(config.limits, config.timeouts)
    cluster = Cluster(config.clusters[0], config, Counters(0.0).cluster("c"), relay.connections)
    async with trio.open_nursery() as work:
        cluster.start(work, work, relay, SharedPorts(work, work))
        try:
            yield cluster
        finally:
            work.cancel_scope.cancel()
