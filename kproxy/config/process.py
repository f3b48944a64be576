"""Settings of the whole process: admin listener, limits, timeouts, topology, drain, log.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator

from kproxy.config.address import HostPort
from kproxy.config.base import Settings, also_written_as
from kproxy.config.units import INT32_MAX, frame_bytes, seconds, whole

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

Count = Annotated[int, whole(1)]
FrameBytes = Annotated[int, frame_bytes()]
Seconds = Annotated[float, seconds(ge=0)]
Interval = Annotated[float, seconds(ge=0.1)]
Patience = Annotated[float, seconds(gt=0)]


class Admin(Settings):
    """The HTTP listener for metrics, probes and the API; in YAML also just its `host:port`."""

    listen: HostPort = Field(
        description="Where /metrics, /livez, /readyz and /api/v1 are served.", examples=["127.0.0.1:9190"]
    )

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
    max_connections: Count | None = Field(
        default=None,
        description="Client connections at a time, for the whole process; further ones are closed at once. "
        "Without it no limit.",
    )


class Timeouts(Settings):
    """How long kproxy waits. Seconds, or as 500ms, 10s, 2m."""

    connect: Patience = Field(default=10.0, description="To connect to a broker.")
    stalled_frame: Patience = Field(default=30.0, description="For the rest of a frame that has begun.")
    first_request: Patience = Field(
        default=30.0, description="For the first request of a connection; a silent connection is closed."
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


class Log(Settings):
    """Log lines on standard error."""

    level: Literal["debug", "info", "warning", "error", "critical"] = Field(
        default="info", description="The least severe level that is logged."
    )
    format: Literal["json", "console", "auto"] = Field(
        default="auto",
        description="json: one object a line; console: for eyes; auto: console on a terminal, otherwise json.",
    )
