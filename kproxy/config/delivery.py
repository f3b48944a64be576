"""Settings for delivery to files or to a topic, shared by telemetry's receivers and the events' destinations.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP. At start kproxy.delivery
makes the destinations from them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import core_schema

from kproxy.config.base import Path, Settings, refuse
from kproxy.config.identity import Identity
from kproxy.config.process import FrameBytes, Patience, Seconds
from kproxy.config.reasons import reason, worth_reporting
from kproxy.config.tls import UpstreamTls
from kproxy.config.topic import Topic
from kproxy.config.units import byte_count
from kproxy.config.upstreams import Label, Servers

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

_PREFIX: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def check_prefix(prefix: str) -> str:
    """Return the prefix; raise ValueError when no file name may begin with it, or readers skip such files."""
    if not re.fullmatch(_PREFIX, prefix):
        raise ValueError(f"{prefix!r} is no prefix of files; take letters, digits, '-' and '_', the last two not first")
    return prefix


Text = Annotated[str, AfterValidator(_not_empty)]
Prefix = Annotated[str, AfterValidator(check_prefix), Field(json_schema_extra={"pattern": _PREFIX})]


class Late(Settings):
    """Settings models that pydantic builds at their first use, to keep most starts fast."""

    model_config = ConfigDict(defer_build=True)


class ToFiles(Late):
    """To gzip files of JSON lines in a directory."""

    directory: Text = Field(
        description="The directory; kproxy creates it when it is missing.", examples=["/var/lib/kproxy/data"]
    )
    file_bytes: FrameBytes = Field(
        default=64 * 2**20, description="The size at which a file is finished. Bytes, or as 64MiB."
    )
    file_age: Patience = Field(default=60.0, description="The age at which a file is finished. Seconds, or as 1m.")
    keep_bytes: Annotated[int, byte_count()] | None = Field(
        default=None,
        description="The total size of finished files; beyond it the oldest are deleted. Without it none is.",
    )
    linger: Seconds = Field(
        default=1.0, description="How long an item waits for others to be written with. Seconds, or as 1s."
    )


class ToTopic(Late):
    """To a topic of a cluster: a virtual cluster's upstream, or another one."""

    topic: Topic = Field(description="The topic, which must exist.")
    cluster: Label | None = Field(
        default=None,
        description="The virtual cluster whose active upstream has the topic; without it, and without "
        "`bootstrap_servers`, the virtual cluster that the items come from.",
    )
    bootstrap_servers: Servers = Field(
        default=(), description="Brokers of another cluster that has the topic, as host:port; a list or with commas."
    )
    tls: UpstreamTls | None = Field(
        default=None,
        description="TLS to the brokers of `bootstrap_servers`; without it kproxy speaks plaintext to them. A virtual "
        "cluster's upstream has its own.",
    )
    identity: Identity | None = Field(
        default=None,
        description="kproxy's own identity at the brokers of `bootstrap_servers`, where they ask for SASL. A virtual "
        "cluster's upstream has its own.",
    )
    compression: Literal["none", "gzip", "zstd"] = Field(
        default="zstd", description="The compression of batches; brokers accept zstd since Kafka 2.1."
    )
    retry_for: Seconds = Field(
        default=120.0, description="How long an item is retried before it is dropped. Seconds, or as 2m."
    )
    linger: Seconds = Field(
        default=0.2, description="How long an item waits for others to share a batch with. Seconds, or as 200ms."
    )

    @model_validator(mode="after")
    def _one_cluster(self) -> Self:
        if self.cluster and self.bootstrap_servers:
            refuse([(("cluster",), "stands beside bootstrap_servers: give one of both, or none")])
        for name in ("tls", "identity"):
            if getattr(self, name) is not None and not self.bootstrap_servers:
                refuse([((name,), "needs bootstrap_servers: a virtual cluster's upstream has its own")])
        return self


@dataclass(frozen=True, slots=True, eq=False)  # hashable by identity, as Annotated requires
class ByType:
    """Validates a mapping by the model of its `type`, so that the problems are those of the type that was meant.

    `other` is the model for types that are not in `models`, and `others` describes them; None allows no others. Models
    are built at the first value, or for a JSON Schema: each costs milliseconds, and most starts need none.
    """

    models: Mapping[str, type[Settings]]
    other: type[Settings] | None = None
    others: str = ""

    def __call__(self, value: Any) -> Settings:
        """Validate a value; pydantic calls this."""
        known = ", ".join(self.models)
        if isinstance(value, Settings):
            return value
        if not isinstance(value, dict):
            raise ValueError(f"must be a mapping, not {type(value).__name__}")
        kind = value.get("type")
        if kind is None:
            refuse([(("type",), f"is required: {known}{self.others}")])
        model = self.models.get(kind, self.other) if isinstance(kind, str) else self.other
        if model is None:
            refuse([(("type",), f"must be one of {known}, not {kind!r}")])
        try:
            return model.model_validate(value)
        except ValidationError as error:
            refuse(_problems(error, model, known if model is self.other else None))

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        models = [*self.models.values(), *([self.other] if self.other else [])]
        return {"anyOf": [handler(TypeAdapter(model).core_schema) for model in models]}


def _problems(error: ValidationError, model: type[Settings], built_in: str | None) -> Iterator[tuple[Path, str]]:
    for found in worth_reporting(error.errors(include_url=False)):
        if built_in is not None and found["type"] == "extra_forbidden":
            yield found["loc"], f"is no setting of a plug-in, whose own stand in options; built in: {built_in}"
        else:
            yield found["loc"], reason(found, model)


def names_twice(place: Path, names: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield a problem for each name that occurs before, with keys relative to the root."""
    for index, name in enumerate(names):
        if name in names[:index]:
            first = ".".join(map(str, (*place, names.index(name))))
            yield (*place, index, "name"), f"{name!r} is also the name of {first}"


def unknown_cluster(name: str, clusters: Collection[str]) -> str:
    """Return the reason for a name that is not a virtual cluster's."""
    return f"{name!r} is no virtual cluster; there are: {', '.join(clusters)}"
