"""The settings of a virtual cluster: its backends, its bootstrap address, the ports of its nodes.

A `VirtualCluster` is made for each entry of `clusters` whenever a configuration is loaded: when kproxy starts, and at
each SIGHUP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from kproxy.config.address import MAX_PORT, Host, HostPort, is_ip_literal, is_wildcard
from kproxy.config.authentication import Authentication
from kproxy.config.base import ConsistentSettings, Path
from kproxy.config.byte_rates import PrincipalByteRate
from kproxy.config.faults import Faults
from kproxy.config.groups import GroupRule
from kproxy.config.identity import Identity
from kproxy.config.nodes import Nodes
from kproxy.config.process import Count
from kproxy.config.proxy_protocol import ProxyProtocol
from kproxy.config.server_names import ServerNames, canonical
from kproxy.config.telemetry import Telemetry
from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.config.upstreams import DEFAULT_NAME, Failover, Label, Servers, Upstream, problems


def _check_advertised(host: str) -> str:
    if is_wildcard(host):
        raise ValueError(f"clients cannot connect to {host}: give a name or an address at which they reach kproxy")
    return host


AdvertisedHost = Annotated[Host, AfterValidator(_check_advertised)]


class VirtualCluster(ConsistentSettings):
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
    authentication: Authentication | None = Field(
        default=None,
        description="Clients authenticate to kproxy, which authenticates to brokers by its `identity`; without it "
        "brokers authenticate clients.",
    )
    failover: Failover = Field(default=Failover(), description="When kproxy switches to another upstream, and how.")
    listen: HostPort = Field(
        description="Where clients bootstrap. Host 0.0.0.0 or [::] for every address of the machine; a name, as "
        "localhost, for each of its addresses that the machine has; port 0 for any free one.",
        examples=["0.0.0.0:9092"],
    )
    advertised_host: AdvertisedHost | None = Field(
        default=None,
        description="The host that kproxy advertises for every node; without it the address at which the client "
        "reached kproxy. With `nodes.strategy: sni` it is required: the name at which clients bootstrap.",
    )
    nodes: Nodes = Field(default=Nodes(), description="The ports or names at which clients reach the nodes.")
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
    max_connections_per_principal: Count | None = Field(
        default=None,
        description="Of these, connections that have authenticated by SASL as one principal; further ones are closed "
        "when the broker accepts them. Without it there is no limit.",
    )
    proxy_protocol: ProxyProtocol = Field(
        default=ProxyProtocol(), description="Load balancers that say whose connections they pass on; by default none."
    )
    byte_rates: tuple[PrincipalByteRate, ...] = Field(
        default=(),
        description="How much each principal may produce and fetch; without it as much as it can. As a variable: YAML.",
    )
    groups: tuple[GroupRule, ...] = Field(
        default=(),
        description="Consumer groups that kproxy coordinates itself; all others are the brokers'. As a variable: YAML.",
    )
    faults: Faults = Field(default=Faults(), description="Faults that are injected, for tests; by default none.")

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
    def server_names(self) -> ServerNames | None:
        """The names that clients ask for; None where the port alone says whom they mean."""
        host, names = self.advertised_host, self.nodes.names
        return None if host is None or names is None else ServerNames(canonical(host), names)

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

    def _problems(self) -> Iterator[tuple[Path, str]]:
        yield from problems(self.backends, self.failover)
        yield from self._places()
        yield from self._logins()

    def _logins(self) -> Iterator[tuple[Path, str]]:
        if self.authentication is not None:
            certified = self.tls is not None and self.tls.client_ca is not None
            found = self.authentication.problems(with_tls=self.tls is not None, with_client_ca=certified)
            yield from ((("authentication", *path), problem) for path, problem in found)

    def _places(self) -> Iterator[tuple[Path, str]]:
        return self._names() if self.nodes.strategy == "sni" else self._ports()

    def _names(self) -> Iterator[tuple[Path, str]]:
        if self.tls is None:
            yield ("tls",), "is required by nodes.strategy: sni: the name that a client asks for is a part of TLS"
        host, names = self.advertised_host, self.nodes.names
        if host is None:
            yield ("advertised_host",), "is required by nodes.strategy: sni: the name at which clients bootstrap"
        elif is_ip_literal(host):
            yield ("advertised_host",), f"must be a name with nodes.strategy: sni, and {host} is an address"
        elif names is not None and (node_id := names.node_id(canonical(host))) is not None:
            yield ("advertised_host",), f"{host} is also the name of node {node_id} by nodes.pattern"

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
