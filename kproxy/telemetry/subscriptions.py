# This module is pure (no I/O, no clock).
"""All client metrics subscriptions of a virtual cluster, and their union for one client.

`Telemetry` asks for the union when it meets a client, and again after a subscription has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple
from uuid import UUID

import google_crc32c

from kproxy.telemetry.subscription import ALL_METRICS, DEFAULT_INTERVAL_MS, ClientInfo, Subscription, attribute

EVERYTHING: Final = ("",)
"""Every name has the empty prefix. Brokers send `*`, for which franz-go pushes nothing; all clients know the empty
prefix."""
_CACHED_CLIENTS: Final = 4096
_UINT32: Final = 0xFFFFFFFF
_INT32_MAX: Final = 0x7FFFFFFF


class SubscriptionSet(NamedTuple):
    """What a client is to push: prefixes of metrics (none: nothing) and an interval; `checksum` is a CRC32C of both."""

    metrics: tuple[str, ...]
    interval_ms: int
    checksum: int

    def subscription_id(self, instance_id: UUID) -> int:
        """Return an int32, the same after a restart and on every replica, so that a client notices neither."""
        value = instance_id.int
        folded = (value >> 96) ^ (value >> 64) ^ (value >> 32) ^ value
        unsigned = (self.checksum ^ folded) & _UINT32
        return unsigned - _UINT32 - 1 if unsigned > _INT32_MAX else unsigned


class Subscriptions:
    """All subscriptions by name; `version` rises with every change.

    Those of the configuration file are `fixed`: nothing else changes them, and they hide others of the same name.
    """

    def __init__(self, fixed: Iterable[Subscription] = (), *, default_interval_ms: int = DEFAULT_INTERVAL_MS) -> None:
        self.version = 0
        self._default_interval_ms = default_interval_ms
        self._altered: dict[str, Subscription] = {}
        self._fixed: dict[str, Subscription] = {}
        self._attributes: tuple[str, ...] = ()
        self._cache: dict[tuple[tuple[str, ...], ...], SubscriptionSet] = {}
        self.fix(fixed)

    def __iter__(self) -> Iterator[Subscription]:
        """Yield all subscriptions, sorted by name."""
        by_name = self._altered | self._fixed
        return (by_name[name] for name in sorted(by_name))

    def __len__(self) -> int:
        return len(self._altered.keys() | self._fixed.keys())

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of that name, if there is one."""
        return self._fixed.get(name) or self._altered.get(name)

    def is_fixed(self, name: str) -> bool:
        """Return whether the configuration file sets it."""
        return name in self._fixed

    def fix(self, fixed: Iterable[Subscription]) -> None:
        """Replace the subscriptions of the configuration file."""
        by_name = {subscription.name: subscription for subscription in fixed}
        if by_name != self._fixed or not self.version:
            self._fixed = by_name
            self._change()

    def pace(self, default_interval_ms: int) -> None:
        """Set the longest interval between two pushes of a client."""
        if default_interval_ms != self._default_interval_ms:
            self._default_interval_ms = default_interval_ms
            self._change()

    def put(self, subscription: Subscription) -> None:
        """Add it, or replace the one of its name."""
        if self._altered.get(subscription.name) != subscription:
            self._altered[subscription.name] = subscription
            self._change()

    def remove(self, name: str) -> None:
        """Remove it, if it exists and is not fixed."""
        if self._altered.pop(name, None) is not None:
            self._change()

    def of(self, info: ClientInfo) -> SubscriptionSet:
        """Return what the client is to push. It is computed once for all clients that no subscription distinguishes."""
        key = tuple(attribute(info, name) for name in self._attributes)
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) >= _CACHED_CLIENTS:
                self._cache.clear()
            found = self._cache[key] = self._union(info)
        return found

    def _union(self, info: ClientInfo) -> SubscriptionSet:
        matching = [subscription for subscription in self if subscription.matches(info)]
        prefixes = {prefix for subscription in matching for prefix in subscription.metrics}
        everything = not prefixes.isdisjoint({ALL_METRICS, *EVERYTHING})
        metrics = EVERYTHING if everything else tuple(sorted(prefixes))
        interval_ms = min((subscription.interval_ms for subscription in matching), default=self._default_interval_ms)
        interval_ms = min(interval_ms, self._default_interval_ms)
        text = "\0".join((*metrics, str(interval_ms)))
        return SubscriptionSet(metrics, interval_ms, google_crc32c.value(text.encode("utf-8", "replace")))

    def _change(self) -> None:
        self.version += 1
        self._cache.clear()
        used = {key for subscription in self for key, _ in subscription.match}
        self._attributes = tuple(sorted(used))
