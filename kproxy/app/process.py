"""The process from start to end: starting, ready, degraded, draining.

`run` makes the one `Process` when `kproxy serve` starts.
"""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from kproxy.admin.commanders import Commanders
from kproxy.admin.security import SETTING, AdminSecurity, read_admin_security
from kproxy.admin.server import serve_admin
from kproxy.app.drain import Drain
from kproxy.app.launcher import FLUSH_SECONDS, Launcher
from kproxy.app.reloader import Read, Reloader
from kproxy.app.view import ProcessView
from kproxy.cluster.cluster import Cluster
from kproxy.cluster.topic_clients import check_topics
from kproxy.errors import ConfigError
from kproxy.observe.counters import Counters, LogCounters
from kproxy.observe.faults import boundary, supervised
from kproxy.observe.logs import set_level
from kproxy.observe.troubles import Where
from kproxy.observe.watchdog import watched_loop
from kproxy.relay.descriptors import raise_descriptor_limit
from kproxy.relay.relay import Relay
from kproxy.state.store import MemoryStore, StateError

if TYPE_CHECKING:
    from kproxy.app.event_stream import EventStream
    from kproxy.config import Config
    from kproxy.config.process import Admin
    from kproxy.state.store import Store

log = structlog.get_logger("kproxy")

DRAINED = 0
CUT_SHORT = 1


class Process:
    """The parts of one process, and the order in which they start and end."""

    def __init__(self, config: Config, read: Read | None = None, log: LogCounters | None = None) -> None:
        """`read` reads the configuration again, at a reload. `log` are the counters of the log, which began before."""
        self.config = config
        self.counters = Counters(time.time(), log=LogCounters() if log is None else log)
        self._troubles = self.counters.troubles
        self._descriptors = raise_descriptor_limit()
        self.relay = Relay(config.limits, config.timeouts, self.counters)
        self.counters.accepting = self.relay
        self.clusters = [
            Cluster(settings, config, self.counters.cluster(settings.name), self.relay.connections)
            for settings in config.clusters
        ]
        check_topics(config)
        self._introduce()
        self.events = self._events()
        self.secure_admin(read_admin_security(config.admin))
        self.started = False
        self.draining = False
        self.launcher: Launcher | None = None
        self.reloader = None if read is None else Reloader(self, read)
        self._exit_code = DRAINED

    def _events(self) -> EventStream | None:
        if not self.config.events.destinations:
            return None
        from kproxy.app.event_stream import EventStream  # noqa: PLC0415 (not for nothing)

        stream = EventStream(self.config.events, self.clusters, self.relay, self.counters.troubles)
        self.counters.events = stream.queues
        return stream

    def _introduce(self) -> None:
        siblings = {cluster.settings.name: cluster for cluster in self.clusters}
        for cluster in self.clusters:
            cluster.siblings = siblings

    def replace(self, clusters: Sequence[Cluster]) -> None:
        """Have these virtual clusters, which run, in place of those before; end those that are not among them."""
        before, self.clusters = self.clusters, list(clusters)
        self._introduce()
        for cluster in self.clusters:
            self.counters.clusters[cluster.settings.name] = cluster.counters
            if self.events is not None:
                self.events.follow(cluster)
        for cluster in before:
            if cluster not in self.clusters and self.launcher is not None:
                self.launcher.retire(cluster, self.config.drain.deadline)

    def adopt(self, config: Config) -> None:
        """Apply another configuration's process-wide settings at run time."""
        if config.log.level != self.config.log.level:
            set_level(config.log.level)
        before, self.config = self.config, config
        if (config.limits, config.timeouts) != (before.limits, before.timeouts):
            self.relay.reconfigure(config.limits, config.timeouts)
            self._tell_limit()
        for cluster in self.clusters:
            cluster.adopt(config)

    def secure_admin(self, security: AdminSecurity | None) -> None:
        """Use what the files of the admin port's TLS say now, for new connections."""
        self.admin_security = security
        validity = None if security is None else security.validity
        self.counters.certificates = {} if validity is None else {SETTING: validity.ends}

    def _tell_limit(self) -> None:
        """Log how many client connections there may be; with a warning where the settings want more."""
        most, wanted = self.relay.max_connections, self.config.limits.max_connections
        if wanted is not None and most < wanted:
            hint = "raise the limit on open files (ulimit -n)"
            log.warning("open files are too few for limits.max_connections", wanted=wanted, most=most, hint=hint)
        before, now = self._descriptors
        log.info("client connections are limited", most=most, open_files=now, open_files_before=before)

    async def live(self) -> int:
        """Serve until a signal ends it; return the exit code. Raises `ConfigError` (in a group) when it cannot."""
        stops = trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT)
        with stops as signals, watched_loop(self.counters.loop_lag):
            async with trio.open_nursery() as work:
                work.start_soon(self.relay.run)
                if self.config.admin is not None:
                    await self._serve_admin(work, self.config.admin)
                if self.reloader is not None:
                    work.start_soon(supervised, self._troubles, Where.RELOAD, self.reloader.run)
                    watch = partial(self.reloader.watch, lambda: self.config.reload.interval)
                    work.start_soon(supervised, self._troubles, Where.RELOAD, watch)
                store = await self._store()
                try:
                    drain = await self._open(work, signals, store)
                    with boundary(self._troubles, Where.DRAIN):
                        await drain.answer()
                    if not drain.cut_short:
                        with boundary(self._troubles, Where.DRAIN):
                            await self._flush()
                finally:
                    await _close(store)
                self._exit_code = CUT_SHORT if drain.cut_short else DRAINED
                work.cancel_scope.cancel()
        log.info("stopped", exit_code=self._exit_code)
        return self._exit_code

    async def _serve_admin(self, work: trio.Nursery, settings: Admin) -> None:
        def security() -> AdminSecurity | None:
            return self.admin_security

        anyone = settings.dangerously_let_anyone_command
        serve = partial(
            serve_admin,
            allowed_hosts=settings.allowed_hosts,
            troubles=self._troubles,
            commanders=Commanders(settings.token_file, anyone=anyone, security=security),
            security=security,
            opened=lambda bound: log.info("admin port is open", address=bound[0], bound=bound),
        )
        await work.start(serve, ProcessView(self), settings.listen.host, settings.listen.port)

    async def _store(self) -> Store:
        """Open the store with what survived the last restart; raises `ConfigError`."""
        path = self.config.state.path
        if path is None:
            return MemoryStore()
        from kproxy.state.sqlite import SqliteStore  # noqa: PLC0415 (not for nothing)

        try:
            return await SqliteStore.open(path)
        except StateError as error:
            raise ConfigError("state.path", str(error)) from error

    async def _flush(self) -> None:
        async with trio.open_nursery() as nursery:
            if self.events is not None:
                nursery.start_soon(self.events.flush, FLUSH_SECONDS)
            for cluster in self.clusters:
                nursery.start_soon(cluster.kept.settle, FLUSH_SECONDS)
                if cluster.telemetry is not None:
                    nursery.start_soon(cluster.telemetry.fanout.flush, FLUSH_SECONDS)

    async def _open(self, work: trio.Nursery, signals: AsyncIterator[int], store: Store) -> Drain:
        """Listen until a signal comes, then send clients away if configured; return with all listeners closed."""
        async with trio.open_nursery() as listening:
            launcher = Launcher(self.relay, self.counters, store, work, listening)
            await launcher.launch_all(self.clusters)
            if self.events is not None:  # its topics are at the upstreams that the clusters have remembered
                work.start_soon(supervised, self._troubles, Where.EVENTS, self.events.run)
            self.launcher = launcher
            self._tell_limit()
            gc.freeze()  # a full collection would walk all that was loaded: 20 ms in which no client is served
            self.started = True
            await anext(signals)
            self.draining = True
            drain = Drain(self.config.drain.deadline, self.relay, signals)
            if self.config.drain.rebootstrap:
                with boundary(self._troubles, Where.DRAIN):
                    await drain.send_away(self.clusters)
            for cluster in self.clusters:
                if cluster.groups is not None:
                    cluster.groups.send_away(for_good=True)  # a JoinGroup that waits would hold up the drain
            launcher.close_listeners()
        return drain


async def _close(store: Store) -> None:
    try:
        await store.close()
    except StateError as error:
        log.error("state was not closed", reason=str(error))
