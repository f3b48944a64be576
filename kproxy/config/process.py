"""Settings of the whole process: admin listener, limits, timeouts, topology, drain, log.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, GetJsonSchemaHandler, model_validator

from kproxy.config.address import HostPort, check_host
from kproxy.config.base import Settings, also_written_as, refuse, split_commas
from kproxy.config.tls import AdminTls
from kproxy.config.units import INT32_MAX, byte_count, frame_bytes, seconds, whole

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

Count = Annotated[int, whole(1)]
FrameBytes = Annotated[int, frame_bytes()]
Bytes = Annotated[int, byte_count()]
Seconds = Annotated[float, seconds(ge=0)]
Interval = Annotated[float, seconds(ge=0.1)]
Patience = Annotated[float, seconds(gt=0)]
WholeSeconds = Annotated[float, seconds(ge=1, le=32_767)]
"""What Linux takes for TCP keepalive."""
ByteRate = Annotated[int, byte_count()]
Share = Annotated[float, Field(gt=0, le=1)]
"""A part of something, as 0.25."""
HostName = Annotated[str, AfterValidator(check_host)]
HostNames = Annotated[
    tuple[HostName, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[HostName, ...])
]


class Admin(Settings):
    """The HTTP listener for metrics, probes and the API; in YAML also just its `host:port`."""

    listen: HostPort = Field(
        description="Where /metrics, /livez, /readyz and /api/v1 are served.", examples=["127.0.0.1:9190"]
    )
    allowed_hosts: HostNames = Field(
        default=(),
        description="Names under which web pages may send commands (the Host of POST, PUT and DELETE), beside "
        "addresses, localhost and the host of `listen`. Whatever is no browser may use any "
        "name. A list or one string with commas.",
        examples=[["kproxy.example.com"]],
    )
    tls: AdminTls | None = Field(default=None, description="TLS, 1.2 and 1.3; without it plain HTTP.")
    token_file: str | None = Field(
        default=None,
        description="File of the token that commands (POST, PUT and DELETE) must bear, unless their client has a "
        "certificate of `tls.client_ca`. Without both only clients on the same machine may give any: they come from a "
        "loopback address.",
    )
    dangerously_let_anyone_command: bool = Field(
        default=False,
        description="Whether everybody who reaches the port may give commands, without a token or a certificate: "
        "fail over, have clients rebootstrap, change subscriptions.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.token_file == "":
            refuse([(("token_file",), "is empty: name a file")])
        if self.token_file and self.dangerously_let_anyone_command:
            refuse([(("dangerously_let_anyone_command",), "stands beside token_file: give one of them")])
        if self.tls and self.tls.client_ca and self.dangerously_let_anyone_command:
            refuse([(("dangerously_let_anyone_command",), "stands beside tls.client_ca: give one of them")])
        return self

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"listen": value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return also_written_as(handler(core_schema), handler, {"type": "string", "examples": ["127.0.0.1:9190"]})


class Limits(Settings):
    """What one client, or all of them, may use. Sizes in bytes, or as 100MiB."""

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
    held_request_bytes: Bytes = Field(
        default=32 * 2**20,
        description="Bytes from clients that are in memory, for all connections: of requests that must be whole, and "
        "what brokers do not take. Above it the connection that has moved nothing for longest is closed.",
    )
    held_response_bytes: Bytes = Field(
        default=256 * 2**20,
        description="Bytes from brokers that are in memory, for all connections: of responses that must be whole, and "
        "what clients do not take. Above it the connection that has moved nothing for longest is closed.",
    )
    max_connections: Count | None = Field(
        default=None,
        description="Client connections at a time, for the whole process; further ones are closed at once. Without it, "
        "and at most, as many as the limit of open files is enough for: two for each connection, and up to 1,024 are "
        "kept back. Without it 50,000 at most.",
    )
    max_connections_per_address: Count | None = Field(
        default=None,
        description="Of these, connections from one IP address (of IPv6 a /64 subnet); further ones are closed at "
        "once. Without it nine tenths of max_connections, since all clients may be behind one load balancer.",
    )
    connections_per_second: Count = Field(
        default=2000,
        description="New connections a second, for the whole process; after a quiet second so many come at once. "
        "Further ones wait in the kernel's backlog.",
    )
    connections_per_second_per_address: Count = Field(
        default=500,
        description="New connections a second from one IP address (of IPv6 a /64 subnet), and 20 times as many at "
        "once, so that a fleet behind one address can come back; further ones are closed at once.",
    )
    handshakes_per_second: Count = Field(
        default=500,
        description="TLS handshakes with clients that begin in a second, for the whole process, evenly. "
        "Further ones wait for their turn, within timeouts.tls_handshake.",
    )
    max_handshakes: Count = Field(
        default=500,
        description="TLS handshakes with clients at a time, for the whole process; half of them from one IP address "
        "(of IPv6 a /64 subnet). Further ones wait, within timeouts.tls_handshake; one whose client has let it wait "
        "for a second makes room.",
    )
    max_unauthenticated: Count = Field(
        default=1000,
        description="Clients that authenticate to kproxy at a time, for the whole process; half of them from one IP "
        "address (of IPv6 a /64 subnet). Further ones wait, within timeouts.first_request; one that has let its login "
        "wait for a second makes room.",
    )


class Timeouts(Settings):
    """How long kproxy waits. Seconds, or as 500ms, 10s, 2m."""

    connect: Patience = Field(default=10.0, description="To connect to a broker.")
    tls_handshake: Patience = Field(default=10.0, description="For a client's TLS handshake, from its first bytes.")
    stalled_frame: Patience = Field(
        default=30.0, description="For the next bytes of a frame that has begun; then the connection is closed."
    )
    whole_request: Patience = Field(
        default=60.0,
        description="For the whole of a request, beside the time that its bytes take at request_bytes_per_second. Only "
        "time in which kproxy reads the client counts.",
    )
    request_bytes_per_second: ByteRate = Field(
        default=1024,
        description="The least rate at which a request must come beyond whole_request. Bytes a second, or as 1KiB.",
    )
    first_request: Patience = Field(
        default=30.0, description="For the first bytes of a connection; a silent connection is closed."
    )
    idle: Patience = Field(
        default=660.0,
        description="For the next request, when all are answered. More than Kafka's connections.max.idle.ms, which is "
        "9 minutes in clients and 10 in brokers, so that they close first.",
    )
    unread_response: Patience = Field(
        default=600.0,
        description="For a client to take more of its responses. More than max.poll.interval.ms, 5 minutes: so long "
        "an application may work without its client reading.",
    )
    unanswered_request: Patience = Field(
        default=1800.0,
        description="For the broker's response to a client's request. Consumers that wait for their group take as long "
        "as max.poll.interval.ms.",
    )
    tcp_keepalive: WholeSeconds = Field(
        default=60.0,
        description="For which a socket is quiet before TCP asks whether its peer is there. One that does not answer "
        "is given up after as long again.",
    )
    upstream_request: Patience = Field(
        default=30.0, description="For the broker's response to a request of kproxy's own."
    )


class Topology(Settings):
    """How kproxy follows changes of the backend's brokers, and what it does for clients of those that are gone."""

    interval: Interval = Field(
        default=30.0,
        description="Time between two polls of the backend's brokers; jitter is added. Seconds, or as 30s.",
    )
    epoch_floor: Interval = Field(
        default=10.0,
        description="The shortest time between two rebootstraps of all clients of a virtual cluster. Seconds, or as "
        "10s.",
    )
    grace: Seconds = Field(
        default=300.0,
        description="How long the listener of a node that is gone stays open to notify its clients; then TCP refuses "
        "them. Seconds, or as 5m.",
    )
    retired: Literal["refuse", "serve"] = Field(
        default="serve",
        description="What such a listener does for clients that cannot be notified. serve: relay to any other node: "
        "its metadata leads them on; refuse: close, so that clients with KIP-899 look elsewhere.",
    )


class Reload(Settings):
    """How kproxy notices changes of files. The configuration is read again at SIGHUP and at `kproxy reload`."""

    interval: Interval = Field(
        default=10.0,
        description="How often the files of TLS are looked at; those that have changed are read again, for new "
        "connections. Seconds, or as 10s.",
    )


class Drain(Settings):
    """How kproxy ends on SIGTERM."""

    deadline: Seconds = Field(
        default=30.0,
        description="How long requests already received may take; then connections are closed. Seconds, or as 30s.",
    )
    rebootstrap: bool = Field(
        default=False,
        description="Whether kproxy asks clients to rebootstrap, spread over the deadline, so that they go to other "
        "replicas: their bootstrap address must lead there.",
    )


class State(Settings):
    """The state that must survive a restart: subscriptions made by tools and the API, and the active upstream."""

    path: str | None = Field(
        default=None,
        description="SQLite file, in an existing directory; without it the state is in memory and does not survive.",
        examples=["/var/lib/kproxy/state.db"],
    )


# As other programs have their levels, in variables that a chart gives to all of them.
_IN_CAPITALS: Final = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
_WARN: Final = BeforeValidator(lambda value: "warning" if value == "warn" else value)


class Log(Settings):
    """Log lines on standard error."""

    level: Annotated[Literal["debug", "info", "warning", "error", "critical"], _WARN, _IN_CAPITALS] = Field(
        default="info", description="The least severe level that is logged; capitals and warn are taken, too."
    )
    format: Annotated[Literal["json", "console", "auto"], _IN_CAPITALS] = Field(
        default="auto",
        description="json: one object a line; console: for eyes; auto: console on a terminal, otherwise json.",
    )
