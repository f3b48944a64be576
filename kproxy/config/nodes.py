"""Settings of the nodes of a virtual cluster: their ids, and the ports or names at which clients reach them.

They are checked whenever a configuration is loaded: when kproxy starts, and at each SIGHUP. kproxy.config.plan
and kproxy.routing call the functions.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, GetJsonSchemaHandler, model_serializer, model_validator

from kproxy.config.address import MAX_PORT, check_host, is_ip_literal, is_wildcard
from kproxy.config.base import ConsistentSettings, Path, Settings, also_written_as, dotted, split_commas
from kproxy.config.server_names import PLACEHOLDER, NamePattern
from kproxy.config.units import INT32_MAX, whole

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


@dataclass(frozen=True, slots=True)
class Claim:
    """Ports `first` to `last` of `host`, for the setting at `path`. `last` None: as many from `first` up as needed.

    `by_name`: clients say by a name (SNI) whom they mean there, so others that do likewise may have the same address.
    """

    path: Path
    host: str
    first: int
    last: int | None
    by_name: bool = False

    def collides(self, other: Claim) -> bool:
        """Return True when kproxy cannot serve both. Port 0 (any free one) never collides.

        Only the first port of a claim without `last` is certain: the others depend on the number of nodes.
        """
        if self.by_name and other.by_name and self.host == other.host:
            return False
        both = self.first and other.first and same_interface(self.host, other.host)
        return bool(both) and max(self.first, other.first) <= min(self._certain_last, other._certain_last)

    @property
    def _certain_last(self) -> int:
        return self.first if self.last is None else self.last

    @property
    def ports(self) -> str:
        """The ports as text for people: `9092`, `9093-9095`, `9093 and up`, `any free port`."""
        if not self.first:
            return "any free port"
        if self.last is None:
            return f"{self.first} and up"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def overlapping(spans: Iterable[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the pairs of inclusive spans that share a number, the lower span first."""
    return [(one, other) for one, other in combinations(sorted(spans), 2) if other[0] <= one[1]]


def conflicts(claims: Iterable[Claim]) -> list[tuple[Path, str]]:
    """Return path and reason of each claim that collides with an earlier one."""
    return [
        (other.path, f"port {max(one.first, other.first)} is also that of {dotted(one.path)}")
        for one, other in combinations(claims, 2)
        if one.collides(other)
    ]


def room(claim: Claim, claims: Sequence[Claim]) -> int | None:
    """Return how many ports a claim without `last` has before the next claim on its host; None without a next one."""
    above = [c.first for c in claims if c.first > claim.first and same_interface(c.host, claim.host)]
    return min(above) - claim.first if above else None


def same_interface(one: str, other: str) -> bool:
    """Return True when two sockets on one port of both hosts collide.

    Two different names may still mean the same address; that shows only when kproxy binds them.
    """
    if one == other or (_is_loopback(one) and _is_loopback(other) and "localhost" in (one, other)):
        return True
    if is_wildcard(one) or is_wildcard(other):
        return _version(one) == _version(other) or not (is_ip_literal(one) and is_ip_literal(other))
    return False


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (is_ip_literal(host) and ipaddress.ip_address(host).is_loopback)


def _version(host: str) -> int:
    return ipaddress.ip_address(host).version if is_ip_literal(host) else 0


_RANGE: Final = re.compile(r"\s*([0-9]{1,10})\s*(?:-\s*([0-9]{1,10})\s*)?")

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


def _check_pattern(text: str) -> str:
    if text.count(PLACEHOLDER) != 1:
        raise ValueError(f"{text!r} must have {PLACEHOLDER} once; write for instance broker-{PLACEHOLDER}.example.com")
    for node_id in (0, INT32_MAX):
        if is_ip_literal(check_host(NamePattern.parse(text).name(node_id))):
            raise ValueError(f"{text!r} makes addresses: clients name no address in TLS (SNI), only a host name")
    return text


Pattern = Annotated[str, AfterValidator(_check_pattern)]


class Nodes(ConsistentSettings):
    """The ports or names at which clients reach the nodes of a virtual cluster."""

    strategy: Literal["offset", "automatic", "sni"] = Field(
        default="automatic",
        description="automatic: a node unseen before gets the next free port; offset: the port follows from the "
        "node id alone, so several replicas of kproxy agree; sni: all nodes are at the port of `listen`, each with a "
        "name of its own, which clients name in TLS.",
    )
    pattern: Pattern | None = Field(
        default=None,
        description="Sni only, and required there: the nodes' names, with `$(node_id)` where a node's id stands. "
        "DNS must lead all of them to kproxy, and kproxy's certificate must have them.",
        examples=[f"broker-{PLACEHOLDER}.orders.example.com"],
    )
    advertised_port: DialablePort | None = Field(
        default=None,
        description="Sni only: the port to advertise instead of that of `listen`, where it is mapped on the way to "
        "clients.",
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
        description="The port to advertise instead of first_port, where ports are mapped on the way to clients; "
        "further ports follow in the same order.",
    )

    @property
    def names(self) -> NamePattern | None:
        """The nodes' names; None where nodes have ports."""
        return None if self.pattern is None else NamePattern.parse(self.pattern)

    def _problems(self) -> Iterator[tuple[Path, str]]:
        if self.strategy == "sni":
            yield from self._problems_of_names()
            return
        yield from (((key,), "needs strategy: sni") for key in ("pattern", "advertised_port") if getattr(self, key))
        if self.strategy == "automatic" and self.ranges:
            yield ("ranges",), "needs strategy: offset"
        if self.strategy == "offset" and self.first_port == 0:
            yield ("first_port",), "0 (any free port) needs strategy: automatic"
        if self.first_port == 0 and self.advertised_first_port is not None:
            yield ("advertised_first_port",), "needs a first_port other than 0: any free ports cannot be mapped"
        for one, other in overlapping((r.first, r.last) for r in self.ranges):
            yield ("ranges",), f"{one[0]}-{one[1]} and {other[0]}-{other[1]} overlap"

    def _problems_of_names(self) -> Iterator[tuple[Path, str]]:
        if self.pattern is None:
            yield ("pattern",), f"is required by strategy: sni; write for instance broker-{PLACEHOLDER}.example.com"
        if self.first_port is not None:
            yield ("first_port",), "cannot be with strategy: sni: all nodes are at the port of listen"
        if self.advertised_first_port is not None:
            yield ("advertised_first_port",), "cannot be with strategy: sni: there is one port; give advertised_port"
        if self.ranges:
            yield ("ranges",), "cannot be with strategy: sni: every node has a name, whatever its id"
