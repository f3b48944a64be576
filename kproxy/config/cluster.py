"""A virtual cluster: which backend, where clients bootstrap, at which ports they reach the nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    model_serializer,
    model_validator,
)

from kproxy.config.address import MAX_PORT, Host, HostPort, is_wildcard
from kproxy.config.base import Path, Settings, also_written_as, refuse, split_commas
from kproxy.config.ports import overlapping
from kproxy.config.units import INT32_MAX, whole

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

_DNS_LABEL: Final = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
_RANGE: Final = re.compile(r"\s*([0-9]{1,10})\s*(?:-\s*([0-9]{1,10})\s*)?")


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
    tuple[Server, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[HostPort, ...])
]
AdvertisedHost = Annotated[Host, AfterValidator(_check_advertised)]
NodeId = Annotated[int, whole(0, INT32_MAX)]
Port = Annotated[int, whole(0, MAX_PORT)]
DialablePort = Annotated[int, whole(1, MAX_PORT)]


class NodeRange(Settings):
    """Node ids from `first` to `last`, both included; in YAML also a string such as `0-2`, or a single id."""

    first: NodeId = Field(description="The lowest node id of the range.")
    last: NodeId = Field(description="The highest node id of the range, included.")

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, dict | NodeRange):
            return value
        match = None if isinstance(value, bool) else _RANGE.fullmatch(str(value))
        if not match:
            raise ValueError(f"{value!r} is not a range of node ids; write for instance 0-2")
        return {"first": int(match[1]), "last": int(match[2] or match[1])}

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.last < self.first:
            raise ValueError(f"the range {self} ends before it begins")
        return self

    @model_serializer
    def _to_text(self) -> str:
        return str(self)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        text = {"type": "string", "pattern": f"^{_RANGE.pattern}$", "examples": ["0-2"]}
        return also_written_as(handler(core_schema), handler, text, {"type": "integer", "minimum": 0})

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __contains__(self, node_id: int) -> bool:
        return self.first <= node_id <= self.last

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"


NodeRanges = Annotated[
    tuple[NodeRange, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[NodeRange, ...])
]


class Nodes(Settings):
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
        if problems := list(self._problems()):
            refuse(problems)
        return self

    def _problems(self) -> Iterator[tuple[Path, str]]:
        if self.strategy == "automatic" and self.ranges:
            yield ("ranges",), "needs strategy: offset"
        if self.strategy == "offset" and self.first_port == 0:
            yield ("first_port",), "0 (any free port) needs strategy: automatic"
        if self.first_port == 0 and self.advertised_first_port is not None:
            yield ("advertised_first_port",), "needs a first_port other than 0: any free ports cannot be mapped"
        for one, other in overlapping((r.first, r.last) for r in self.ranges):
            yield ("ranges",), f"{one[0]}-{one[1]} and {other[0]}-{other[1]} overlap"


class VirtualCluster(Settings):
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
        if problems := list(self._problems()):
            refuse(problems)
        return self

    def _problems(self) -> Iterator[tuple[Path, str]]:
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
