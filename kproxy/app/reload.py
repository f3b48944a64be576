"""Applies another configuration while kproxy runs, all of it or nothing.

`Reloader` calls it at SIGHUP, and when an operator asks for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from kproxy.admin.security import AdminSecurity, read_admin_security
from kproxy.cluster.cluster import Cluster
from kproxy.cluster.security import Security, read_security
from kproxy.config.reload import Changes, changes
from kproxy.errors import KproxyError
from kproxy.observe.counters import ClusterCounters
from kproxy.rebootstrap.actions import Cause
from kproxy.routing.places import NoPortError

if TYPE_CHECKING:
    from kproxy.app.launcher import Launcher
    from kproxy.app.readiness import Serving
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
    read = await read_files(config)
    with ExitStack() as undo:
        launched = await _launched(process, config, differing, read.clusters, undo)
        await _settled(process, config, differing, read, launched)
        undo.pop_all()
    return differing


async def _settled(
    process: Serving, config: Config, differing: Changes, read: ReadFiles, launched: Sequence[Cluster]
) -> None:
    """Apply all of it at one moment, once every floor has passed; raises `KproxyError`, and then nothing changes."""
    plans = await _plans(process, config, differing.clusters, read.clusters)
    while (wait := _wait(process, differing.clusters)) or any(plan.is_outdated for plan in plans):
        await trio.sleep(wait)
        read = await read_files(config)  # anew, as what follows: another change may have come first
        plans = await _plans(process, config, differing.clusters, read.clusters)
    if differing.added or differing.removed or any("listen" in keys for keys in differing.clusters.values()):
        _running(process)
    with ExitStack() as ports:
        for plan in plans:
            ports.enter_context(plan.reserved())
        process.adopt(config)
        if differing.added or differing.removed:
            kept = [cluster for cluster in process.clusters if cluster.settings.name not in differing.removed]
            process.replace([*kept, *launched])
        for plan in plans:
            plan.apply()
        read.apply(process)


def _wait(process: Serving, changed: Collection[str]) -> float:
    """Return the seconds until all virtual clusters that change may begin another epoch; others are not waited for."""
    clusters = (cluster for cluster in process.clusters if cluster.settings.name in changed)
    return max((cluster.rebootstrap.wait(trio.current_time()) for cluster in clusters), default=0.0)


async def _launched(
    process: Serving, config: Config, differing: Changes, security: Mapping[str, Security], undo: ExitStack
) -> Sequence[Cluster]:
    """Start the virtual clusters that are added; `undo` ends them again. Raises `KproxyError`."""
    if not differing.added and not differing.removed:
        return ()
    launcher = _running(process)
    made = []
    for settings in (one for one in config.clusters if one.name in differing.added):
        counters = ClusterCounters(settings.name, troubles=process.counters.troubles)
        cluster = Cluster(settings, config, counters, process.relay.connections, security[settings.name])
        cluster.siblings = {one.settings.name: one for one in (*process.clusters, cluster)}
        await launcher.launch(cluster)
        undo.callback(launcher.retire, cluster, 0.0)
        made.append(cluster)
    return made


def _running(process: Serving) -> Launcher:
    """Return what launches virtual clusters; raise `KproxyError` when none can begin or cease to listen anywhere."""
    if process.launcher is None or process.draining:
        why = "kproxy starts or ends at the moment: add, remove or move virtual clusters while it runs"
        raise KproxyError(f"clusters: {why}")
    return process.launcher


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """What TLS's files say, by virtual cluster and for the admin port."""

    clusters: Mapping[str, Security]
    admin: AdminSecurity | None

    def apply(self, process: Serving) -> None:
        """Use it for new connections."""
        process.secure_admin(self.admin)
        for cluster in process.clusters:
            cluster.secure(self.clusters[cluster.settings.name])


async def read_files(config: Config) -> ReadFiles:
    """Read TLS's files; raises `ConfigError`."""

    def read() -> ReadFiles:
        return ReadFiles({one.name: read_security(one) for one in config.clusters}, read_admin_security(config.admin))

    return await trio.to_thread.run_sync(read)


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

    `replaced` is the one that was active when the plan was begun.
    `remapped`: clients get other addresses. `renumbered`: nodes may be at other ports. `moved`: it listens elsewhere.
    """

    cluster: Cluster
    config: Config
    settings: VirtualCluster
    backends: dict[str, Upstream]
    replaced: Upstream
    active: Upstream
    snapshot: Snapshot | None
    remapped: bool
    renumbered: bool
    moved: bool

    @property
    def is_outdated(self) -> bool:
        """True when the virtual cluster has failed over since: to apply the plan would undo that."""
        return self.cluster.upstreams.active is not self.replaced

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Hold the ports that are needed; raise `KproxyError` when there is none. Call `apply` inside the block."""
        with ExitStack() as ports:
            if self.moved:
                ports.enter_context(self.cluster.moving(self.settings, self.config))
            if self.active is not self.cluster.upstreams.active or self.renumbered or self.moved:
                nodes = self.cluster.nodes.named if self.snapshot is None else self.snapshot.nodes
                problems = ports.enter_context(self.cluster.nodes.reserved(nodes, self.settings))
                if problems:
                    what = f"clusters.{self.settings.name}: {self.active.name}"
                    raise KproxyError(f"{what}: {NoPortError.of_all(problems)}")
            yield

    def apply(self) -> None:
        """Apply the plan; clients rebootstrap when what they know of the cluster has changed.

        A virtual cluster that moves sends nobody to bootstrap, since their bootstrap address may be the one it leaves.
        """
        cluster, switches = self.cluster, self.active is not self.cluster.upstreams.active
        cluster.reconfigure(self.settings, self.backends)
        if self.moved:
            cluster.nodes.move()
        elif self.remapped:
            if switches:  # the old cluster's nodes need no ports in the new mapping
                cluster.nodes.renew(None)
            cluster.nodes.remap(self.settings)
        if switches:
            cluster.switch(self.active, self.snapshot, Cause.CONFIG)
        elif self.remapped and not self.moved:
            cluster.begin_epoch(Cause.CONFIG)
        cluster.switches.reconfigure(self.settings)


async def planned(
    cluster: Cluster, settings: VirtualCluster, config: Config, keys: frozenset[str], security: Security
) -> Plan:
    """Return the plan for a virtual cluster's changed settings `keys`; raises `KproxyError` for what cannot be."""
    upstreams, replaced = cluster.upstreams, cluster.upstreams.active
    made = upstreams.made(settings, config, security.brokers)
    backends = {
        name: upstreams.all[name] if name in upstreams.all and upstreams.all[name].is_at(new.settings) else new
        for name, new in made.items()
    }
    if cluster.telemetry is not None and settings.telemetry is not None:
        cluster.telemetry.fixed(settings.telemetry)
    active = backends.get(replaced.name, next(iter(backends.values())))
    snapshot = active.snapshot
    if active is not replaced:
        snapshot = await made[active.name].look()
    elif active.settings != made[active.name].settings:  # kproxy has another identity there: it must be accepted
        await made[active.name].look()
    renumbered = any(key.startswith("nodes") for key in keys)
    remapped = renumbered or "advertised_host" in keys
    return Plan(cluster, config, settings, backends, replaced, active, snapshot, remapped, renumbered, "listen" in keys)
