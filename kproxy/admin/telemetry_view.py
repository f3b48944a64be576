"""Client telemetry for the admin port: subscriptions, client instances, and the page of client metrics.

`ProcessView` imports it at the first request about telemetry, and calls it for each one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING
from uuid import UUID

from kproxy.admin.inventory import time_shown
from kproxy.admin.listing import Smallest
from kproxy.admin.models import InstanceView, SubscriptionView
from kproxy.admin.turns import Turn
from kproxy.config.address import join_host_port
from kproxy.errors import ConflictError, InvalidArgumentError, NotFoundError, NotPersistedError
from kproxy.state.store import StateError
from kproxy.telemetry.config_resource import alter, make
from kproxy.telemetry.errors import SubscriptionError
from kproxy.telemetry.receivers import prometheus
from kproxy.telemetry.subscription import INTERVAL_MS, MATCH, METRICS, kafka_text
from kproxy.wire.error_codes import error_name
from kproxy.wire.generated.error_codes import ErrorCode

if TYPE_CHECKING:
    from kproxy.telemetry.client_telemetry import ClientTelemetry
    from kproxy.telemetry.instances import Instance
    from kproxy.telemetry.subscription import Subscription
    from kproxy.telemetry.subscriptions import Subscriptions


@dataclass(slots=True)
class _Config:
    name: str
    value: str | None


async def page(served: Iterable[ClientTelemetry], compress: bool) -> tuple[str, bytes] | None:
    """One page of all Prometheus receivers; None without any."""
    receivers = [receiver for telemetry in served for receiver in telemetry.prometheus]
    return await prometheus.clients_page(receivers, compress=compress) if receivers else None


def subscriptions(telemetry: ClientTelemetry) -> list[SubscriptionView]:
    """All subscriptions, by name."""
    present = telemetry.core.subscriptions
    return [_subscription(present, subscription) for subscription in present]


async def subscribe(
    telemetry: ClientTelemetry, name: str, metrics: Sequence[str], interval_ms: int | None, match: Mapping[str, str]
) -> SubscriptionView:
    """Make or replace a subscription as AlterConfigs does.

    Raises `ConflictError`, `InvalidArgumentError` or `NotPersistedError`.
    """
    pairs = ",".join(f"{key}={pattern}" for key, pattern in match.items())
    configs = {METRICS: ",".join(metrics)} | ({MATCH: pairs} if pairs else {})
    if interval_ms is not None:
        configs[INTERVAL_MS] = str(interval_ms)
    await _alter(telemetry, name, configs)
    present = telemetry.core.subscriptions
    made = present.get(name)
    assert made is not None
    return _subscription(present, made)


async def unsubscribe(telemetry: ClientTelemetry, name: str) -> None:
    """Delete a subscription as AlterConfigs without a config does.

    Raises `NotFoundError`, `ConflictError` or `NotPersistedError`.
    """
    present = telemetry.core.subscriptions
    if present.get(name) is None:
        known = ", ".join(subscription.name for subscription in present) or "none"
        raise NotFoundError(f"there is no subscription {name!r}; there are: {known}")
    await _alter(telemetry, name, {})


async def instances(telemetry: ClientTelemetry, after: UUID | None, limit: int) -> Iterator[InstanceView]:
    """At most `limit` instances with ids above `after`, by rising id; lazy, since each is matched to subscriptions."""
    past = -1 if after is None else after.int
    page: Smallest[Instance] = Smallest(limit)
    turn = Turn()
    for instance in list(telemetry.core.instances):
        number = instance.info.client_instance_id.int
        if number > past:
            page.add(number, instance)
        await turn.pause()
    return (_instance(telemetry.core.subscriptions, instance) for _, instance in page.sorted())


async def _alter(telemetry: ClientTelemetry, name: str, configs: Mapping[str, str]) -> None:
    """Change a subscription under the rules that hold for Kafka's tools, and store the change."""
    present = telemetry.core.subscriptions
    try:
        change = alter(present, name, [_Config(key, value) for key, value in configs.items()])
    except SubscriptionError as error:
        refusal = ConflictError if error.code == ErrorCode.POLICY_VIOLATION else InvalidArgumentError
        raise refusal(error.message) from error
    if change is not None:
        make(present, change)
        try:
            await telemetry.keep(change)
        except StateError as error:
            raise NotPersistedError(f"{name} is in effect until kproxy restarts, but was not kept: {error}") from error


def _subscription(present: Subscriptions, subscription: Subscription) -> SubscriptionView:
    return SubscriptionView(
        name=subscription.name,
        metrics=subscription.metrics,
        interval_ms=subscription.interval_ms,
        match=dict(subscription.match),
        fixed=present.is_fixed(subscription.name),
    )


def _instance(present: Subscriptions, instance: Instance) -> InstanceView:
    info = instance.info
    failed = instance.last_error != ErrorCode.NONE
    return InstanceView(
        id=kafka_text(info.client_instance_id),
        client=join_host_port(info.source_address, info.source_port),
        client_id=info.client_id,
        software_name=info.software_name,
        software_version=info.software_version,
        subscriptions=[subscription.name for subscription in present if subscription.matches(info)],
        interval_ms=present.of(info).interval_ms,
        last_seen=time_shown(instance.last_seen),
        last_push=None if isinf(instance.last_push) else time_shown(instance.last_push),
        pushes=instance.pushes,
        bytes=instance.pushed_bytes,
        last_error=error_name(instance.last_error) if failed else None,
        last_error_reason=instance.last_error_reason or None,
        dropped_points=instance.losses.points,
        dropped_reason=instance.losses.reason or None,
    )
