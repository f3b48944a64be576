"""The upstream clusters of a virtual cluster, all of them watched: one is active, the others are standbys.

`Cluster` makes them at start; a reload makes those anew whose settings changed. `activate` runs at start and at each
switch.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

import structlog
import trio

from kproxy.errors import UpstreamError
from kproxy.observe.faults import supervised
from kproxy.observe.troubles import Troubles, Where
from kproxy.topology.standing import Look, Standing
from kproxy.topology.watcher import Watcher
from kproxy.upstream.attempts import Address
from kproxy.upstream.authentication import Asked, authenticate
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.dial import Dial, open_tcp
from kproxy.upstream.hellos import Hellos
from kproxy.upstream.servers import BootstrapServers
from kproxy.upstream.tokens import TokenCache

if TYPE_CHECKING:
    from kproxy.config import Config, Identity, VirtualCluster
    from kproxy.config.upstreams import Upstream as Settings
    from kproxy.observe.counters import ClusterCounters
    from kproxy.topology.probe import OnReachability
    from kproxy.topology.snapshot import Change, Snapshot
    from kproxy.upstream.tls import BrokerContext

P = ParamSpec("P")
T = TypeVar("T")
OnChange = Callable[["Snapshot", "Change"], None]
OnLook = Callable[["Upstream", Look], None]
JITTER: Final = 0.2

log = structlog.get_logger("kproxy.cluster")


def client_of(
    servers: Sequence[tuple[str, int]],
    config: Callable[[], Config],
    troubles: Troubles | None = None,
    dial: Dial = open_tcp,
    identity: Callable[[], Identity | None] = lambda: None,
    tokens: TokenCache | None = None,
    hellos: Hellos | None = None,
    dialled: Callable[[Address, str | None], None] = lambda address, error: None,
) -> UpstreamClient:
    """Return a client of the cluster at these bootstrap servers, with the timeouts that the settings have by then."""
    return UpstreamClient(
        servers,
        timeouts=lambda: (config().timeouts.connect, config().timeouts.upstream_request),
        dial=dial,
        troubles=troubles,
        identity=identity,
        tokens=tokens,
        hellos=hellos,
        dialled=dialled,
    )


class Upstream:
    """One upstream cluster.

    `watcher` has seen nothing until `start` or `stand_by`.
    """

    def __init__(
        self,
        settings: Settings,
        config: Config,
        cluster: str,
        tls: BrokerContext | None,
        on_change: OnChange,
        on_reachability: OnReachability,
        on_look: OnLook = lambda upstream, look: None,
        troubles: Troubles | None = None,
    ) -> None:
        """`on_change` and `on_reachability` are for the active one only.

        `troubles` are the process'; by default they are the upstream's own.
        """
        self._troubles = troubles or Troubles()
        self.settings = settings
        self.name = settings.name
        self.servers = BootstrapServers([(server.host, server.port) for server in settings.bootstrap_servers])
        self.tls = tls
        """For connections to its brokers from now on; None for plaintext."""
        self._config = config
        self._cluster = cluster
        self._on_change = on_change
        self._on_reachability = on_reachability
        self._on_look = on_look
        self._scope: trio.CancelScope | None = None
        self.standing = Standing()
        """What all looks have shown, whether it was active or a standby."""
        self.tokens = TokenCache()
        """The tokens of its identity, for all connections of kproxy's own."""
        self.hellos = Hellos()
        """What its brokers last answered to ApiVersions."""
        self._client = self.new_client()
        self.watcher = self._poller(self._client)

    @property
    def snapshot(self) -> Snapshot | None:
        """The cluster as last seen; None before that."""
        return self.watcher.snapshot

    async def log_in(self, broker: Asked, where: str, work: trio.Nursery) -> float:
        """Authenticate at a broker, if there is an identity; return after how many seconds to do so again.

        Raises UpstreamError. A token is fetched in `work`.
        """
        identity = self.settings.identity
        if identity is None:
            return math.inf
        limit = self._config.timeouts.connect
        return await authenticate(broker, identity, where, limit, self.tokens, work) - trio.current_time()

    def is_at(self, settings: Settings) -> bool:
        """True when the settings name this cluster, whatever identity kproxy has there."""
        return self.settings == settings.model_copy(update={"identity": self.settings.identity})

    def identify(self, settings: Settings) -> None:
        """Take the identity of these settings, which name this cluster: new connections authenticate with it."""
        self.settings = settings

    def adopt(self, config: Config) -> None:
        """Apply the process-wide settings, for new connections."""
        self._config = config

    def start(self, work: trio.Nursery, snapshot: Snapshot | None) -> None:
        """Watch it as the active one from now on, beginning with `snapshot`, which `look` has returned before."""
        self._watch(work, self._config.topology.interval, snapshot, self._on_change, self._on_reachability)

    def stand_by(self, work: trio.Nursery, interval: float) -> None:
        """Watch it as a standby from now on: no client is concerned by what it shows."""
        self._watch(work, interval, self.snapshot, _is_no_news, _log_node)

    def _watch(
        self,
        work: trio.Nursery,
        interval: float,
        snapshot: Snapshot | None,
        on_change: OnChange,
        on_reachability: OnReachability,
    ) -> None:
        self.stop()
        scope = self._scope = trio.CancelScope()
        client = self._client = self.new_client()
        self.watcher = Watcher(
            client,
            interval=interval,
            jitter=JITTER,
            on_change=_until_cancelled(scope, on_change),
            on_reachability=_until_cancelled(scope, on_reachability),
            on_look=_until_cancelled(scope, self._looked),
            initial=snapshot,
            troubles=self._troubles,
        )
        work.start_soon(self._run, scope, client, self.watcher)

    def _looked(self, look: Look) -> None:
        if look.seen is not None:
            self.hellos.keep({*self.servers.addresses, *(node.address for node in look.seen.nodes.values())})
        self._on_look(self, look)

    def stop(self) -> None:
        """Stop watching, if it is watched; the connections are closed."""
        if self._scope is not None:
            self._scope.cancel()
            self._scope = None

    @property
    def is_watched(self) -> bool:
        """Whether it was started, as the active one or a standby, and not stopped."""
        return self._scope is not None

    def poll_every(self, interval: float) -> None:
        """Poll it at another interval: a shorter one counts from now on."""
        if interval < self.watcher.interval:
            self.watcher.hint()
        self.watcher.interval = interval

    @property
    def connect_seconds(self) -> float:
        """How long a connection to one of its brokers may take."""
        return self._config.timeouts.connect

    async def look(self) -> Snapshot:
        """Return the cluster as it describes itself now, on connections of its own; raises UpstreamError."""
        return await self.ask(lambda client: self._poller(client).poll_once())

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
        return client_of(
            self.servers.addresses,
            lambda: self._config,
            self._troubles,
            self.dial,
            lambda: self.settings.identity,
            self.tokens,
            self.hellos,
            self.servers.dialled,
        )

    async def dial(self, host: str, port: int) -> trio.abc.Stream:
        """Connect to one of its brokers, for a client of kproxy's own; raises OSError."""
        return await (open_tcp(host, port) if self.tls is None else self.tls.stream(host, port))

    def _poller(self, client: UpstreamClient) -> Watcher:
        """Return a watcher that is not run: it polls when it is asked to, and calls nobody."""
        return Watcher(
            client,
            interval=self._config.topology.interval,
            on_change=_is_no_news,
            on_reachability=_log_node,
            troubles=self._troubles,
        )


def _until_cancelled(scope: trio.CancelScope, callback: Callable[P, None]) -> Callable[P, None]:
    """Return the callback, which does nothing once the scope is cancelled.

    A task that has its answer by then still runs to its next checkpoint.
    """

    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        if not scope.cancel_called:
            callback(*args, **kwargs)

    return call


def _is_no_news(snapshot: Snapshot, change: Change) -> None:
    """Do nothing: each look at a standby shows all that there is."""


def _log_node(node_id: int, ok: bool, error: str | None) -> None:
    if ok:
        log.info("node of a standby reachable", node=node_id)
    else:
        log.warning("node of a standby unreachable", node=node_id, error=error)


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
        on_look: OnLook,
        tls: Mapping[str, BrokerContext | None],
    ) -> None:
        """`tls` is by upstream, as in `made`."""
        self._counters = counters
        self._on_change = on_change
        self._on_reachability = on_reachability
        self._on_look = on_look
        self._work: trio.Nursery | None = None
        self.standby_interval = settings.failover.standby_interval
        """Seconds between two looks at a standby."""
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
                self._on_look,
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

    @property
    def standbys(self) -> Sequence[Upstream]:
        """The upstreams that are not active, in order of preference."""
        return [upstream for upstream in self.all.values() if upstream is not self.active]

    def activate(self, upstream: Upstream, snapshot: Snapshot | None, work: trio.Nursery) -> None:
        """Make this upstream the active one, and watch it as such; the previous one becomes a standby."""
        self._work = work
        self.active.stop()
        self.active = upstream
        self._counters.upstreams = dict.fromkeys(self.all, False)
        self._counters.activate(upstream.name)
        upstream.start(work, snapshot)
        self._stand_by()

    def replace(self, upstreams: dict[str, Upstream], settings: VirtualCluster) -> None:
        """Take these upstreams in place of those before, as the settings say; the active one stays until a switch."""
        for upstream in self.standbys:
            if upstream not in upstreams.values():
                upstream.stop()
        self.all = upstreams
        self.standby_interval = settings.failover.standby_interval
        self._counters.upstreams = {name: upstream is self.active for name, upstream in upstreams.items()}
        self._stand_by()

    def _stand_by(self) -> None:
        """Have every standby watched, once the virtual cluster has started."""
        if self._work is None:
            return
        for upstream in self.standbys:
            if upstream.is_watched:
                upstream.poll_every(self.standby_interval)
            else:
                upstream.stand_by(self._work, self.standby_interval)

    def adopt(self, config: Config) -> None:
        """Apply the process-wide settings to all of them."""
        for upstream in self.all.values():
            upstream.adopt(config)
        self.watcher.interval = config.topology.interval
