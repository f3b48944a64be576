"""The upstream clusters of a virtual cluster: which there are, and which one is active and watched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.errors import UpstreamError
from kproxy.topology.watcher import Watcher
from kproxy.upstream.client import UpstreamClient

if TYPE_CHECKING:
    from kproxy.config import Config, VirtualCluster
    from kproxy.config.upstreams import Upstream as Settings
    from kproxy.observe.counters import ClusterCounters
    from kproxy.topology.probe import OnReachability
    from kproxy.topology.snapshot import Change, Snapshot

OnChange = Callable[["Snapshot", "Change"], None]
JITTER: Final = 0.2


def client_of(servers: Sequence[tuple[str, int]], config: Config) -> UpstreamClient:
    """A client of the cluster of these bootstrap servers, as patient as the settings say."""
    timeouts = config.timeouts
    return UpstreamClient(servers, connect_timeout=timeouts.connect, request_timeout=timeouts.upstream_request)


class Upstream:
    """`servers` are its bootstrap servers; `watcher` is one that has seen nothing, until `start`."""

    def __init__(
        self,
        settings: Settings,
        config: Config,
        cluster: str,
        on_change: OnChange,
        on_reachability: OnReachability,
    ) -> None:
        self.settings = settings
        self.name = settings.name
        self.servers = [(server.host, server.port) for server in settings.bootstrap_servers]
        self._config = config
        self._cluster = cluster
        self._on_change = on_change
        self._on_reachability = on_reachability
        self._scope = trio.CancelScope()
        self.watcher = self._new_watcher(self._new_client(), None)

    @property
    def snapshot(self) -> Snapshot | None:
        """What was last seen of it."""
        return self.watcher.snapshot

    def adopt(self, config: Config) -> None:
        """What it takes from the whole process' settings: at the next poll, and for new connections."""
        self._config = config
        self.watcher.interval = config.topology.interval

    def start(self, work: trio.Nursery, snapshot: Snapshot | None) -> None:
        """Watch it from now on, beginning with what `look` has seen."""
        self._scope = trio.CancelScope()
        client = self._new_client()
        self.watcher = self._new_watcher(client, snapshot)
        work.start_soon(self._run, self._scope, client, self.watcher)

    def stop(self) -> None:
        """Watch it no longer; its connections are closed."""
        self._scope.cancel()

    async def look(self) -> Snapshot:
        """What the cluster says of itself at this moment, asked on connections of their own; raises UpstreamError."""
        client = self._new_client()
        found: Snapshot | UpstreamError
        async with trio.open_nursery() as nursery:
            await nursery.start(client.run)
            try:
                found = await self._new_watcher(client, None).poll_once()
            except UpstreamError as error:  # not out of the nursery, which would wrap it
                found = error
            nursery.cancel_scope.cancel()
        if isinstance(found, UpstreamError):
            raise found
        return found

    async def _run(self, scope: trio.CancelScope, client: UpstreamClient, watcher: Watcher) -> None:
        structlog.contextvars.bind_contextvars(cluster=self._cluster, upstream=self.name)
        with scope:
            async with trio.open_nursery() as nursery:
                await nursery.start(client.run)
                await watcher.run()

    def _new_client(self) -> UpstreamClient:
        return client_of(self.servers, self._config)

    def _new_watcher(self, client: UpstreamClient, initial: Snapshot | None) -> Watcher:
        return Watcher(
            client,
            interval=self._config.topology.interval,
            jitter=JITTER,
            on_change=self._on_change,
            on_reachability=self._on_reachability,
            initial=initial,
        )


class Upstreams:
    """All upstream clusters of one virtual cluster, in order of preference, and the active one."""

    def __init__(
        self,
        settings: VirtualCluster,
        config: Config,
        counters: ClusterCounters,
        on_change: OnChange,
        on_reachability: OnReachability,
    ) -> None:
        self._counters = counters
        self._on_change = on_change
        self._on_reachability = on_reachability
        self.all = self.made(settings, config)
        """By name."""
        self.active = next(iter(self.all.values()))
        """The one that clients reach at the moment."""

    def made(self, settings: VirtualCluster, config: Config) -> dict[str, Upstream]:
        """The upstream clusters that the settings name."""
        return {
            one.name: Upstream(one, config, settings.name, self._on_change, self._on_reachability)
            for one in settings.backends
        }

    @property
    def watcher(self) -> Watcher:
        """The active one's."""
        return self.active.watcher

    @property
    def cluster_id(self) -> str | None:
        """The active cluster's id; None while it is not known, or in doubt: it misdirects nobody then."""
        snapshot = self.watcher.snapshot
        return None if snapshot is None or self.watcher.unconfirmed else snapshot.cluster_id

    def activate(self, upstream: Upstream, snapshot: Snapshot | None, work: trio.Nursery) -> None:
        """Watch this one from now on, and the one before no longer."""
        self.active.stop()
        self.active = upstream
        self._counters.upstreams = dict.fromkeys(self.all, False)
        self._counters.activate(upstream.name)
        upstream.start(work, snapshot)

    def adopt(self, config: Config) -> None:
        """What they take from the whole process' settings."""
        for upstream in self.all.values():
            upstream.adopt(config)
