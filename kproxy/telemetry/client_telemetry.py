"""Client telemetry of one virtual cluster (KIP-714): its api policies, its receivers, its stored subscriptions.

`Cluster` makes one when kproxy starts, starts it before the first client connects, and applies a reload to it.
`kproxy config check` makes one, too, only to check its settings.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.delivery.factory import Connect
from kproxy.errors import ConfigError
from kproxy.observe.counters import TelemetryCounters
from kproxy.observe.faults import guarded, supervised
from kproxy.observe.troubles import Troubles, Where
from kproxy.state.restore import restored
from kproxy.state.store import StateError
from kproxy.telemetry.errors import SubscriptionError
from kproxy.telemetry.policies import policies
from kproxy.telemetry.quotas import Quotas
from kproxy.telemetry.receivers.factory import made
from kproxy.telemetry.receivers.interface import Fanout
from kproxy.telemetry.receivers.prometheus import Prometheus
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.skim import Bounds
from kproxy.telemetry.subscription import INTERVAL_MS, MATCH, METRICS, Subscription
from kproxy.telemetry.subscriptions import Subscriptions

if TYPE_CHECKING:
    from kproxy.config import Config
    from kproxy.config.telemetry import Subscription as Fixed
    from kproxy.config.telemetry import Telemetry as Settings
    from kproxy.state.store import Store
    from kproxy.telemetry.apis.dialogue import MayAlter
    from kproxy.telemetry.config_resource import Change

EXPIRY_SECONDS: Final = 10.0
KEEP_SECONDS: Final = 10.0
"""The most time that storing a change may take; its client waits for it."""

log = structlog.get_logger("kproxy.telemetry")


class ClientTelemetry:
    """All of a virtual cluster's telemetry; `start` it before the first client connects."""

    def __init__(
        self, cluster: str, index: int, config: Config, connect: Connect, troubles: Troubles | None = None
    ) -> None:
        """Raise `ConfigError` for settings that only libraries can check: regexes, addresses, plug-ins.

        `troubles` are the process'; by default they are this object's own.
        """
        self._troubles = troubles or Troubles()
        settings = config.clusters[index].telemetry
        assert settings is not None
        self._cluster = cluster
        self._table = f"telemetry/{cluster}"
        self._key = f"clusters.{index}.telemetry"
        self._store: Store
        self._work: trio.Nursery
        self.admin: MayAlter = settings.admin
        subscriptions = Subscriptions(self.fixed(settings), default_interval_ms=_ms(settings.interval))
        self.core = Telemetry(subscriptions, max_bytes=settings.max_bytes, clock=time.perf_counter)
        self.core.quotas = _quotas(settings)
        self.fanout = Fanout(made(config, cluster, settings.receivers, connect), troubles=self._troubles)
        self.policies = policies(self.core, self.fanout.offer, lambda: self.admin, self.change)

    async def remember(self, store: Store) -> None:
        """Restore the stored subscriptions; raise `StateError`."""
        self._store = store
        for name, configs in (await restored(store, self._table, _configs)).items():
            try:
                self.core.subscriptions.put(Subscription.from_configs(name, configs))
            except SubscriptionError as error:  # stored by a release with other rules
                log.error("subscription not restored", cluster=self._cluster, name=name, reason=error.message)

    def start(self, work: trio.Nursery) -> None:
        """Run the receivers in `work`, once every cluster where they write has remembered its upstream."""
        self._work = work
        work.start_soon(supervised, self._troubles, Where.DELIVERY, self.fanout.run)
        work.start_soon(supervised, self._troubles, Where.TELEMETRY, self._expire)

    def reconfigure(self, settings: Settings) -> None:
        """Apply other settings; receivers stay as they are. Raise `ConfigError`."""
        fixed = self.fixed(settings)
        self.admin = settings.admin
        self.core.quotas = _quotas(settings)
        self.core.subscriptions.fix(fixed)
        self.core.subscriptions.pace(_ms(settings.interval))

    def moved(self) -> None:
        """Restart the receivers that write to the upstream cluster, which is another one now."""
        from kproxy.telemetry.receivers.kafka import Kafka  # noqa: PLC0415 - loaded already where there is one

        for receiver in self.fanout.receivers:
            if isinstance(receiver, Kafka):
                self.fanout.again(receiver)

    @property
    def counters(self) -> TelemetryCounters:
        """Return what the metrics' collector reads."""
        return TelemetryCounters(
            self.core.tally,
            self.core.instances,
            queues={receiver.name: receiver.counters for receiver in self.fanout.receivers},
            series={one.name: one.accumulator.tally for one in self.prometheus},
        )

    @property
    def prometheus(self) -> list[Prometheus]:
        """Return the receivers whose series are scraped from kproxy."""
        return [receiver for receiver in self.fanout.receivers if isinstance(receiver, Prometheus)]

    def change(self, changes: Sequence[Change], done: Callable[[str | None], None]) -> None:
        """Store changes, in effect already, in a task. Call `done` with None, or with why a restart will lose them."""
        self._work.start_soon(guarded, self._troubles, Where.TELEMETRY, self._change, changes, done)

    async def _change(self, changes: Sequence[Change], done: Callable[[str | None], None]) -> None:
        reason = None
        for change in changes:
            try:
                await self.keep(change)
            except StateError as error:
                reason = str(error)
            except Exception:
                done("a fault in kproxy; its log has the traceback")
                raise
        done(reason)

    async def keep(self, change: Change) -> None:
        """Store a change. Raise `StateError` if a restart will lose it; it is in effect all the same."""
        about = {"cluster": self._cluster, "name": change.name, "gone": change.subscription is None}
        log.info("subscription altered", **about)
        try:
            with trio.fail_after(KEEP_SECONDS):
                await self._keep(change)
        except (StateError, trio.TooSlowError) as error:
            reason = str(error) or f"the disk has not taken it within {KEEP_SECONDS:g} s; check it"
            log.error("subscription not kept: a restart will not know of it", **about, reason=reason)
            raise StateError(reason) from error

    async def _keep(self, change: Change) -> None:
        if change.subscription is None:
            await self._store.delete(self._table, change.name)
        else:
            await self._store.put(self._table, change.name, json.dumps(change.subscription.configs()).encode())

    async def _expire(self) -> None:
        while True:
            await trio.sleep(EXPIRY_SECONDS)
            self.core.expired(time.time())

    def fixed(self, settings: Settings) -> list[Subscription]:
        """Return the subscriptions that the settings define; raise `ConfigError`."""
        return [self._subscription(index, one, settings.interval) for index, one in enumerate(settings.subscriptions)]

    def _subscription(self, index: int, settings: Fixed, interval: float) -> Subscription:
        configs = {
            METRICS: ",".join(settings.metrics),
            INTERVAL_MS: str(_ms(interval if settings.interval is None else settings.interval)),
            MATCH: ",".join(f"{key}={pattern}" for key, pattern in settings.match.items()),
        }
        try:
            return Subscription.from_configs(settings.name, {key: value for key, value in configs.items() if value})
        except SubscriptionError as error:
            raise ConfigError(f"{self._key}.subscriptions.{index}", error.message) from error


def _configs(_name: str, value: bytes) -> dict[str, str]:
    """Return the configs of a stored subscription; raise ValueError if it has none."""
    configs = json.loads(value)
    if not isinstance(configs, dict) or not all(isinstance(each, str) for each in configs.values()):
        raise ValueError("not an object of texts")
    for each in configs.values():
        each.encode()  # JSON can write half of a surrogate pair, which no client can be sent
    return configs


def _quotas(settings: Settings) -> Quotas:
    return Quotas(
        Bounds(settings.max_points, settings.max_attributes, settings.max_buckets, settings.max_fields),
        connection_decode=settings.connection_decode,
        address_decode=settings.address_decode,
        connection_instances=settings.connection_instances,
        address_share=settings.address_share,
        require_principal=settings.require_principal,
    )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
