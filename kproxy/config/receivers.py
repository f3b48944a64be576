"""Receivers of telemetry: where what clients push goes. Each has a type; types that are not built in are plug-ins."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, SecretStr, field_serializer, model_validator

from kproxy.config.base import Path, refuse, split_commas
from kproxy.config.delivery import ByType, Late, Text, ToFiles, ToTopic, names_twice, unknown_cluster
from kproxy.config.process import Count, FrameBytes, Patience, Seconds
from kproxy.config.upstreams import Label

_HIDDEN: Final = "**********"
_OF_EVERY_CLIENT: Final = frozenset({"client_instance_id", "client_source_address", "client_source_port"})


def _unseen(value: Any) -> Any:
    """Refuses what is no text here, where the reason does not show it."""
    if not isinstance(value, str | SecretStr):
        raise ValueError("must be text (in quotation marks, if it looks like something else)")
    return value


Secret = Annotated[SecretStr, BeforeValidator(_unseen, json_schema_input_type=str)]
Words = Annotated[tuple[str, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[str, ...])]


class _Named(Late):
    name: Label = Field(description="Its name in metrics and in virtual clusters' `telemetry.receivers`: a DNS label.")


class _Queued(_Named):
    max_pushes: Count = Field(
        default=20_000, description="Pushes of one virtual cluster that may wait for it; further ones are dropped."
    )
    max_bytes: FrameBytes = Field(
        default=64 * 2**20, description="Bytes of payloads that may wait for it, likewise. Bytes, or as 64MiB."
    )


class Tls(Late):
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


class Kafka(ToTopic, _Queued):
    """To a topic: the key is the client's instance id, the value the payload, the headers tell of the client."""

    type: Literal["kafka"] = Field(description="`kafka`.")
    constant: Mapping[str, str] = Field(default={}, description="Headers that stand on every record, beside `cluster`.")


class Files(ToFiles, _Queued):
    """To gzip files of JSON lines in a directory: each appears when it is complete. Spark reads them as they are."""

    type: Literal["files"] = Field(description="`files`.")
    prefix: Text = Field(default="telemetry", description="What the files' names begin with.")
    constant: Mapping[str, str] = Field(default={}, description="Columns that stand on every line, beside `cluster`.")


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


Receivers = tuple[Annotated[Receiver, ByType(BUILT_IN, PlugIn, ", or a plug-in's")], ...]


def receiver_problems(receivers: Receivers, clusters: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Names that stand twice, virtual clusters that are not there; keys are relative to the root."""
    yield from names_twice(("receivers",), [receiver.name for receiver in receivers])
    for index, receiver in enumerate(receivers):
        if isinstance(receiver, Kafka) and receiver.cluster and receiver.cluster not in clusters:
            yield ("receivers", index, "cluster"), unknown_cluster(receiver.cluster, clusters)


def same_series(used: Mapping[str, Receivers], receivers: Receivers) -> Iterator[tuple[Path, str]]:
    """A problem for each receiver whose series would stand twice at /metrics/clients, with keys relative to the root.

    `used` are the receivers of each virtual cluster.
    """
    for index, receiver in enumerate(receivers):
        for cluster in (cluster for cluster, those in used.items() if receiver in those):
            earlier = [each for each in receivers[:index] if each in used[cluster]]
            if twin := _twin(receiver, earlier):
                whose = f"does not tell its series of {cluster} from those of receivers.{receivers.index(twin)}"
                why = "give one of both another label, as {view: totals}, since no scrape may hold a series twice"
                yield ("receivers", index, "constant"), f"{whose}: {why}"
                break


def _twin(receiver: Receiver, others: Sequence[Receiver]) -> Receiver | None:
    return next((other for other in others if _alike(receiver, other)), None)


def _alike(one: Receiver, other: Receiver) -> bool:
    """Whether both can have the same series: labels without a value are left out, so only certain ones tell apart."""
    if not isinstance(one, Prometheus) or not isinstance(other, Prometheus):
        return False
    constants = ({**each.constant, "cluster": ""} for each in (one, other))
    told_apart = {*one.labels} ^ {*other.labels}
    return len({frozenset(each.items()) for each in constants}) == 1 and not told_apart & _OF_EVERY_CLIENT
