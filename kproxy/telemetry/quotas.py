# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Quotas of client telemetry: the time that decoding may take, by connection and by address, and instances.

`Telemetry` asks at each request, before it decompresses anything. Time is an argument: `now` is in unix seconds.

Subscription ids can be computed, and each new client instance may push at once. So a quota by instance stops nobody:
what counts is the connection, and the address behind it. A client over a quota gets 89 THROTTLING_QUOTA_EXCEEDED, as
from a broker: Java, librdkafka and franz-go log it and go on at their next interval.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple
from uuid import UUID

from kproxy.protocol.context import ConnectionState
from kproxy.protocol.network import network
from kproxy.telemetry.errors import TelemetryError
from kproxy.telemetry.skim import DEFAULT_BOUNDS, Bound, Bounds
from kproxy.wire.generated.error_codes import ErrorCode

BURST: Final = 8.0
"""The seconds whose time may be used at once, for instance when a fleet comes back."""
ADDRESSES: Final = 16_384
"""The addresses whose use is remembered, the latest ones. One that is forgotten begins anew."""

PRINCIPAL: Final = "principal"
CONNECTION_TIME: Final = "connection_time"
ADDRESS_TIME: Final = "address_time"
CONNECTION_INSTANCES: Final = "connection_instances"
REASONS: Final[tuple[str, ...]] = (
    *map(str, Bound),
    CONNECTION_TIME,
    ADDRESS_TIME,
    CONNECTION_INSTANCES,
    PRINCIPAL,
)
"""Why requests are refused by a quota: the values of the label `reason`."""


class Quotas(NamedTuple):
    """The quotas of a virtual cluster.

    `connection_decode` and `address_decode` are seconds of decoding in a second. `address_share` is the part of all
    known instances that those of one address may be.
    """

    bounds: Bounds = DEFAULT_BOUNDS
    connection_decode: float = 0.05
    address_decode: float = 0.25
    connection_instances: int = 8
    address_share: float = 0.5
    require_principal: bool = False


class Use:
    """The seconds that somebody has used up, less what time has given back; never below 0."""

    __slots__ = ("at", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self.at = 0.0

    def over(self, rate: float, now: float) -> bool:
        """Return whether more than `BURST` seconds' share of `rate` is used. A clock that was set back gives none."""
        self.seconds = max(0.0, self.seconds - rate * max(0.0, now - self.at))
        self.at = now
        return self.seconds >= rate * BURST


class Pusher(ConnectionState):
    """A connection on which a client asks for subscriptions and pushes: what it has used of its quotas."""

    __slots__ = ("instances", "principal", "use")

    def __init__(self) -> None:
        super().__init__()
        self.principal: str | None = None
        self.instances: set[UUID] = set()
        self.use = Use()


class DecodeTime:
    """The use of decoding time by address, in bounded memory."""

    def __init__(self) -> None:
        self._by_address: OrderedDict[str, Use] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_address)

    def admit(self, pusher: Pusher, address: str, quotas: Quotas, now: float) -> None:
        """Raise TelemetryError 89 for a connection or an address that has used up its time."""
        if pusher.use.over(quotas.connection_decode, now):
            raise _throttled("this connection's pushes take too long to decode", CONNECTION_TIME)
        use = self._by_address.get(network(address))
        if use is not None and use.over(quotas.address_decode, now):
            raise _throttled(f"pushes from {network(address)} take too long to decode", ADDRESS_TIME)

    def charge(self, pusher: Pusher, address: str, seconds: float) -> None:
        """Add time that was spent for a push that `admit` let pass."""
        pusher.use.seconds += seconds
        key = network(address)
        use = self._by_address.get(key)
        if use is None:
            use = self._by_address[key] = Use()
            use.at = pusher.use.at
            if len(self._by_address) > ADDRESSES:
                self._by_address.popitem(last=False)
        use.seconds += seconds


def admit_instance(pusher: Pusher, instance_id: UUID, most: int) -> None:
    """Raise TelemetryError 89 where a connection comes with more instances than `most`; a client has one."""
    if instance_id not in pusher.instances:
        if len(pusher.instances) >= most:
            raise _throttled(f"more than {most} client instances on one connection", CONNECTION_INSTANCES)
        pusher.instances.add(instance_id)


def admit_principal(pusher: Pusher, quotas: Quotas) -> None:
    """Raise TelemetryError 31 where a principal is required, and the connection has none that kproxy knows."""
    if quotas.require_principal and pusher.principal is None:
        raise TelemetryError(
            ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "telemetry.require_principal: nobody is authenticated", PRINCIPAL
        )


def _throttled(why: str, reason: str) -> TelemetryError:
    return TelemetryError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, why, reason)
