"""Telemetry of a virtual cluster (KIP-714): what its clients push, how often, and to which receivers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kproxy.config.base import Path, Settings, refuse
from kproxy.config.delivery import Text
from kproxy.config.process import FrameBytes
from kproxy.config.receivers import Words
from kproxy.config.units import seconds

# Kafka's bounds of interval.ms.
PushInterval = Annotated[float, seconds(ge=0.1, le=3600)]


def _spelled_out(prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """Every name has the empty prefix; in Kafka's lists, where it could not stand, `*` says so."""
    return tuple(prefix or "*" for prefix in prefixes)


class Subscription(Settings):
    """Metrics that clients are to push, as a client metrics subscription of Kafka says it."""

    name: Text = Field(description="Its name, also for `kafka-client-metrics.sh`, which can show but not change it.")
    metrics: Annotated[Words, AfterValidator(_spelled_out)] = Field(
        min_length=1,
        description="Prefixes of the metrics' names; `*` is all. A list or one string with commas.",
        examples=[["org.apache.kafka.producer.", "org.apache.kafka.consumer.fetch.manager."]],
    )
    interval: PushInterval | None = Field(
        default=None, description="Between two pushes of a client; without it the virtual cluster's. At most 1h."
    )
    match: Mapping[str, str] = Field(
        default={},
        description="Which clients: each value is a regex (RE2) that must match the whole of client_instance_id, "
        "client_id, client_software_name, client_software_version, client_source_address or client_source_port; it "
        "holds neither a comma nor `=`. Without it every client.",
    )


class Telemetry(Settings):
    """Client telemetry (KIP-714), served by kproxy. Without this block requests for it go to the broker."""

    admin: Literal["upstream", "any", "none"] = Field(
        default="upstream",
        description="Who may change subscriptions with Kafka's tools. upstream: who may alter the backend cluster's "
        "configuration; any: every client; none: nobody.",
    )
    interval: PushInterval = Field(
        default=300.0, description="The longest time between two pushes of a client. Seconds, or as 5m."
    )
    max_bytes: FrameBytes = Field(
        default=2**20, description="The largest push, compressed and decompressed. Bytes, or as 1MiB."
    )
    subscriptions: tuple[Subscription, ...] = Field(
        default=(), description="Those that stand for good; Kafka's tools and the API add others. As a variable: YAML."
    )
    receivers: Words | None = Field(
        default=None, description="Names of those that get what clients push; without it all of `receivers`."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if found := list(self._problems()):
            refuse(found)
        return self

    def _problems(self) -> Iterator[tuple[Path, str]]:
        names = [subscription.name for subscription in self.subscriptions]
        for index, name in enumerate(names):
            if name in names[:index]:
                yield (
                    ("subscriptions", index, "name"),
                    f"{name!r} is also the name of subscriptions.{names.index(name)}",
                )


def receivers_missing(telemetry: Sequence[Telemetry | None], receivers: Collection[str]) -> Iterator[tuple[Path, str]]:
    """A problem for each receiver that a virtual cluster, in their order, names and that is not among `receivers`."""
    for index, one in enumerate(telemetry):
        for place, name in enumerate((one and one.receivers) or ()):
            if name not in receivers:
                known = ", ".join(receivers) or "none"
                yield (
                    ("clusters", index, "telemetry", "receivers", place),
                    f"{name!r} is no receiver; there are: {known}",
                )
