"""Settings of telemetry's receivers, the destinations of pushes. Types that are not built in are plug-ins.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP. At start each virtual
cluster's telemetry makes its receivers from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, field_serializer, model_validator

from kproxy.config.base import Path, refuse, split_commas
from kproxy.config.delivery import ByType, Late, Text, ToFiles, ToTopic, names_twice, unknown_cluster
from kproxy.config.process import Count, FrameBytes, Patience, Seconds, Share
from kproxy.config.secret import Headers, SecretUrl, hidden_options
from kproxy.config.upstreams import Label

_OF_EVERY_CLIENT: Final = frozenset({"client_instance_id", "client_source_address", "client_source_port"})


Words = Annotated[tuple[str, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[str, ...])]


class _Named(Late):
    name: Label = Field(description="Its name in metrics and in virtual clusters' `telemetry.receivers`: a DNS label.")


class _Queued(_Named):
    max_pushes: Count = Field(
        default=20_000,
        description="Pushes of one virtual cluster that may wait in its queue; further ones are dropped.",
    )
    max_bytes: FrameBytes = Field(
        default=64 * 2**20, description="Bytes of payloads that may wait in its queue. Bytes, or as 64MiB."
    )


class Tls(Late):
    """TLS towards a receiver's server; its name is always checked. Files are PEM."""

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
        description="Labels that identify a client; clients that share all of them are added up. From "
        "client_instance_id, client_id, client_software_name, client_software_version, client_source_address, "
        "client_source_port, and attributes of the OTLP resource, as group_id. A list or one string with commas.",
    )
    attributes: Words | None = Field(
        default=None,
        description="Attributes of data points that become labels, as topic; points that differ in others are added "
        "up. Without it all.",
    )
    constant: Mapping[str, str] = Field(default={}, description="Labels that every series gets, beside `cluster`.")
    expiry: Patience = Field(
        default=900.0, description="A series is removed after this time without a push. Seconds, or as 15m."
    )
    max_clients: Count = Field(default=20_000, description="Clients of one virtual cluster; those beyond are left out.")
    max_series: Count = Field(default=500_000, description="Series of one virtual cluster; those beyond are left out.")
    max_client_series: Count = Field(
        default=20_000, description="Series of one client instance; those beyond are left out."
    )
    address_share: Share = Field(
        default=0.5,
        description="The part of `max_series` and of `max_clients` that the clients of one address (IPv6: a /64) may "
        "have. 1 where all clients come through one load balancer and need it.",
    )
    address_bytes: FrameBytes = Field(
        default=40 * 2**20,
        description="The memory, by estimate, of the series of one address. A series that other clients have as well "
        "takes 192 bytes, another one some 800 and more. Bytes, or as 40MiB.",
    )


class Otlp(_Queued):
    """To an OpenTelemetry collector by OTLP/HTTP: payloads as clients wrote them, with attributes of the client."""

    type: Literal["otlp"] = Field(description="`otlp`.")
    url: SecretUrl = Field(
        repr=False,
        description="The URL to POST to, with the path. Secrets go into `headers`; the values of its query "
        "are not shown either.",
        examples=["http://collector:4318/v1/metrics"],
    )
    headers: Headers = Field(
        default={},
        description="Headers of every request. Their values are never shown or logged; blanks and line ends around "
        "them do not count.",
    )
    compression: Literal["none", "gzip", "zstd"] = Field(
        default="gzip",
        description="The compression of requests; zstd costs a fraction of gzip, if the collector accepts it.",
    )
    tls: Tls = Field(default=Tls(), description="For https.")
    constant: Mapping[str, str] = Field(
        default={}, description="Attributes that are added to every resource, beside the client's and `cluster`."
    )
    timeout: Patience = Field(default=10.0, description="To connect, and again for each request. Seconds, or as 10s.")
    retry_for: Seconds = Field(
        default=300.0, description="How long a push is retried before it is dropped. Seconds, or as 5m."
    )
    linger: Seconds = Field(
        default=0.2, description="How long a push waits for others to share a request with. Seconds, or as 200ms."
    )
    connections: Count = Field(default=2, description="Requests at a time, each on a connection of its own.")

    @model_validator(mode="after")
    def _can_use_tls(self) -> Self:
        if self.tls != Tls() and self.url.lower().startswith("http:"):
            refuse([(("tls",), "is for a url of https")])
        return self


class Kafka(ToTopic, _Queued):
    """To a topic: the key is the client's instance id, the value the payload, the headers describe the client."""

    type: Literal["kafka"] = Field(description="`kafka`.")
    constant: Mapping[str, str] = Field(default={}, description="Headers that every record gets, beside `cluster`.")


class Files(ToFiles, _Queued):
    """To gzip files of JSON lines in a directory: each appears when it is complete. Spark reads them as they are."""

    type: Literal["files"] = Field(description="`files`.")
    prefix: Text = Field(default="telemetry", description="What the files' names begin with.")
    constant: Mapping[str, str] = Field(default={}, description="Columns that every line gets, beside `cluster`.")


class PlugIn(_Named):
    """A receiver of another package: `type` is its entry point in the group `kproxy.telemetry_receivers`."""

    type: Text = Field(
        description="The name of the entry point.",
        json_schema_extra={"not": {"enum": ["files", "kafka", "otlp", "prometheus"]}},
    )
    options: Mapping[str, Any] = Field(
        default={},
        repr=False,
        description="The plug-in's own settings, as it documents them. Values are never shown: they may be secret.",
    )

    @field_serializer("options")
    def _hide(self, options: Mapping[str, Any]) -> dict[str, str]:
        return hidden_options(options)


Receiver: TypeAlias = Prometheus | Otlp | Kafka | Files | PlugIn
BUILT_IN: Final[Mapping[str, type[Receiver]]] = {
    "prometheus": Prometheus,
    "otlp": Otlp,
    "kafka": Kafka,
    "files": Files,
}


Receivers = tuple[Annotated[Receiver, ByType(BUILT_IN, PlugIn, ", or a plug-in's")], ...]


def receiver_problems(receivers: Receivers, clusters: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield duplicate names and unknown virtual clusters; keys are relative to the root."""
    yield from names_twice(("receivers",), [receiver.name for receiver in receivers])
    for index, receiver in enumerate(receivers):
        if isinstance(receiver, Kafka) and receiver.cluster and receiver.cluster not in clusters:
            yield ("receivers", index, "cluster"), unknown_cluster(receiver.cluster, clusters)


def same_series(used: Mapping[str, Receivers], receivers: Receivers) -> Iterator[tuple[Path, str]]:
    """Yield a problem for each receiver that would repeat another's series at /metrics/clients.

    `used` are the receivers of each virtual cluster; keys are relative to the root.
    """
    for index, receiver in enumerate(receivers):
        for cluster in (cluster for cluster, those in used.items() if receiver in those):
            earlier = [each for each in receivers[:index] if each in used[cluster]]
            if twin := _twin(receiver, earlier):
                problem = f"does not tell its series of {cluster} from those of receivers.{receivers.index(twin)}"
                why = "give one of both another label, as {view: totals}, since no scrape may hold a series twice"
                yield ("receivers", index, "constant"), f"{problem}: {why}"
                break


def _twin(receiver: Receiver, others: Sequence[Receiver]) -> Receiver | None:
    return next((other for other in others if _alike(receiver, other)), None)


def _alike(one: Receiver, other: Receiver) -> bool:
    """Return True when both can have the same series.

    A label without a value is left out of a series, so only labels that every client has distinguish two receivers.
    """
    if not isinstance(one, Prometheus) or not isinstance(other, Prometheus):
        return False
    constants = ({**each.constant, "cluster": ""} for each in (one, other))
    differing = {*one.labels} ^ {*other.labels}
    return len({frozenset(each.items()) for each in constants}) == 1 and not differing & _OF_EVERY_CLIENT
