"""The settings of a virtual cluster: its backends, its bootstrap address, the ports of its nodes.

A `VirtualCluster` is made for each entry of `clusters` whenever a configuration is loaded: when kproxy starts, and at
each SIGHUP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from kproxy.config.address import MAX_PORT, Host, HostPort, is_wildcard
from kproxy.config.base import Path, Settings, refuse
from kproxy.config.groups import GroupRule
from kproxy.config.identity import Identity
from kproxy.config.nodes import Nodes
from kproxy.config.process import Count
from kproxy.config.proxy_protocol import ProxyProtocol
from kproxy.config.telemetry import Telemetry
from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.config.upstreams import DEFAULT_NAME, Failover, Label, Servers, Upstream, problems


def _check_advertised(host: str) -> str:
    if is_wildcard(host):
        raise ValueError(f"clients cannot connect to {host}: give a name or an address at which they reach kproxy")
    return host


AdvertisedHost = Annotated[Host, AfterValidator(_check_advertised)]


class VirtualCluster(Settings):
    """One backend cluster as clients see it."""

    name: Label = Field(description="Its name in logs, metrics and the API: a DNS label.")
    # Before bootstrap_servers: that field's validator reads it.
    upstreams: tuple[Upstream, ...] = Field(
        default=(),
        description="Several backend clusters. One is active, at first the first one; kproxy can fail over to the "
        "others. As a variable: YAML.",
    )
    bootstrap_servers: Servers = Field(
        default=(),
        validate_default=True,
        description="Brokers of the backend cluster to connect to first, as host:port; a list or one string with "
        "commas. Required, unless there are `upstreams`: this is short for a single one called `main`.",
        examples=["broker-1:9092,broker-2:9092"],
    )
    identity: Identity | None = Field(
        default=None,
        description="kproxy's own identity at brokers that ask for SASL; without it kproxy cannot ask them anything.",
    )
    failover: Failover = Field(default=Failover(), description="When kproxy switches to another upstream, and how.")
    listen: HostPort = Field(
        description="Where clients bootstrap. Host 0.0.0.0 or [::] for every address of the machine; "
        "port 0 for any free one.",
        examples=["0.0.0.0:9092"],
    )
    advertised_host: AdvertisedHost | None = Field(
        default=None,
        description="The host that kproxy advertises for every node; without it the address at which the client "
        "reached kproxy.",
    )
    nodes: Nodes = Field(default=Nodes(), description="The ports at which clients reach the nodes.")
    telemetry: Telemetry | None = Field(
        default=None, description="Client telemetry, served by kproxy; without it the broker serves it, if it can."
    )
    tls: ClientTls | None = Field(default=None, description="TLS to clients; without it they speak plaintext.")
    upstream_tls: UpstreamTls | None = Field(
        default=None,
        description="TLS to brokers; without it kproxy speaks plaintext to them. `{}` trusts the system's authorities.",
    )
    max_connections: Count | None = Field(
        default=None,
        description="Client connections of this virtual cluster at a time; further ones are closed at once. Without it "
        "only limits.max_connections counts, which all virtual clusters share.",
    )
    proxy_protocol: ProxyProtocol = Field(
        default=ProxyProtocol(), description="Load balancers that say whose connections they pass on; by default none."
    )
    groups: tuple[GroupRule, ...] = Field(
        default=(),
        description="Consumer groups that kproxy coordinates itself; all others are the brokers'. As a variable: YAML.",
    )

    @property
    def backends(self) -> tuple[Upstream, ...]:
        """The upstreams in their order, at least one: `bootstrap_servers` becomes one called `main`.

        Each has its own TLS and identity or, without them, the virtual cluster's.
        """
        named = self.upstreams or (Upstream(name=DEFAULT_NAME, bootstrap_servers=self.bootstrap_servers),)
        return tuple(self._completed(one) for one in named)

    def _completed(self, upstream: Upstream) -> Upstream:
        own = {"tls": upstream.tls, "identity": upstream.identity}
        common = {"tls": self.upstream_tls, "identity": self.identity}
        missing = {key: value for key, value in common.items() if value is not None and own[key] is None}
        return upstream.model_copy(update=missing) if missing else upstream

    @property
    def hides_topic_ids_from(self) -> tuple[str, ...]:
        """The client software from which topic ids are hidden; none with a single upstream: its ids do not change."""
        return self.failover.hide_topic_ids_from if len(self.backends) > 1 else ()

    @property
    def separates_producer_ids(self) -> bool:
        """True when producer ids contain the number of their Kafka cluster."""
        separate = self.failover.separate_producer_ids
        return len(self.backends) > 1 if separate is None else separate

    @property
    def first_port(self) -> int:
        """The lowest port for nodes, resolved; 0 means any free port."""
        if self.nodes.first_port is not None:
            return self.nodes.first_port
        return self.listen.port + 1 if self.listen.port else 0

    @property
    def last_port(self) -> int | None:
        """The highest port for nodes; None without ranges, because the number of nodes is unknown."""
        if not self.nodes.ranges:
            return None
        return self.first_port + sum(map(len, self.nodes.ranges)) - 1

    @field_validator("bootstrap_servers")
    @classmethod
    def _one_way_to_name_the_backend(cls, servers: tuple[HostPort, ...], info: ValidationInfo) -> tuple[HostPort, ...]:
        upstreams = info.data.get("upstreams")  # absent when they are invalid, which is already reported
        if upstreams and servers:
            raise ValueError("stands beside upstreams: give either bootstrap_servers or upstreams, not both")
        if upstreams == () and not servers:
            raise ValueError("is required, unless there are upstreams")
        return servers

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if found := [*problems(self.backends, self.failover), *self._ports()]:
            refuse(found)
        return self

    def _ports(self) -> Iterator[tuple[Path, str]]:
        first, nodes = self.first_port, self.nodes
        if not first and (nodes.strategy == "offset" or nodes.advertised_first_port is not None):
            yield ("nodes", "first_port"), "is needed, because listen has port 0"
            return
        following = (self.last_port or first) - first
        if first + following > MAX_PORT:
            yield ("nodes", "first_port"), _beyond(first, following)
        if nodes.advertised_first_port and nodes.advertised_first_port + following > MAX_PORT:
            yield ("nodes", "advertised_first_port"), _beyond(nodes.advertised_first_port, following)


def _beyond(first: int, following: int) -> str:
    return f"ports {first} to {first + following} would be needed, but {MAX_PORT} is the highest"
