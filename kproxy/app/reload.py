"""Applies another configuration while kproxy runs, all of it or nothing.

`Reloader` calls it at SIGHUP, and when an operator asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from kproxy.cluster.security import Security, read_security
from kproxy.config.reload import Changes, changes
from kproxy.errors import KproxyError
from kproxy.rebootstrap.actions import Cause
from kproxy.routing.ports import NoPortError

if TYPE_CHECKING:
    from kproxy.app.readiness import Serving
    from kproxy.cluster.cluster import Cluster
    from kproxy.cluster.upstreams import Upstream
    from kproxy.config import Config, VirtualCluster
    from kproxy.topology.snapshot import Snapshot


async def apply(process: Serving, config: Config) -> Changes:
    """Apply another configuration, and what TLS's files say; return what it changes.

    Raises `KproxyError` when it cannot be applied as a whole.
    """
    differing = changes(process.config, config)
    if differing.restart:
        raise KproxyError(f"{', '.join(differing.restart)}: cannot change while kproxy runs; restart it")
    security = await read_files(config)
    plans = await _plans(process, config, differing.clusters, security)
    while wait := max(cluster.rebootstrap.wait(trio.current_time()) for cluster in process.clusters):
        await trio.sleep(wait)
        security = await read_files(config)  # anew, as what follows: another change may have come first
        plans = await _plans(process, config, differing.clusters, security)
    with ExitStack() as ports:
        for plan in plans:
            ports.enter_context(plan.reserved())
        process.adopt(config)
        for plan in plans:
            plan.apply()
        for cluster in process.clusters:
            cluster.secure(security[cluster.settings.name])
    return differing


async def read_files(config: Config) -> Mapping[str, Security]:
    """Read TLS's files, by virtual cluster; raises `ConfigError`."""
    return await trio.to_thread.run_sync(lambda: {one.name: read_security(one) for one in config.clusters})


async def _plans(
    process: Serving, config: Config, changed: Mapping[str, frozenset[str]], security: Mapping[str, Security]
) -> list[Plan]:
    settings = {cluster.name: cluster for cluster in config.clusters}
    return [
        await planned(cluster, settings[name], config, keys, security[name])
        for cluster in process.clusters
        if (keys := changed.get(name := cluster.settings.name))
    ]


@dataclass(frozen=True, slots=True)
class Plan:
    """What new settings mean for a virtual cluster; `snapshot` is of the upstream that will be active.

    `remapped`: clients get other addresses. `renumbered`: nodes may be at other ports.
    """

    cluster: Cluster
    settings: VirtualCluster
    backends: dict[str, Upstream]
    active: Upstream
    snapshot: Snapshot | None
    remapped: bool
    renumbered: bool

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Hold the ports that the nodes need; raise `KproxyError` when one has none. Call `apply` inside the block."""
        if self.active is self.cluster.upstreams.active and not self.renumbered:
            yield
            return
        nodes = self.cluster.nodes.named if self.snapshot is None else self.snapshot.nodes
        with self.cluster.nodes.reserved(nodes, self.settings) as problems:
            if problems:
                what = f"clusters.{self.settings.name}: {self.active.name}"
                raise KproxyError(f"{what}: {NoPortError.of_all(problems)}")
            yield

    def apply(self) -> None:
        """Apply the plan; clients rebootstrap when what they know of the cluster has changed."""
        cluster, switches = self.cluster, self.active is not self.cluster.upstreams.active
        cluster.reconfigure(self.settings, self.backends)
        if self.remapped:
            if switches:  # the old cluster's nodes need no ports in the new mapping
                cluster.nodes.renew(None)
            cluster.nodes.remap(self.settings)
        if switches:
            cluster.switch(self.active, self.snapshot, Cause.CONFIG)
        elif self.remapped:
            cluster.begin_epoch(Cause.CONFIG)
        cluster.failover_controller.reconfigure(self.settings)


async def planned(
    cluster: Cluster, settings: VirtualCluster, config: Config, keys: frozenset[str], security: Security
) -> Plan:
    """Return the plan for a virtual cluster's changed settings `keys`; raises `KproxyError` for what cannot be."""
    upstreams = cluster.upstreams
    made = upstreams.made(settings, config, security.brokers)
    backends = {
        name: upstreams.all[name] if name in upstreams.all and upstreams.all[name].is_at(new.settings) else new
        for name, new in made.items()
    }
    if cluster.telemetry is not None and settings.telemetry is not None:
        cluster.telemetry.fixed(settings.telemetry)
    active = backends.get(upstreams.active.name, next(iter(backends.values())))
    snapshot = active.snapshot
    if active is not upstreams.active:
        snapshot = await made[active.name].look()
    elif active.settings != made[active.name].settings:  # kproxy has another identity there: it must be accepted
        await made[active.name].look()
    renumbered = any(key.startswith("nodes") for key in keys)
    return Plan(cluster, settings, backends, active, snapshot, renumbered or "advertised_host" in keys, renumbered)
