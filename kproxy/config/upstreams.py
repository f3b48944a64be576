"""The upstream clusters behind a virtual cluster, in the order in which it fails over to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from kproxy.config.address import MAX_PORT, HostPort, is_wildcard
from kproxy.config.base import Path, Settings, split_commas
from kproxy.config.units import seconds

DEFAULT_NAME: Final = "main"
"""What the upstream of `bootstrap_servers` is called."""

_SOFTWARE_NAME: Final = r"[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?"
_DNS_LABEL: Final = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"


def _check_label(name: str) -> str:
    if not re.fullmatch(_DNS_LABEL, name):
        raise ValueError(
            f"{name!r} is not a DNS label: at most 63 of a-z, 0-9 and '-', with a letter or a digit at both ends"
        )
    return name


def _check_dialable(server: HostPort) -> HostPort:
    if not server.port or is_wildcard(server.host):
        raise ValueError(f"{server} cannot be connected to: give the broker's own host and a port from 1 to {MAX_PORT}")
    return server


def _check_software(name: str) -> str:
    if not re.fullmatch(_SOFTWARE_NAME, name):
        raise ValueError(f"{name!r} is no software's name: clients send letters, digits, '-' and '.' (KIP-511)")
    return name


Label = Annotated[str, AfterValidator(_check_label), Field(json_schema_extra={"pattern": _DNS_LABEL})]
Server = Annotated[HostPort, AfterValidator(_check_dialable)]
Servers = Annotated[
    tuple[Server, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[HostPort, ...])
]
Software = Annotated[
    tuple[Annotated[str, AfterValidator(_check_software)], ...],
    BeforeValidator(split_commas, json_schema_input_type=str | tuple[str, ...]),
]
# Not 0: a switch that may follow at once could go back and forth without end.
Wait = Annotated[float, seconds(ge=0.1)]


class Upstream(Settings):
    """A backend cluster that may stand behind a virtual cluster."""

    name: Label = Field(description="Its name in logs, metrics, the API and `kproxy failover --to`: a DNS label.")
    bootstrap_servers: Servers = Field(
        min_length=1,
        description="Brokers of it to begin with, as host:port; a list or one string with commas.",
        examples=["broker-1:9092,broker-2:9092"],
    )


class Failover(Settings):
    """When kproxy switches to another upstream by itself, and what is done so that clients can follow at any time."""

    automatic: bool = Field(
        default=False,
        description="Whether it does. Offsets and data at the other cluster are yours to care for: with this, they "
        "must be right at any moment.",
    )
    after: Wait = Field(
        default=60.0,
        description="How long the active upstream must be out of reach, without a break. Seconds, or as 60s.",
    )
    floor: Wait = Field(
        default=600.0, description="The shortest time between two automatic switches. Seconds, or as 10m."
    )
    hide_topic_ids_from: Software = Field(
        default=("kgo",),
        description="Clients that are told no topic ids and no leader epochs, so that they go on at a cluster where "
        "these are others: by the name of their software (KIP-511), `kgo` is franz-go. The price: they cannot use "
        "consumer groups of KIP-848 and share groups, which go by topic ids, nor notice truncated logs. Done only "
        "where there are several `upstreams`, as of kproxy's start. A list or one string with commas; an empty one "
        "for nobody.",
    )
    separate_producer_ids: bool | None = Field(
        default=None,
        description="Whether the ids that idempotent producers get have their Kafka cluster in them, so that no two "
        "producers have the same id after a failover: a broker would take the records of one for those of the other, "
        "acknowledge them, and not write them. By default where there are several `upstreams`. `true` also with one, "
        "so that a second one can be added without a restart of producers, or because the name in `bootstrap_servers` "
        "can lead to another cluster. `false` for brokers that only take ids which they have issued.",
    )


def problems(upstreams: Sequence[Upstream], failover: Failover) -> Iterator[tuple[Path, str]]:
    """What must hold among the upstreams of one virtual cluster, with keys relative to it."""
    names = [upstream.name for upstream in upstreams]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield ("upstreams", index, "name"), f"{name!r} is also the name of upstreams.{names.index(name)}"
    if failover.automatic and len(upstreams) < 2:
        yield ("failover", "automatic"), "needs at least two upstreams: there is nowhere to switch to"
