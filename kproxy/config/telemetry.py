"""Settings of a virtual cluster's telemetry (KIP-714): what its clients push, how often, and to which receivers.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP. `ClientTelemetry` serves
telemetry by them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from kproxy.config.base import ConsistentSettings, Path, Settings
from kproxy.config.delivery import Text
from kproxy.config.process import Count, FrameBytes, Share
from kproxy.config.receivers import Words
from kproxy.config.units import seconds

QUOTAS: Final = (
    "max_points",
    "max_attributes",
    "max_buckets",
    "max_fields",
    "connection_decode",
    "address_decode",
    "connection_instances",
    "address_share",
    "require_principal",
)
"""The settings of `Telemetry` that bound what a client may do. A reload applies them."""

# The bounds of Kafka's interval.ms.
PushInterval = Annotated[float, seconds(ge=0.1, le=3600)]


def _spelled_out(prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """Replace the empty prefix, which matches every name, by `*`: Kafka's lists cannot hold an empty entry."""
    return tuple(prefix or "*" for prefix in prefixes)


class Subscription(Settings):
    """Metrics that clients should push, as in a client metrics subscription of Kafka."""

    name: Text = Field(description="Its name, also for `kafka-client-metrics.sh`, which can show but not change it.")
    metrics: Annotated[Words, AfterValidator(_spelled_out)] = Field(
        min_length=1,
        description="Prefixes of the metrics' names; `*` means all. A list or one string with commas.",
        examples=[["org.apache.kafka.producer.", "org.apache.kafka.consumer.fetch.manager."]],
    )
    interval: PushInterval | None = Field(
        default=None, description="Time between two pushes of a client; without it the virtual cluster's. At most 1h."
    )
    match: Mapping[str, str] = Field(
        default={},
        description="Which clients: each value is a regex (RE2) that must match the whole of client_instance_id, "
        "client_id, client_software_name, client_software_version, client_source_address or client_source_port; it "
        "holds neither a comma nor `=`. Without it every client.",
    )


class Telemetry(ConsistentSettings):
    """Client telemetry (KIP-714), served by kproxy. Without this block requests for it go to the broker."""

    admin: Literal["upstream", "any", "none"] = Field(
        default="upstream",
        description="Who may change subscriptions with Kafka's tools. upstream: clients that may alter the backend "
        "cluster's configuration; any: every client; none: nobody.",
    )
    interval: PushInterval = Field(
        default=300.0, description="The longest time between two pushes of a client. Seconds, or as 5m."
    )
    max_bytes: FrameBytes = Field(
        default=2**20,
        description="The largest push, as it comes. Decompressed it may have eight times as much; if it has grown more "
        "than 256-fold, it may have as much as here. Bytes, or as 1MiB.",
    )
    max_points: Count = Field(
        default=100_000,
        description="Data points of one push, and metrics, scopes and resources; a larger one is refused (118).",
    )
    max_attributes: Count = Field(
        default=64, description="Attributes of one resource, scope or data point; a push with more is refused (118)."
    )
    max_buckets: Count = Field(
        default=1024, description="Buckets, bounds and quantiles of one data point; a push with more is refused (118)."
    )
    max_fields: Count = Field(
        default=1_000_000,
        description="Fields of all messages of one push; a larger one is refused (118). Java writes some 12 for each "
        "metric. Those of one resource may have 60,000, whatever stands here; Java has a resource for each metric.",
    )
    connection_decode: Share = Field(
        default=0.05,
        description="The part of a processor that decoding the pushes of one connection may take; those beyond are "
        "throttled (89). Eight seconds' worth may be used at once.",
    )
    address_decode: Share = Field(
        default=0.25,
        description="The same for all connections from one address (IPv6: a /64). Decoding a push of a known client "
        "takes some 20 µs.",
    )
    connection_instances: Count = Field(
        default=8, description="Client instances that may come by one connection; others are throttled (89)."
    )
    address_share: Share = Field(
        default=0.5,
        description="The part of the 16,384 client instances that kproxy remembers that may be of one address (IPv6: "
        "a /64). Of those beyond, the least recently seen is forgotten.",
    )
    require_principal: bool = Field(
        default=False,
        description="Refuse the telemetry of connections on which kproxy has seen no principal authenticated (SASL).",
    )
    subscriptions: tuple[Subscription, ...] = Field(
        default=(), description="Permanent subscriptions; Kafka's tools and the API add others. As a variable: YAML."
    )
    receivers: Words | None = Field(
        default=None, description="Names of the receivers of clients' pushes; without it all of `receivers`."
    )

    def _problems(self) -> Iterator[tuple[Path, str]]:
        names = [subscription.name for subscription in self.subscriptions]
        for index, name in enumerate(names):
            if name in names[:index]:
                yield (
                    ("subscriptions", index, "name"),
                    f"{name!r} is also the name of subscriptions.{names.index(name)}",
                )


def receivers_missing(telemetry: Sequence[Telemetry | None], receivers: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield a problem for each receiver that is not among `receivers`; `telemetry` is by virtual cluster, in order."""
    for index, one in enumerate(telemetry):
        for place, name in enumerate((one and one.receivers) or ()):
            if name not in receivers:
                known = ", ".join(receivers) or "none"
                yield (
                    ("clusters", index, "telemetry", "receivers", place),
                    f"{name!r} is no receiver; there are: {known}",
                )
