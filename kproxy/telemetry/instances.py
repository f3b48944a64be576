# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The known client instances, in bounded memory: the least recently seen one is evicted first, as in Kafka.

An instance is a client that pushes metrics (KIP-714). `Telemetry` looks it up at each of its requests.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from math import inf
from typing import Final
from uuid import UUID

from kproxy.protocol.network import network
from kproxy.telemetry.errors import TelemetryError
from kproxy.telemetry.layout import LastPayload
from kproxy.telemetry.payload import Losses
from kproxy.telemetry.subscription import ClientInfo
from kproxy.telemetry.subscriptions import SubscriptionSet
from kproxy.wire.generated.error_codes import ErrorCode

CAPACITY: Final = 16_384
_MIN_EXPIRY: Final = 60.0  # seconds
_EXPIRY_INTERVALS: Final = 3
_GET_AT_ONCE: Final = frozenset({ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE})
"""Errors of a push after which a client gets its subscriptions again at once."""


class Instance:
    """What is known of one instance. Times are in unix seconds; -inf is never.

    All of it can be lost: an instance that comes back gets the same subscription id, and pushes once too often at most.
    """

    __slots__ = (
        "address",
        "digressed",
        "free_push",
        "info",
        "last_error",
        "last_error_reason",
        "last_get",
        "last_payload",
        "last_push",
        "last_seen",
        "losses",
        "pushed_bytes",
        "pushes",
        "subscription_id",
        "subscriptions",
        "terminating",
        "version",
    )

    def __init__(self, info: ClientInfo, subscriptions: SubscriptionSet, version: int) -> None:
        self.info = info
        self.address = network(info.source_address)
        """Where it was first seen: what its quota is counted by."""
        self.last_error: int = ErrorCode.NONE
        self.last_error_reason = ""
        self.last_seen = -inf
        self.losses = Losses()
        self.last_payload = LastPayload()
        self.pushes = 0
        self.pushed_bytes = 0
        self.terminating = False
        self.digressed = False
        self._begin()
        self.subscribe(subscriptions, version)

    def _begin(self) -> None:
        self.last_get = -inf
        self.last_push = -inf
        self.free_push = False

    def subscribe(self, subscriptions: SubscriptionSet, version: int) -> None:
        """Set what the instance is to push; `version` is that of all subscriptions."""
        self.subscriptions = subscriptions
        self.subscription_id = subscriptions.subscription_id(self.info.client_instance_id)
        self.version = version

    def resubscribe(self, subscriptions: SubscriptionSet, version: int) -> None:
        """Do as `subscribe` after a change. If the instance's own set changed, its next request is not throttled."""
        if subscriptions != self.subscriptions:
            self._begin()
        self.subscribe(subscriptions, version)

    def refused(self, error: TelemetryError | None) -> None:
        """Note why the last push was refused; None: it was not."""
        self.last_error = ErrorCode.NONE if error is None else error.code
        self.last_error_reason = "" if error is None else error.message

    def admit_get(self, now: float) -> None:
        """Raise TelemetryError 89 for a get that comes too early. An admitted get makes the next push free."""
        if self.last_error not in _GET_AT_ONCE and not self._is_due(max(self.last_get, self.last_push), now):
            raise TelemetryError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED, "subscriptions were asked for before the push interval passed"
            )
        self.last_get = now
        self.refused(None)
        self.free_push = True
        self.digressed = False

    def admit_push(self, subscription_id: int, terminating: bool, now: float) -> None:
        """Raise TelemetryError 42, 89 or 117, checked in this order. A push that fails after the 89 check counts."""
        if self.terminating:
            self.terminating = terminating
            raise TelemetryError(ErrorCode.INVALID_REQUEST, "a push after one that said it was the last")
        self._pace(terminating, now)
        self.terminating = terminating
        if subscription_id != self.subscription_id:
            raise TelemetryError(
                ErrorCode.UNKNOWN_SUBSCRIPTION_ID, f"subscription id {subscription_id} is not the present one"
            )

    def _pace(self, terminating: bool, now: float) -> None:
        """Raise TelemetryError 89 for an early push. One terminating push may be early before the next due push."""
        if self.free_push or self._is_due(self.last_push, now):
            self.last_push = now
            self.free_push = False
            self.digressed = False
        elif terminating and not self.digressed:
            self.digressed = True
        else:
            raise TelemetryError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "a push before the push interval passed")

    def _is_due(self, last: float, now: float) -> bool:
        """Return whether a push interval has passed since `last`. A clock that was set back throttles nobody."""
        return last == -inf or not 0 <= round((now - last) * 1000) < self.subscriptions.interval_ms

    @property
    def expires_at(self) -> float:
        """Return when the instance expires, unless it is seen before."""
        return self.last_seen + max(_MIN_EXPIRY, _EXPIRY_INTERVALS * self.subscriptions.interval_ms / 1000)


class Instances:
    """All instances by id, the most recently seen last.

    Those of one address are a part of `capacity` at most; beyond it the least recently seen one of them goes first. So
    nobody who makes up instances evicts those of other addresses.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.evicted = 0
        """How many instances were evicted for lack of room."""
        self._capacity = capacity
        # Not a plain dict: finding its first key walks over all keys deleted before it.
        self._by_id: OrderedDict[UUID, Instance] = OrderedDict()
        self._by_address: dict[str, OrderedDict[UUID, None]] = {}

    def __iter__(self) -> Iterator[Instance]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, instance_id: UUID) -> Instance | None:
        """Return the instance, if it is known."""
        return self._by_id.get(instance_id)

    def see(self, instance: Instance, now: float, share: float = 1.0) -> None:
        """Keep the instance, which sent a request; evict the least recently seen one if there is no room.

        `share` is the part of all instances that those of one address may be.
        """
        instance.last_seen = now
        key = instance.info.client_instance_id
        alike = self._by_address.setdefault(instance.address, OrderedDict())
        self._by_id[key] = instance
        self._by_id.move_to_end(key)
        alike[key] = None
        alike.move_to_end(key)
        if len(alike) > max(1.0, share * self._capacity):
            self._evict(next(iter(alike)))
        elif len(self._by_id) > self._capacity:
            self._evict(next(iter(self._by_id)))

    def _evict(self, key: UUID) -> None:
        self._remove(self._by_id[key])
        self.evicted += 1

    def _remove(self, instance: Instance) -> None:
        key = instance.info.client_instance_id
        del self._by_id[key]
        alike = self._by_address[instance.address]
        del alike[key]
        if not alike:
            del self._by_address[instance.address]

    def expired(self, now: float) -> list[Instance]:
        """Remove the expired instances and return them. Call it only now and then: it looks at all."""
        gone = [instance for instance in self if instance.expires_at <= now]
        for instance in gone:
            self._remove(instance)
        return gone
