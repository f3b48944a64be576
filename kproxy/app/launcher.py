"""Starts virtual clusters, each in nurseries of its own, and ends one without the others.

`Process` makes one once the store is open: it launches all virtual clusters, and a reload those that come and go.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from kproxy.cluster.shared_ports import SharedPorts
from kproxy.errors import ConfigError
from kproxy.observe.faults import boundary, guarded
from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where
from kproxy.protocol.connections import Selector
from kproxy.state.store import StateError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kproxy.cluster.cluster import Cluster
    from kproxy.observe.counters import Counters
    from kproxy.relay.relay import Relay
    from kproxy.state.store import Store

FLUSH_SECONDS = 5.0
"""Seconds for telemetry and events to be delivered, once no client is left."""
_LEAST = 0.02
"""Seconds of a drain whose deadline is 0: what can be answered at once is."""

log = structlog.get_logger("kproxy")


@dataclass(eq=False, slots=True)
class _Life:
    """The tasks of one virtual cluster: `work` for its clients and watcher, `listening` for its sockets.

    `gone`: all of `work` has ended. `ended`: nothing is left of the virtual cluster.
    """

    work: trio.Nursery
    listening: trio.Nursery
    gone: trio.Event
    ended: trio.Event = field(default_factory=trio.Event)


class Launcher:
    """The virtual clusters that run. Those that were removed, and have clients left, run on until these are gone."""

    def __init__(
        self, relay: Relay, counters: Counters, store: Store, work: trio.Nursery, listening: trio.Nursery
    ) -> None:
        self._relay = relay
        self._counters = counters
        self._store = store
        self._work = work
        self._listening = listening
        self._shared = SharedPorts(work, listening)
        self._lives: dict[str, _Life] = {}
        self._ending: dict[str, trio.Event] = {}
        """By name, the end of those that were removed."""

    async def launch(self, cluster: Cluster) -> None:
        """Remember, bind and serve; raises `ConfigError`, and then nothing of the virtual cluster is left."""
        name = cluster.settings.name
        if (before := self._ending.get(name)) is not None:
            await before.wait()  # one of this name was removed just now: counters and connections are known by it
        life = await self._begun()
        with ExitStack() as undo:
            undo.callback(self._abandon, cluster, life)
            await self._remember(cluster, life)
            self._start(cluster, life)
            undo.pop_all()

    async def launch_all(self, clusters: Sequence[Cluster]) -> None:
        """As `launch`, for all at the start of the process, which ends if that fails.

        They remember at the same time: each waits for seconds where orders cannot be read. Then they bind, in order.
        """
        lives = [await self._begun() for _ in clusters]
        async with trio.open_nursery() as nursery:
            for cluster, life in zip(clusters, lives, strict=True):
                nursery.start_soon(self._remember, cluster, life)
        for cluster, life in zip(clusters, lives, strict=True):
            self._start(cluster, life)

    async def _remember(self, cluster: Cluster, life: _Life) -> None:
        try:
            await cluster.remember(self._store, life.work)
        except StateError as error:
            raise ConfigError("state.path", str(error)) from error

    def _start(self, cluster: Cluster, life: _Life) -> None:
        cluster.start(life.work, life.listening, self._relay, self._shared)
        self._lives[cluster.settings.name] = life
        cluster.listeners.announce()

    async def _begun(self) -> _Life:
        gone = trio.Event()
        return _Life(await self._work.start(_held, gone), await self._listening.start(_held, trio.Event()), gone)

    def _abandon(self, cluster: Cluster, life: _Life) -> None:
        cluster.listeners.close()
        life.listening.cancel_scope.cancel()
        life.work.cancel_scope.cancel()

    def close_listeners(self) -> None:
        """Accept no more clients, of any virtual cluster."""
        for life in self._lives.values():
            life.listening.cancel_scope.cancel()
        self._listening.cancel_scope.cancel()

    def retire(self, cluster: Cluster, deadline: float) -> None:
        """Listen no more at once; in a task, answer what its clients have sent, in `deadline` seconds, and end it."""
        name = cluster.settings.name
        life = self._lives.pop(name)
        self._ending[name] = life.ended
        cluster.listeners.close()
        life.listening.cancel_scope.cancel()
        if cluster.groups is not None:
            cluster.groups.send_away(for_good=True)  # a JoinGroup that waits would hold up the drain
        drain = partial(self._drain, cluster, deadline)
        self._work.start_soon(guarded, self._counters.troubles, Where.DRAIN, partial(self._end, cluster, life, drain))

    async def _end(self, cluster: Cluster, life: _Life, drain: Callable[[], Awaitable[None]]) -> None:
        name = cluster.settings.name
        try:
            with boundary(self._counters.troubles, Where.DRAIN):
                await drain()
            cluster.destination.removed = True  # clients that begin at a shared port are no task of `life`
            life.work.cancel_scope.cancel()
            await life.gone.wait()
            self._relay.connections.close(Selector(name), Reason.DRAINED)  # those that came in meanwhile
        finally:
            self._counters.clusters.pop(name, None)
            self._ending.pop(name, None)
            life.ended.set()
        log.info("virtual cluster removed", cluster=name)

    async def _drain(self, cluster: Cluster, deadline: float) -> None:
        drained = Selector(cluster.settings.name)
        await self._relay.connections.drain(drained, Reason.DRAINED, max(deadline, _LEAST))
        if cluster.telemetry is not None:
            await cluster.telemetry.fanout.flush(FLUSH_SECONDS)


async def _held(gone: trio.Event, *, task_status: trio.TaskStatus[trio.Nursery]) -> None:
    """Hold a nursery open until it is cancelled."""
    try:
        async with trio.open_nursery() as nursery:
            task_status.started(nursery)
            await trio.sleep_forever()
    finally:
        gone.set()
