"""Determines whether the process serves, and what is wrong.

`ProcessView` calls it for each request to `/readyz`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from kproxy.admin.inventory import time_shown
from kproxy.admin.models import Cause, Readiness, State
from kproxy.admin.security import SETTING
from kproxy.upstream.names import unanswered

if TYPE_CHECKING:
    from kproxy.admin.security import AdminSecurity
    from kproxy.app.launcher import Launcher
    from kproxy.cluster.cluster import Cluster
    from kproxy.config import Config
    from kproxy.config.reload import Changes
    from kproxy.observe.counters import Counters
    from kproxy.relay.relay import Relay
    from kproxy.upstream.validity import Validity


_LIMITS: Final = "max.connections.per.ip counts all clients as kproxy's address; else the broker's log says why"


class Reloading(Protocol):
    """Applies the configuration anew."""

    async def reload(self) -> Changes:
        """Read and apply it; raises `KproxyError` where nothing has changed, with the reason."""


class Serving(Protocol):
    """The parts of a process, and the stage of its life."""

    config: Config
    counters: Counters
    relay: Relay
    admin_security: AdminSecurity | None
    started: bool
    """Whether all listeners are bound."""
    draining: bool

    @property
    def reloader(self) -> Reloading | None:
        """None where there is nothing to read the configuration from."""

    @property
    def clusters(self) -> Sequence[Cluster]:
        """The virtual clusters, in the configuration's order."""

    @property
    def launcher(self) -> Launcher | None:
        """Starts and ends virtual clusters; None until the first ones run."""

    def replace(self, clusters: Sequence[Cluster]) -> None:
        """Have these virtual clusters, which run, in place of those before; end those that are not among them."""

    def adopt(self, config: Config) -> None:
        """Apply another configuration's process-wide settings."""

    def secure_admin(self, security: AdminSecurity | None) -> None:
        """Use what the files of the admin port's TLS say."""


def readiness(process: Serving) -> Readiness:
    """Return the state: draining and starting before all else; degraded while a node or backend is out of reach.

    A node without a port degrades it as well, and so does a trouble of kproxy's own.
    """
    if process.draining:
        return Readiness(State.DRAINING)
    starting = [cause for cluster in process.clusters if (cause := _not_seen(cluster))]
    if not process.started or starting:
        return Readiness(State.STARTING, (*starting, *_own_troubles(process)))
    causes = (*_own_troubles(process), *(cause for cluster in process.clusters for cause in _troubles(cluster)))
    warnings = tuple(_near(None, _of_admin(process)))
    warnings += tuple(_old_addresses())
    warnings += tuple(warning for one in process.clusters for warning in _warnings(one))
    return Readiness(State.DEGRADED if causes else State.READY, causes, warnings)


def _not_seen(cluster: Cluster) -> Cause | None:
    """Return a cause for a backend that was not polled yet; after a failed poll the state is degraded, not starting."""
    watcher = cluster.upstreams.watcher
    if watcher.snapshot is None and watcher.reachable is None and not watcher.blind:
        return Cause(cluster.settings.name, None, "the backend was not reached yet")
    return None


def _own_troubles(process: Serving) -> Iterable[Cause]:
    """Yield what is wrong with kproxy itself, or was a moment ago."""
    yield from _ended(None, _of_admin(process))
    troubles, now = process.counters.troubles, time.monotonic()
    if shortage := troubles.shortage(now):
        yield Cause(None, None, shortage)
    for where in troubles.failing(now):
        yield Cause(None, None, f"a fault in kproxy ({where.value}); the log has the traceback: please report it")


def _of_admin(process: Serving) -> Mapping[str, Validity]:
    security = process.admin_security
    return {} if security is None or security.validity is None else {SETTING: security.validity}


def _of_cluster(cluster: Cluster) -> Mapping[str, Validity]:
    return cluster.security.validities


def _near(name: str | None, validities: Mapping[str, Validity]) -> Iterable[Cause]:
    """Yield a warning for each certificate whose end is near."""
    now = time.time()
    for setting, validity in validities.items():
        if validity.near <= now < validity.ends:
            yield Cause(name, None, f"the certificate of {setting} ends at {time_shown(validity.ends)}: renew it")


def _warnings(cluster: Cluster) -> Iterable[Cause]:
    """Yield what will be wrong at a failover, or when a certificate ends; and that faults are injected."""
    yield from _near(cluster.settings.name, _of_cluster(cluster))
    if cluster.agreement is not None:
        yield from (Cause(cluster.settings.name, None, warning) for warning in cluster.agreement.warnings())
    if cluster.faults is not None:
        yield Cause(cluster.settings.name, None, cluster.faults.warning)
    yield from _silent_servers(cluster)
    yield from _turned_away(cluster)
    for upstream in cluster.upstreams.standbys:
        if upstream.standing.last is not None:
            for objection in cluster.standbys.objections(upstream):
                yield Cause(cluster.settings.name, None, f"the standby {upstream.name}: {objection.why}")


def _old_addresses() -> Iterable[Cause]:
    """Yield one warning where brokers are dialled at addresses that no name server has confirmed."""
    if names := sorted(unanswered()):
        (name, seconds), *others = names
        more = f" and {len(others)} more" if others else ""
        why = f"no name server answers for {name}{more}: kproxy goes on where it led {seconds:.0f} s ago"
        yield Cause(None, None, why)


def _silent_servers(cluster: Cluster) -> Iterable[Cause]:
    """Yield a warning for each bootstrap server that does not answer, unless a cause names it: a node, or all."""
    watcher, counted = cluster.upstreams.watcher, cluster.counters.nodes
    if watcher.reachable and watcher.snapshot is not None:
        known = [counted[node_id] for node_id in watcher.snapshot.nodes if node_id in counted]
        unreachable = {node.address for node in known if node.reachable is False}
        for (host, port), why in cluster.upstreams.active.servers.silent.items():
            if f"{host}:{port}" not in unreachable:
                yield Cause(cluster.settings.name, None, f"the bootstrap server {host}:{port} does not answer: {why}")


def _turned_away(cluster: Cluster) -> Iterable[Cause]:
    """Yield a warning for each broker that ends new connections of clients, while kproxy's own, older ones go on."""
    for broker in cluster.counters.turned_away.lately(time.monotonic()) if cluster.upstreams.watcher.reachable else ():
        yield Cause(cluster.settings.name, None, f"{broker} ends clients' connections before it answers: {_LIMITS}")


def _ended(name: str | None, validities: Mapping[str, Validity]) -> Iterable[Cause]:
    """Yield a cause for each certificate that has ended, or is not valid yet."""
    now = time.time()
    for setting, validity in validities.items():
        if not validity.begins <= now < validity.ends:
            when = "has ended" if now >= validity.ends else "is not valid yet"
            yield Cause(name, None, f"the certificate of {setting} {when}: {_span(validity)}")


def _troubles(cluster: Cluster) -> Iterable[Cause]:
    name, watcher = cluster.settings.name, cluster.upstreams.watcher
    yield from _ended(name, _of_cluster(cluster))
    if cluster.token_keys.lacking:
        yield Cause(name, None, "clients' tokens cannot be verified: the log says why their keys are not read")
    if (problem := cluster.kept.problem()) is not None:
        yield Cause(name, None, f"a restart would begin at the state before the last change: {problem}")
    if cluster.agreement is not None:
        yield from (Cause(name, None, problem) for problem in cluster.agreement.problems())
    if watcher.blind:
        yield Cause(name, None, f"the backend cannot be polled: {watcher.blind}")
    if watcher.reachable is False:  # None just after a switch, whose target has answered
        yield Cause(name, None, f"no bootstrap server answers: {watcher.last_error}")
    known = watcher.snapshot.nodes if watcher.snapshot is not None else {}
    for node_id, node in cluster.counters.nodes.items():
        if node_id in known and node.reachable is False:
            yield Cause(name, node_id, f"{node.address}: {node.last_error}")
    for node_id, why in cluster.nodes.unmapped.items():
        yield Cause(name, node_id, f"has no port: {why}")


def _span(validity: Validity) -> str:
    return f"valid from {time_shown(validity.begins)} to {time_shown(validity.ends)}"
