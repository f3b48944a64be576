# This module is pure and compiled.
"""The client instances that were seen lately, in bounded memory: least recently seen out first, as in Kafka."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from math import inf
from typing import Final
from uuid import UUID

from kproxy.telemetry.errors import TelemetryError
from kproxy.telemetry.layout import Lately
from kproxy.telemetry.subscription import ClientInfo
from kproxy.telemetry.subscriptions import SubscriptionSet
from kproxy.wire.generated.error_codes import ErrorCode

CAPACITY: Final = 16_384
_MIN_EXPIRY: Final = 60.0  # seconds
_EXPIRY_INTERVALS: Final = 3
_GET_AT_ONCE: Final = frozenset({ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE})
"""Errors of a push that a client meets by getting its subscriptions anew."""


class Instance:
    """What is known of one instance. Times are in unix seconds, -inf is never.

    All of it can be lost: an instance that comes back gets the same subscription id, and at most one push too many.
    """

    __slots__ = (
        "digressed",
        "free_push",
        "info",
        "last_error",
        "last_get",
        "last_push",
        "last_seen",
        "lately",
        "pushed_bytes",
        "pushes",
        "subscription_id",
        "subscriptions",
        "terminating",
        "version",
    )

    def __init__(self, info: ClientInfo, subscriptions: SubscriptionSet, version: int) -> None:
        self.info = info
        self.last_error: int = ErrorCode.NONE
        self.last_seen = -inf
        self.lately = Lately()
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
        """It is to push these, as of a version of all subscriptions."""
        self.subscriptions = subscriptions
        self.subscription_id = subscriptions.subscription_id(self.info.client_instance_id)
        self.version = version

    def resubscribe(self, subscriptions: SubscriptionSet, version: int) -> None:
        """As `subscribe`, after subscriptions changed: if its own did, it learns so at once, however early it comes."""
        if subscriptions != self.subscriptions:
            self._begin()
        self.subscribe(subscriptions, version)

    def admit_get(self, now: float) -> None:
        """TelemetryError 89 for a get that comes too early. One that does not makes one push free."""
        if self.last_error not in _GET_AT_ONCE and not self._is_due(max(self.last_get, self.last_push), now):
            raise TelemetryError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED, "subscriptions were asked for before the push interval passed"
            )
        self.last_get = now
        self.last_error = ErrorCode.NONE
        self.free_push = True
        self.digressed = False

    def admit_push(self, subscription_id: int, terminating: bool, now: float) -> None:
        """TelemetryError 42, 89 or 117, checked in this order. A push that fails after 89 counts as one."""
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
        """One terminating push may come early; another, before the next push that is due, counts as any other."""
        if self.free_push or self._is_due(self.last_push, now):
            self.last_push = now
            self.free_push = False
            self.digressed = False
        elif terminating and not self.digressed:
            self.digressed = True
        else:
            raise TelemetryError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "a push before the push interval passed")

    def _is_due(self, last: float, now: float) -> bool:
        """Whether a push interval passed since `last`. A clock that was set back throttles nobody."""
        return last == -inf or not 0 <= round((now - last) * 1000) < self.subscriptions.interval_ms

    @property
    def expires_at(self) -> float:
        """When it counts as gone, unless it is seen before."""
        return self.last_seen + max(_MIN_EXPIRY, _EXPIRY_INTERVALS * self.subscriptions.interval_ms / 1000)


class Instances:
    """By id; the most recently seen last."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.evicted = 0
        """How many went because there was no room."""
        self._capacity = capacity
        # No plain dict: its first key is found by a walk over all that were deleted before it.
        self._by_id: OrderedDict[UUID, Instance] = OrderedDict()

    def __iter__(self) -> Iterator[Instance]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, instance_id: UUID) -> Instance | None:
        """The instance, if it is known."""
        return self._by_id.get(instance_id)

    def see(self, instance: Instance, now: float) -> None:
        """It sent a request: it is kept, and the one that was not seen for longest goes if there is no room."""
        instance.last_seen = now
        self._by_id[instance.info.client_instance_id] = instance
        self._by_id.move_to_end(instance.info.client_instance_id)
        if len(self._by_id) > self._capacity:
            self._by_id.popitem(last=False)
            self.evicted += 1

    def expired(self, now: float) -> list[Instance]:
        """Those whose time is over; they are forgotten. To be called now and then: it looks at all."""
        gone = [instance for instance in self if instance.expires_at <= now]
        for instance in gone:
            del self._by_id[instance.info.client_instance_id]
        return gone
