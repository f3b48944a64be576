"""Receivers of telemetry: where what clients push goes. Each has a type; types that are not built in are plug-ins."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    field_serializer,
    model_validator,
)

from kproxy.config.base import Path, Settings, refuse, split_commas
from kproxy.config.process import Count, FrameBytes, Patience, Seconds
from kproxy.config.reasons import reason, worth_telling
from kproxy.config.units import byte_count
from kproxy.config.upstreams import Label, Servers

_HIDDEN: Final = "**********"
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def _check_topic(name: str) -> str:
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise ValueError(f"{name!r} is no topic: at most 249 letters, digits, '.', '_' and '-'")
    return name


def _unseen(value: Any) -> Any:
    """Refuses what is no text here, where the reason does not show it."""
    if not isinstance(value, str | SecretStr):
        raise ValueError("must be text (in quotation marks, if it looks like something else)")
    return value


Text = Annotated[str, AfterValidator(_not_empty)]
Topic = Annotated[str, AfterValidator(_check_topic)]
Secret = Annotated[SecretStr, BeforeValidator(_unseen, json_schema_input_type=str)]
Words = Annotated[tuple[str, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[str, ...])]


class _Named(Settings):
    name: Label = Field(description="Its name in metrics and in virtual clusters' `telemetry.receivers`: a DNS label.")


class _Queued(_Named):
    max_pushes: Count = Field(
        default=20_000, description="Pushes of one virtual cluster that may wait for it; further ones are dropped."
    )
    max_bytes: FrameBytes = Field(
        default=64 * 2**20, description="Bytes of payloads that may wait for it, likewise. Bytes, or as 64MiB."
    )


class Tls(Settings):
    """TLS towards a receiver's server, whose name is always checked. PEM files."""

    ca: Text | None = Field(
        default=None, description="File of the certificate authorities to trust; without it those of the system."
    )
    certificate: Text | None = Field(default=None, description="File of kproxy's own certificate, with its chain.")
    key: Text | None = Field(
        default=None, description="File of its private key; without it the certificate's file holds the key as well."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.key and not self.certificate:
            refuse([(("key",), "needs a certificate")])
        return self


class Prometheus(_Queued):
    """Clients' metrics on /metrics/clients of the admin port: deltas added up, for Prometheus to scrape."""

    type: Literal["prometheus"] = Field(description="`prometheus`.")
    labels: Words = Field(
        default=("client_instance_id", "client_id", "client_software_name", "client_software_version"),
        description="What tells clients apart; those that share all of it are added up. Of client_instance_id, "
        "client_id, client_software_name, client_software_version, client_source_address, client_source_port, and "
        "attributes of the OTLP resource, as group_id. A list or one string with commas.",
    )
    attributes: Words | None = Field(
        default=None,
        description="Attributes of data points that become labels, as topic; points that differ in others are added "
        "up. Without it all.",
    )
    constant: Mapping[str, str] = Field(default={}, description="Labels that stand on every series, beside `cluster`.")
    expiry: Patience = Field(
        default=900.0, description="After how long without a push a series goes. Seconds, or as 15m."
    )
    max_clients: Count = Field(default=20_000, description="Clients of one virtual cluster; those beyond are left out.")
    max_series: Count = Field(default=500_000, description="Series of one virtual cluster; those beyond are left out.")


class Otlp(_Queued):
    """To an OpenTelemetry collector by OTLP/HTTP: payloads as clients wrote them, with what is known of the client."""

    type: Literal["otlp"] = Field(description="`otlp`.")
    url: Text = Field(
        description="Where to POST, with the path. Secrets go into `headers`.",
        examples=["http://collector:4318/v1/metrics"],
    )
    headers: Mapping[str, Secret] = Field(
        default={}, description="Headers of every request. Their values are never shown nor logged."
    )
    compression: Literal["none", "gzip", "zstd"] = Field(
        default="gzip", description="Of requests; zstd costs a fraction of gzip, where the collector takes it."
    )
    tls: Tls = Field(default=Tls(), description="For https.")
    constant: Mapping[str, str] = Field(
        default={}, description="Attributes that are added to every resource, beside the client's and `cluster`."
    )
    timeout: Patience = Field(default=10.0, description="To connect, and again for each request. Seconds, or as 10s.")
    retry_for: Seconds = Field(
        default=300.0, description="How long a push is tried again before it is dropped. Seconds, or as 5m."
    )
    linger: Seconds = Field(
        default=0.2, description="How long a push waits for others to share a request with. Seconds, or as 200ms."
    )
    connections: Count = Field(default=2, description="Requests at a time, each on a connection of its own.")


class Kafka(_Queued):
    """To a topic: the key is the client's instance id, the value the payload, the headers tell of the client."""

    type: Literal["kafka"] = Field(description="`kafka`.")
    topic: Topic = Field(description="The topic, which must be there.")
    cluster: Label | None = Field(
        default=None,
        description="A virtual cluster, whose active upstream has the topic; without it, and without "
        "`bootstrap_servers`, the one whose clients push.",
    )
    bootstrap_servers: Servers = Field(
        default=(), description="Brokers of another cluster that has the topic, as host:port; a list or with commas."
    )
    compression: Literal["none", "gzip", "zstd"] = Field(
        default="zstd", description="Of batches; brokers take zstd since Kafka 2.1."
    )
    constant: Mapping[str, str] = Field(default={}, description="Headers that stand on every record, beside `cluster`.")
    retry_for: Seconds = Field(
        default=120.0, description="How long a push is tried again before it is dropped. Seconds, or as 2m."
    )
    linger: Seconds = Field(
        default=0.2, description="How long a push waits for others to share a batch with. Seconds, or as 200ms."
    )

    @model_validator(mode="after")
    def _one_cluster(self) -> Self:
        if self.cluster and self.bootstrap_servers:
            refuse([(("cluster",), "stands beside bootstrap_servers: give one of both, or none")])
        return self


class Files(_Queued):
    """To gzip files of JSON lines in a directory: each appears when it is complete. Spark reads them as they are."""

    type: Literal["files"] = Field(description="`files`.")
    directory: Text = Field(description="Where; it is made when it is missing.", examples=["/var/lib/kproxy/telemetry"])
    prefix: Text = Field(default="telemetry", description="What the files' names begin with.")
    constant: Mapping[str, str] = Field(default={}, description="Columns that stand on every line, beside `cluster`.")
    file_bytes: FrameBytes = Field(
        default=64 * 2**20, description="A file of so many bytes is complete. Bytes, or as 64MiB."
    )
    file_age: Patience = Field(default=60.0, description="So is one of this age. Seconds, or as 1m.")
    keep_bytes: Annotated[int, byte_count()] | None = Field(
        default=None, description="Of complete files; beyond it the oldest are deleted. Without it none is."
    )
    linger: Seconds = Field(
        default=1.0, description="How long a push waits for others to be written with. Seconds, or as 1s."
    )


class PlugIn(_Named):
    """Of another package: `type` is the name of its entry point in the group `kproxy.telemetry_receivers`."""

    type: Text = Field(
        description="The name of the entry point.",
        json_schema_extra={"not": {"enum": ["files", "kafka", "otlp", "prometheus"]}},
    )
    options: Mapping[str, Any] = Field(
        default={}, description="What it takes, as it says itself. Values are never shown: some may be secret."
    )

    @field_serializer("options")
    def _hide(self, options: Mapping[str, Any]) -> dict[str, str]:
        return dict.fromkeys(options, _HIDDEN)


Receiver: TypeAlias = Prometheus | Otlp | Kafka | Files | PlugIn
BUILT_IN: Final[Mapping[str, type[Receiver]]] = {
    "prometheus": Prometheus,
    "otlp": Otlp,
    "kafka": Kafka,
    "files": Files,
}


def _of_its_type(value: Any) -> Receiver:
    """By `type`, not by what fits: so problems are those of the type that was meant, at their keys."""
    if isinstance(value, Receiver):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"must be a mapping, not {type(value).__name__}")
    kind = value.get("type")
    if kind is None:
        refuse([(("type",), f"is required: {', '.join(BUILT_IN)}, or a plug-in's")])
    model = BUILT_IN.get(kind, PlugIn) if isinstance(kind, str) else PlugIn
    try:
        return model.model_validate(value)
    except ValidationError as error:
        refuse(_problems(error, model))


def _problems(error: ValidationError, model: type[Receiver]) -> Iterator[tuple[Path, str]]:
    for found in worth_telling(error.errors(include_url=False)):
        if model is PlugIn and found["type"] == "extra_forbidden":
            yield (
                found["loc"],
                f"is no setting of a plug-in, whose own stand in options; built in: {', '.join(BUILT_IN)}",
            )
        else:
            yield found["loc"], reason(found, model)


Receivers = tuple[Annotated[Receiver, BeforeValidator(_of_its_type, json_schema_input_type=Receiver)], ...]


def named_twice(receivers: Receivers) -> Iterator[tuple[Path, str]]:
    """A problem for each further receiver of a name, with keys relative to the root."""
    names = [receiver.name for receiver in receivers]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield ("receivers", index, "name"), f"{name!r} is also the name of receivers.{names.index(name)}"


def clusters_missing(receivers: Receivers, clusters: Collection[str]) -> Iterator[tuple[Path, str]]:
    """A problem for each receiver whose virtual cluster is not there, with keys relative to the root."""
    for index, receiver in enumerate(receivers):
        if isinstance(receiver, Kafka) and receiver.cluster and receiver.cluster not in clusters:
            reason = f"{receiver.cluster!r} is no virtual cluster; there are: {', '.join(clusters)}"
            yield ("receivers", index, "cluster"), reason
