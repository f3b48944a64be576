"""The upstream clusters of a virtual cluster, of which one is active and watched.

`Cluster` makes them at start; a reload makes those anew whose settings changed. `activate` runs at start and at each
switch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import structlog
import trio

from kproxy.errors import UpstreamError
from kproxy.observe.faults import supervised
from kproxy.observe.troubles import Troubles, Where
from kproxy.topology.watcher import Watcher
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.dial import Dial, open_tcp

if TYPE_CHECKING:
    from kproxy.config import Config, Identity, VirtualCluster
    from kproxy.config.upstreams import Upstream as Settings
    from kproxy.observe.counters import ClusterCounters
    from kproxy.topology.probe import OnReachability
    from kproxy.topology.snapshot import Change, Snapshot
    from kproxy.upstream.tls import BrokerContext

T = TypeVar("T")
OnChange = Callable[["Snapshot", "Change"], None]
JITTER: Final = 0.2


def client_of(
    servers: Sequence[tuple[str, int]],
    config: Config,
    troubles: Troubles | None = None,
    dial: Dial = open_tcp,
    identity: Callable[[], Identity | None] = lambda: None,
) -> UpstreamClient:
    """Return a client of the cluster at these bootstrap servers, with the timeouts of the settings."""
    connect, request = config.timeouts.connect, config.timeouts.upstream_request
    return UpstreamClient(
        servers, connect_timeout=connect, request_timeout=request, dial=dial, troubles=troubles, identity=identity
    )


class Upstream:
    """One upstream cluster: `servers` are its bootstrap servers, `watcher` has seen nothing until `start`."""

    def __init__(
        self,
        settings: Settings,
        config: Config,
        cluster: str,
        tls: BrokerContext | None,
        on_change: OnChange,
        on_reachability: OnReachability,
        troubles: Troubles | None = None,
    ) -> None:
        """`troubles` are the process'; by default they are the upstream's own."""
        self._troubles = troubles or Troubles()
        self.settings = settings
        self.name = settings.name
        self.servers = [(server.host, server.port) for server in settings.bootstrap_servers]
        self.tls = tls
        """For connections to its brokers from now on; None for plaintext."""
        self._config = config
        self._cluster = cluster
        self._on_change = on_change
        self._on_reachability = on_reachability
        self._scope = trio.CancelScope()
        self.watcher = self._new_watcher(self.new_client(), None)

    @property
    def snapshot(self) -> Snapshot | None:
        """The cluster as last seen; None before that."""
        return self.watcher.snapshot

    def is_at(self, settings: Settings) -> bool:
        """True when the settings name this cluster, whatever identity kproxy has there."""
        return self.settings == settings.model_copy(update={"identity": self.settings.identity})

    def identify(self, settings: Settings) -> None:
        """Take the identity of these settings, which name this cluster: new connections authenticate with it."""
        self.settings = settings

    def adopt(self, config: Config) -> None:
        """Apply the process-wide settings: at the next poll, and for new connections."""
        self._config = config
        self.watcher.interval = config.topology.interval

    def start(self, work: trio.Nursery, snapshot: Snapshot | None) -> None:
        """Watch the cluster from now on, beginning with `snapshot`, which `look` has returned before."""
        self._scope = trio.CancelScope()
        client = self.new_client()
        self.watcher = self._new_watcher(client, snapshot)
        work.start_soon(self._run, self._scope, client, self.watcher)

    def stop(self) -> None:
        """Stop watching; the connections are closed."""
        self._scope.cancel()

    async def look(self) -> Snapshot:
        """Return the cluster as it describes itself now, on connections of its own; raises UpstreamError."""
        return await self.ask(lambda client: self._new_watcher(client, None).poll_once())

    async def ask(self, question: Callable[[UpstreamClient], Awaitable[T]]) -> T:
        """Return what `question` gets from the cluster, on connections of its own; raises UpstreamError."""
        client = self.new_client()
        found: T | UpstreamError
        async with trio.open_nursery() as nursery:
            await nursery.start(client.run)
            try:
                found = await question(client)
            except UpstreamError as error:  # raised below: the nursery would wrap it
                found = error
            nursery.cancel_scope.cancel()
        if isinstance(found, UpstreamError):
            raise found
        return found

    async def _run(self, scope: trio.CancelScope, client: UpstreamClient, watcher: Watcher) -> None:
        structlog.contextvars.bind_contextvars(cluster=self._cluster, upstream=self.name)
        with scope:
            await supervised(self._troubles, Where.WATCHER, _watch, client, watcher)

    def new_client(self) -> UpstreamClient:
        """Return a client of this cluster, with the identity that kproxy has at the time of each connection."""
        return client_of(self.servers, self._config, self._troubles, self.dial, lambda: self.settings.identity)

    async def dial(self, host: str, port: int) -> trio.abc.Stream:
        """Connect to one of its brokers, for a client of kproxy's own; raises OSError."""
        return await (open_tcp(host, port) if self.tls is None else self.tls.stream(host, port))

    def _new_watcher(self, client: UpstreamClient, initial: Snapshot | None) -> Watcher:
        return Watcher(
            client,
            interval=self._config.topology.interval,
            jitter=JITTER,
            on_change=self._on_change,
            on_reachability=self._on_reachability,
            initial=initial,
            troubles=self._troubles,
        )


async def _watch(client: UpstreamClient, watcher: Watcher) -> None:
    async with trio.open_nursery() as nursery:
        await nursery.start(client.run)
        await watcher.run()


class Upstreams:
    """All upstream clusters of one virtual cluster, in order of preference, and the active one."""

    def __init__(
        self,
        settings: VirtualCluster,
        config: Config,
        counters: ClusterCounters,
        on_change: OnChange,
        on_reachability: OnReachability,
        tls: Mapping[str, BrokerContext | None],
    ) -> None:
        """`tls` is by upstream, as in `made`."""
        self._counters = counters
        self._on_change = on_change
        self._on_reachability = on_reachability
        self.all = self.made(settings, config, tls)
        """By name, in order of preference."""
        self.active = next(iter(self.all.values()))
        """The upstream that clients reach at the moment."""

    def made(
        self, settings: VirtualCluster, config: Config, tls: Mapping[str, BrokerContext | None]
    ) -> dict[str, Upstream]:
        """Return new upstream clusters, by name, as the settings name them; `tls` is by upstream, too."""
        return {
            one.name: Upstream(
                one,
                config,
                settings.name,
                tls[one.name],
                self._on_change,
                self._on_reachability,
                self._counters.troubles,
            )
            for one in settings.backends
        }

    @property
    def watcher(self) -> Watcher:
        """The active upstream's watcher."""
        return self.active.watcher

    @property
    def cluster_id(self) -> str | None:
        """The active cluster's id; None while it is unknown or in doubt, so that it misleads no client."""
        snapshot = self.watcher.snapshot
        return None if snapshot is None or self.watcher.unconfirmed else snapshot.cluster_id

    def activate(self, upstream: Upstream, snapshot: Snapshot | None, work: trio.Nursery) -> None:
        """Make this upstream the active one: watch it, and stop watching the previous one."""
        self.active.stop()
        self.active = upstream
        self._counters.upstreams = dict.fromkeys(self.all, False)
        self._counters.activate(upstream.name)
        upstream.start(work, snapshot)

    def adopt(self, config: Config) -> None:
        """Apply the process-wide settings to all of them."""
        for upstream in self.all.values():
            upstream.adopt(config)
