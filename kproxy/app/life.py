"""The process from start to end: starting, ready, degraded, draining."""

from __future__ import annotations

import signal
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import structlog
import trio

from kproxy.admin.server import serve_admin
from kproxy.app.cluster import Cluster
from kproxy.app.view import LifeView
from kproxy.observe.counters import Counters
from kproxy.observe.reasons import Reason
from kproxy.relay.entrance import Entrance
from kproxy.relay.pump import Pump

if TYPE_CHECKING:
    from kproxy.config import Config

log = structlog.get_logger("kproxy")

DRAINED = 0
CUT_SHORT = 1


class Life:
    """One process' parts, and the order in which they come and go."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.counters = Counters(time.time())
        self.pump = Pump(config.timeouts)
        self.entrance = Entrance(self.pump, config.limits, config.timeouts)
        self.clusters = [
            Cluster(settings, config, self.counters.cluster(settings.name)) for settings in config.clusters
        ]
        self.started = False
        self.draining = False
        self._exit_code = DRAINED

    async def live(self) -> int:
        """Serve until a signal ends it; returns the exit code. Raises `ConfigError` (in a group) when it cannot."""
        with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async with trio.open_nursery() as work:
                work.start_soon(self.pump.run)
                if self.config.admin is not None:
                    listen = self.config.admin.listen
                    await work.start(serve_admin, LifeView(self), listen.host, listen.port)
                await self._open(work, signals)
                await self._drain(signals)
                work.cancel_scope.cancel()
        log.info("stopped", exit_code=self._exit_code)
        return self._exit_code

    async def _open(self, work: trio.Nursery, signals: AsyncIterator[int]) -> None:
        """Listen, and return with all listeners closed when the first signal has come."""
        async with trio.open_nursery() as doors:
            for cluster in self.clusters:
                cluster.start(work, doors, self.entrance)
                log.info("listening", cluster=cluster.settings.name, address="{}:{}".format(*cluster.listen))
            self.started = True
            await anext(signals)
            self.draining = True
            doors.cancel_scope.cancel()

    async def _drain(self, signals: AsyncIterator[int]) -> None:
        """Wait until all that was received is answered, the deadline, or a second signal, whichever is first."""
        deadline = self.config.drain.deadline
        log.info("draining", connections=len(self.pump.connections), deadline=deadline)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._at_second_signal, signals, nursery.cancel_scope)
            with trio.move_on_after(deadline) as scope:
                self.entrance.drain()
                self.pump.drain()
                await self.entrance.wait_empty()
                await self.pump.wait_empty()
                await self.pump.wait_delivered()
            nursery.cancel_scope.cancel()
        if scope.cancelled_caught:
            log.warning("drain deadline", connections=len(self.pump.connections), deadline=deadline)
            self.pump.close_all(Reason.DRAIN_DEADLINE)

    async def _at_second_signal(self, signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
        await anext(signals)
        log.warning("stopped at once by a second signal", connections=len(self.pump.connections))
        self._exit_code = CUT_SHORT
        scope.cancel()
