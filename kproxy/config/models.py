"""The settings: frozen models, every field documented, unknown keys refused."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from kproxy.config.address import MAX_PORT, Host, HostPort, is_wildcard
from kproxy.config.ports import Claim, conflicts, overlapping
from kproxy.config.units import INT32_MAX, frame_bytes, seconds, whole

_DNS_LABEL: Final = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
_RANGE: Final = re.compile(r"\s*([0-9]{1,10})\s*-\s*([0-9]{1,10})\s*")


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _split_commas(value: Any) -> Any:
    return [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value


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


def _check_advertised(host: str) -> str:
    if is_wildcard(host):
        raise ValueError(f"clients cannot connect to {host}: give a name or an address at which they reach kproxy")
    return host


ClusterName = Annotated[str, AfterValidator(_check_label), Field(json_schema_extra={"pattern": _DNS_LABEL})]
Server = Annotated[HostPort, AfterValidator(_check_dialable)]
Servers = Annotated[
    tuple[Server, ...], BeforeValidator(_split_commas, json_schema_input_type=str | tuple[HostPort, ...])
]
NodeId = Annotated[int, whole(0, INT32_MAX)]
Port = Annotated[int, whole(0, MAX_PORT)]
DialablePort = Annotated[int, whole(1, MAX_PORT)]
Count = Annotated[int, whole(1)]
FrameBytes = Annotated[int, frame_bytes()]
Seconds = Annotated[float, seconds(ge=0)]
Patience = Annotated[float, seconds(gt=0)]
AdvertisedHost = Annotated[Host, AfterValidator(_check_advertised)]


class NodeRange(_Settings):
    """Node ids from `first` to `last`, both included; in YAML also a string such as `0-2`."""

    first: NodeId = Field(description="The lowest node id of the range.")
    last: NodeId = Field(description="The highest node id of the range, included.")

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, int):
            return {"first": value, "last": value}
        if not isinstance(value, str):
            return value
        match = _RANGE.fullmatch(value) or re.fullmatch(r"\s*(([0-9]{1,10}))\s*", value)
        if not match:
            raise ValueError(f"{value!r} is not a range of node ids; write for instance 0-2")
        return {"first": int(match[1]), "last": int(match[2])}

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.last < self.first:
            raise ValueError(f"the range {self} ends before it begins")
        return self

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __contains__(self, node_id: int) -> bool:
        return self.first <= node_id <= self.last

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"


NodeRanges = Annotated[
    tuple[NodeRange, ...], BeforeValidator(_split_commas, json_schema_input_type=str | tuple[NodeRange, ...])
]


class Nodes(_Settings):
    """The ports at which clients reach the nodes of a virtual cluster."""

    strategy: Literal["offset", "automatic"] = Field(
        default="automatic",
        description="automatic: a node unseen before gets the next free port; offset: the port follows from the "
        "node id alone, so several replicas of kproxy agree.",
    )
    first_port: Port | None = Field(
        default=None,
        description="The lowest port for nodes; without it the one after the port of `listen`. "
        "0 (automatic only): any free port.",
    )
    ranges: NodeRanges = Field(
        default=(),
        description="Offset only: the node ids that exist, as 0-2. Ports are compact: the first range begins at "
        "first_port, the next one follows on. Without ranges a node's port is first_port + node id.",
    )
    advertised_first_port: DialablePort | None = Field(
        default=None,
        description="What clients are told instead of first_port, where ports are mapped on the way to them; "
        "further ports follow in the same order.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.strategy == "automatic" and self.ranges:
            raise ValueError("ranges need the strategy 'offset'")
        if self.strategy == "offset" and self.first_port == 0:
            raise ValueError("first_port 0 (any free port) needs the strategy 'automatic'")
        if self.first_port == 0 and self.advertised_first_port is not None:
            raise ValueError("advertised_first_port needs a first_port: ports that are any free ones cannot be mapped")
        for one, other in overlapping((r.first, r.last) for r in self.ranges):
            raise ValueError(f"the ranges {one[0]}-{one[1]} and {other[0]}-{other[1]} overlap")
        return self


class VirtualCluster(_Settings):
    """One backend cluster as clients see it."""

    name: ClusterName = Field(description="Its name in logs, metrics and the API: a DNS label.")
    bootstrap_servers: Servers = Field(
        min_length=1,
        description="Brokers of the backend cluster to begin with, as host:port; a list or one string with commas.",
        examples=["broker-1:9092,broker-2:9092"],
    )
    listen: HostPort = Field(
        description="Where clients bootstrap. Host 0.0.0.0 or [::] for every address of the machine; "
        "port 0 for any free one.",
        examples=["0.0.0.0:9092"],
    )
    advertised_host: AdvertisedHost | None = Field(
        default=None,
        description="The host that clients are told for every node; without it the address at which the client "
        "reached kproxy.",
    )
    nodes: Nodes = Field(default=Nodes(), description="The ports at which clients reach the nodes.")

    @property
    def first_port(self) -> int:
        """The lowest port for nodes, resolved; 0 means any free port."""
        if self.nodes.first_port is not None:
            return self.nodes.first_port
        return self.listen.port + 1 if self.listen.port else 0

    @property
    def last_port(self) -> int | None:
        """The highest port for nodes, where ranges say which nodes there are; otherwise None."""
        if not self.nodes.ranges:
            return None
        return self.first_port + sum(map(len, self.nodes.ranges)) - 1

    @model_validator(mode="after")
    def _ports_exist(self) -> Self:
        first, advertised = self.first_port, self.nodes.advertised_first_port
        if not first and (self.nodes.strategy == "offset" or advertised is not None):
            raise ValueError("nodes.first_port is needed when the port of listen is 0")
        if first > MAX_PORT:
            raise ValueError(f"nodes.first_port is needed: no port follows {self.listen.port}")
        last = first if self.last_port is None else self.last_port
        for lowest in (first, advertised or first):
            if lowest + last - first > MAX_PORT:
                raise ValueError(f"nodes.ranges need ports {lowest} to {lowest + last - first}, beyond {MAX_PORT}")
        return self


class Admin(_Settings):
    """The HTTP listener for metrics, probes and the API; in YAML and the environment also just its `host:port`."""

    listen: HostPort = Field(
        description="Where /metrics, /livez, /readyz and /api/v1 are served.", examples=["127.0.0.1:9190"]
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"listen": value} if isinstance(value, str) else value


class Limits(_Settings):
    """What one client, or all of them, may cost. Sizes in bytes, or as 100MiB."""

    max_request_bytes: FrameBytes = Field(
        default=100 * 2**20,
        description="Largest request taken from a client (Kafka's socket.request.max.bytes); a larger one closes "
        "the connection.",
    )
    max_response_bytes: FrameBytes = Field(
        default=INT32_MAX,
        description="Largest response taken from a broker; a larger one closes the connection.",
    )
    max_held_bytes: FrameBytes = Field(
        default=100 * 2**20,
        description="Largest response that may be held whole in memory to be rewritten; others stream.",
    )
    max_connections: Count | None = Field(
        default=None,
        description="Client connections at a time, for the whole process; further ones are closed at once. "
        "Without it no limit.",
    )


class Timeouts(_Settings):
    """How long kproxy waits. Seconds, or as 500ms, 10s, 2m."""

    connect: Patience = Field(default=10.0, description="To connect to a broker.")
    stalled_frame: Patience = Field(default=30.0, description="For the rest of a frame that has begun.")
    first_request: Patience = Field(
        default=30.0, description="For the first request of a connection; one that says nothing is closed."
    )
    upstream_request: Patience = Field(
        default=30.0, description="For the broker's response to a request of kproxy's own."
    )


class Topology(_Settings):
    """How kproxy follows the backend's brokers."""

    interval: Seconds = Field(
        default=30.0,
        gt=0,
        description="Between two looks at the backend's brokers; jitter is added. Seconds, or as 30s.",
    )


class Drain(_Settings):
    """How kproxy ends on SIGTERM."""

    deadline: Seconds = Field(
        default=30.0,
        description="For requests already received to be answered; then connections are closed. Seconds, or as 30s.",
    )


class Log(_Settings):
    """Log lines on standard error."""

    level: Literal["debug", "info", "warning", "error", "critical"] = Field(
        default="info", description="The least severe level that is logged."
    )
    format: Literal["json", "console", "auto"] = Field(
        default="auto",
        description="json: one object a line; console: for eyes; auto: console on a terminal, otherwise json.",
    )


class Config(BaseSettings):
    """kproxy's configuration. `kproxy.config.load` reads it from flags, KPROXY_* variables and a YAML file."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix="KPROXY_", env_nested_delimiter="__", validate_default=False
    )

    clusters: tuple[VirtualCluster, ...] = Field(
        min_length=1, description="The virtual clusters, each with its own name."
    )
    admin: Admin | None = Field(
        default=None, description="The HTTP listener for metrics, probes and the API; without it there is none."
    )
    limits: Limits = Field(default=Limits(), description="What one client, or all of them, may cost.")
    timeouts: Timeouts = Field(default=Timeouts(), description="How long kproxy waits.")
    topology: Topology = Field(default=Topology(), description="How kproxy follows the backend's brokers.")
    drain: Drain = Field(default=Drain(), description="How kproxy ends on SIGTERM.")
    log: Log = Field(default=Log(), description="Log lines on standard error.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what the caller gives: `load` joins the sources itself, so that a problem names where it comes from."""
        return (init_settings,)

    @field_validator("clusters")
    @classmethod
    def _unique_names(cls, clusters: tuple[VirtualCluster, ...]) -> tuple[VirtualCluster, ...]:
        names = [cluster.name for cluster in clusters]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise ValueError(f"clusters.{names.index(name)} and clusters.{index} are both named {name!r}")
        return clusters

    @model_validator(mode="after")
    def _no_port_twice(self) -> Self:
        if found := conflicts(self.claims()):
            raise ValueError("; ".join(found))
        return self

    def claims(self) -> tuple[Claim, ...]:
        """Every port, or run of ports, that this configuration listens on."""
        claims = []
        for index, cluster in enumerate(self.clusters):
            key, host = f"clusters.{index}", cluster.listen.host
            claims.append(Claim(f"{key}.listen", host, cluster.listen.port, cluster.listen.port))
            claims.append(Claim(f"{key}.nodes", host, cluster.first_port, cluster.last_port))
        if self.admin:
            claims.append(Claim("admin.listen", self.admin.listen.host, self.admin.listen.port, self.admin.listen.port))
        return tuple(claims)
