"""What is delivered to files or to a topic: settings that telemetry's receivers and the events' destinations share."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import core_schema

from kproxy.config.base import Path, Settings, refuse
from kproxy.config.process import FrameBytes, Patience, Seconds
from kproxy.config.reasons import reason, worth_telling
from kproxy.config.units import byte_count
from kproxy.config.upstreams import Label, Servers

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_PREFIX: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def check_topic(name: str) -> str:
    """ValueError for what Kafka does not take as a topic's name."""
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise ValueError(f"{name!r} is no topic: at most 249 letters, digits, '.', '_' and '-'")
    return name


def check_prefix(prefix: str) -> str:
    """ValueError for what no file's name may begin with, or what readers pass over."""
    if not re.fullmatch(_PREFIX, prefix):
        raise ValueError(f"{prefix!r} is no prefix of files; take letters, digits, '-' and '_', the last two not first")
    return prefix


Text = Annotated[str, AfterValidator(_not_empty)]
Topic = Annotated[str, AfterValidator(check_topic)]
Prefix = Annotated[str, AfterValidator(check_prefix), Field(json_schema_extra={"pattern": _PREFIX})]


class Late(Settings):
    """Settings that are built at their first use."""

    model_config = ConfigDict(defer_build=True)


class ToFiles(Late):
    """To gzip files of JSON lines in a directory."""

    directory: Text = Field(description="Where; it is made when it is missing.", examples=["/var/lib/kproxy/data"])
    file_bytes: FrameBytes = Field(
        default=64 * 2**20, description="A file of so many bytes is complete. Bytes, or as 64MiB."
    )
    file_age: Patience = Field(default=60.0, description="So is one of this age. Seconds, or as 1m.")
    keep_bytes: Annotated[int, byte_count()] | None = Field(
        default=None, description="Of complete files; beyond it the oldest are deleted. Without it none is."
    )
    linger: Seconds = Field(
        default=1.0, description="How long one waits for others to be written with. Seconds, or as 1s."
    )


class ToTopic(Late):
    """To a topic of a cluster: a virtual cluster's upstream, or another one."""

    topic: Topic = Field(description="The topic, which must be there.")
    cluster: Label | None = Field(
        default=None,
        description="A virtual cluster, whose active upstream has the topic; without it, and without "
        "`bootstrap_servers`, the one that they come from.",
    )
    bootstrap_servers: Servers = Field(
        default=(), description="Brokers of another cluster that has the topic, as host:port; a list or with commas."
    )
    compression: Literal["none", "gzip", "zstd"] = Field(
        default="zstd", description="Of batches; brokers take zstd since Kafka 2.1."
    )
    retry_for: Seconds = Field(
        default=120.0, description="How long one is tried again before it is dropped. Seconds, or as 2m."
    )
    linger: Seconds = Field(
        default=0.2, description="How long one waits for others to share a batch with. Seconds, or as 200ms."
    )

    @model_validator(mode="after")
    def _one_cluster(self) -> Self:
        if self.cluster and self.bootstrap_servers:
            refuse([(("cluster",), "stands beside bootstrap_servers: give one of both, or none")])
        return self


@dataclass(frozen=True, slots=True, eq=False)  # hashable by identity, as Annotated asks
class ByType:
    """A mapping taken by its `type`, not by what fits: so problems are those of the type that was meant.

    `other` takes types beyond `models`, and `others` says what they are; with None there are no others. The models are
    built when there is one to take, or a JSON Schema to make: each costs milliseconds, and most starts need none.
    """

    models: Mapping[str, type[Settings]]
    other: type[Settings] | None = None
    others: str = ""

    def __call__(self, value: Any) -> Settings:
        """The model of the type, as pydantic calls it."""
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
    for found in worth_telling(error.errors(include_url=False)):
        if built_in is not None and found["type"] == "extra_forbidden":
            yield found["loc"], f"is no setting of a plug-in, whose own stand in options; built in: {built_in}"
        else:
            yield found["loc"], reason(found, model)


def names_twice(place: Path, names: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """A problem for each further one of a name, with keys relative to the root."""
    for index, name in enumerate(names):
        if name in names[:index]:
            first = ".".join(map(str, (*place, names.index(name))))
            yield (*place, index, "name"), f"{name!r} is also the name of {first}"


def unknown_cluster(name: str, clusters: Collection[str]) -> str:
    """Why a virtual cluster cannot be meant."""
    return f"{name!r} is no virtual cluster; there are: {', '.join(clusters)}"
