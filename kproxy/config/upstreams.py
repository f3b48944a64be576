"""Settings of the upstream clusters behind a virtual cluster, and of failover between them.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from kproxy.config.address import MAX_PORT, HostPort, is_wildcard
from kproxy.config.base import Path, Settings, split_commas
from kproxy.config.identity import Identity
from kproxy.config.tls import UpstreamTls
from kproxy.config.topic import Topic
from kproxy.config.units import seconds

DEFAULT_NAME: Final = "main"
"""The name of the upstream that `bootstrap_servers` gives."""

_SOFTWARE_NAME: Final = r"[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?"
_DNS_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_MOST_NAME: Final = 253
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


def _check_config_map(name: str) -> str:
    if len(name) > _MOST_NAME or not re.fullmatch(_DNS_SUBDOMAIN, name):
        raise ValueError(
            f"{name!r} is no name of a ConfigMap: at most {_MOST_NAME} of a-z, 0-9, '-' and '.', with a letter or a "
            "digit at both ends and beside each '.'"
        )
    return name


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
# Not 0: without a wait, kproxy could switch back and forth without end.
Wait = Annotated[float, seconds(ge=0.1)]


class Upstream(Settings):
    """A backend cluster that may be active behind a virtual cluster."""

    name: Label = Field(description="Its name in logs, metrics, the API and `kproxy failover --to`: a DNS label.")
    bootstrap_servers: Servers = Field(
        min_length=1,
        description="Its brokers to connect to first, as host:port; a list or one string with commas.",
        examples=["broker-1:9092,broker-2:9092"],
    )
    tls: UpstreamTls | None = Field(
        default=None, description="TLS to its brokers; without it as `upstream_tls` of the virtual cluster says."
    )
    identity: Identity | None = Field(
        default=None, description="kproxy's own identity there; without it that of the virtual cluster, if it has one."
    )


ConfigMapName = Annotated[
    str, AfterValidator(_check_config_map), Field(json_schema_extra={"pattern": f"^{_DNS_SUBDOMAIN}$"})
]


class Failover(Settings):
    """When kproxy switches to another upstream by itself, and what it does so that clients can follow at any time."""

    automatic: bool = Field(
        default=False,
        description="Whether kproxy switches by itself. Offsets and data at the other cluster are your responsibility: "
        "with this, they must be right at any moment.",
    )
    after: Wait = Field(
        default=60.0,
        description="How long the active upstream must be continuously unreachable. Seconds, or as 60s.",
    )
    floor: Wait = Field(
        default=600.0, description="The shortest time between two automatic switches. Seconds, or as 10m."
    )
    standby_interval: Wait = Field(
        default=60.0,
        description="Time between two looks at each upstream that is not active; jitter is added. kproxy warns of one "
        "that could not take over, and no automatic failover goes there. Seconds, or as 60s.",
    )
    control_topic: Topic | None = Field(
        default=None,
        description="The topic by which all replicas of kproxy agree on the active upstream: one `kproxy failover` "
        "switches all of them, and one that starts learns what is active. kproxy creates it at each upstream, with one "
        "partition and compacted, and keeps a copy of each order there. Without it, and without `config_map`, each "
        "replica is switched for itself.",
        examples=["kproxy-orders"],
    )
    config_map: ConfigMapName | None = Field(
        default=None,
        description="In place of `control_topic`, where kproxy runs in Kubernetes: the ConfigMap of its namespace by "
        "which all replicas agree. kproxy creates it, and keeps the newest order there, under the virtual cluster's "
        "name. Its service account must be allowed `get`, `watch`, `patch` and `create` of this ConfigMap; the Helm "
        "chart sees to that.",
        examples=["kproxy-orders"],
    )
    hide_topic_ids_from: Software = Field(
        default=("kgo",),
        description="Client software (KIP-511) from which topic ids and leader epochs are hidden, so that it goes on "
        "at a cluster where these differ; `kgo` is franz-go. The price: it cannot use consumer groups of KIP-848 and "
        "share groups, which need topic ids, nor notice truncated logs. Done only if there are several `upstreams` "
        "when kproxy starts. A list or one string with commas; an empty one hides nothing.",
    )
    separate_producer_ids: bool | None = Field(
        default=None,
        description="Whether the ids of idempotent producers contain their Kafka cluster, so that no two producers "
        "have the same id after a failover: a broker would take the records of one for those of the other, "
        "acknowledge them, and not write them. By default on if there are several `upstreams`. Set `true` with one, to "
        "add a second one later without a restart of producers, or because the name in `bootstrap_servers` can lead "
        "to another cluster. Set `false` for brokers that only accept ids which they have issued.",
    )


def problems(upstreams: Sequence[Upstream], failover: Failover) -> Iterator[tuple[Path, str]]:
    """Yield the problems among the upstreams of one virtual cluster, with keys relative to it."""
    names = [upstream.name for upstream in upstreams]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield ("upstreams", index, "name"), f"{name!r} is also the name of upstreams.{names.index(name)}"
    for key in ("control_topic", "config_map"):
        if getattr(failover, key) is not None and len(upstreams) < 2:
            yield ("failover", key), "needs at least two upstreams: there is nothing to agree on"
    if failover.control_topic is not None and failover.config_map is not None:
        yield ("failover", "config_map"), "goes in place of control_topic: give one of them"
    if failover.automatic and len(upstreams) < 2:
        yield ("failover", "automatic"), "needs at least two upstreams: there is nowhere to switch to"
