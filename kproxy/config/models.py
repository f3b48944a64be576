"""The root of the settings, and the checks across virtual clusters.

`kproxy.config.load` makes a `Config` when kproxy starts, and another one at each SIGHUP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pydantic import BaseModel, Field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from kproxy.config.address import HostPort
from kproxy.config.base import Path, refuse
from kproxy.config.cluster import VirtualCluster
from kproxy.config.delivery import ToTopic
from kproxy.config.events import Events, event_problems
from kproxy.config.identity import Identity
from kproxy.config.nodes import Claim, conflicts
from kproxy.config.process import Admin, Drain, Limits, Log, Reload, State, Timeouts, Topology
from kproxy.config.receivers import Receivers, receiver_problems, same_series
from kproxy.config.shared_ports import shared_port_problems
from kproxy.config.telemetry import receivers_missing


class Config(BaseSettings):
    """kproxy's configuration. `kproxy.config.load` reads it from flags, KPROXY_* variables and a YAML file."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=False,
        env_prefix="KPROXY_",
        env_nested_delimiter="__",
    )

    clusters: tuple[VirtualCluster, ...] = Field(
        min_length=1, description="The virtual clusters, each with its own name and ports."
    )
    admin: Admin | None = Field(
        default=None, description="The HTTP listener for metrics, probes and the API; without it there is none."
    )
    limits: Limits = Field(default=Limits(), description="What one client, or all of them, may cost.")
    timeouts: Timeouts = Field(default=Timeouts(), description="How long kproxy waits.")
    topology: Topology = Field(default=Topology(), description="How kproxy follows the backend's brokers.")
    receivers: Receivers = Field(
        default=(), description="The receivers of telemetry, by name. As a variable: YAML, which can hold secrets."
    )
    events: Events = Field(default=Events(), description="The event stream and its destinations.")
    state: State = Field(default=State(), description="The state that must survive a restart.")
    reload: Reload = Field(default=Reload(), description="How kproxy notices changes while it runs.")
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
        """Return only the caller's values: `load` joins the sources itself, so that a problem can name its source."""
        return (init_settings,)

    @model_validator(mode="after")
    def _together(self) -> Self:
        names = [cluster.name for cluster in self.clusters]
        twice = [
            (("clusters", index, "name"), f"{name!r} is also the name of clusters.{names.index(name)}")
            for index, name in enumerate(names)
            if name in names[:index]
        ]
        if problems := [
            *twice,
            *conflicts(self.claims()),
            *shared_port_problems(self.clusters),
            *self._delivery(),
            *self._replicas(),
        ]:
            refuse(problems)
        return self

    def _delivery(self) -> Iterator[tuple[Path, str]]:
        clusters = [cluster.name for cluster in self.clusters]
        yield from receiver_problems(self.receivers, clusters)
        yield from receivers_missing(
            [cluster.telemetry for cluster in self.clusters], [receiver.name for receiver in self.receivers]
        )
        yield from same_series({cluster.name: self.receivers_of(cluster) for cluster in self.clusters}, self.receivers)
        yield from event_problems(self.events, clusters)

    def _replicas(self) -> Iterator[tuple[Path, str]]:
        """Yield a problem for hosted groups of which each replica would have its own."""
        for index, cluster in enumerate(self.clusters):
            if cluster.groups and self.drain.rebootstrap:
                yield (
                    ("clusters", index, "groups"),
                    "cannot be hosted by one of several replicas (drain.rebootstrap sends clients to the others): each "
                    "would have a group of its own, and two members would get the same partition",
                )

    def receivers_of(self, cluster: VirtualCluster) -> Receivers:
        """Return the receivers of the pushes of the virtual cluster's clients; none without telemetry."""
        if cluster.telemetry is None:
            return ()
        names = cluster.telemetry.receivers
        return tuple(receiver for receiver in self.receivers if names is None or receiver.name in names)

    @property
    def with_secrets(self) -> Iterator[BaseModel]:
        """Yield the groups of settings that have secrets in them, for `secrets_of`."""
        yield from self.receivers
        for _, identity in self.identities:
            yield identity
            if identity.client_credentials is not None:
                yield identity.client_credentials

    @property
    def identities(self) -> Iterator[tuple[str, Identity]]:
        """Yield every identity of kproxy's own, with its dotted key."""
        for key, topic in self.topics_elsewhere:
            if topic.identity is not None:
                yield f"{key}.identity", topic.identity
        for index, cluster in enumerate(self.clusters):
            if cluster.identity is not None:
                yield f"clusters.{index}.identity", cluster.identity
            for number, upstream in enumerate(cluster.upstreams):
                if upstream.identity is not None:
                    yield f"clusters.{index}.upstreams.{number}.identity", upstream.identity

    @property
    def topics_elsewhere(self) -> Iterator[tuple[str, ToTopic]]:
        """Yield the settings of each topic that is at no virtual cluster's upstream, with their dotted key."""
        for place, found in (("receivers", self.receivers), ("events.destinations", self.events.destinations)):
            for index, one in enumerate(found):
                if isinstance(one, ToTopic) and one.bootstrap_servers:
                    yield f"{place}.{index}", one

    def claims(self) -> tuple[Claim, ...]:
        """Return every port, or run of ports, that this configuration listens on: listeners first, then nodes."""
        listeners: list[tuple[Path, HostPort, bool]] = [
            (("clusters", index, "listen"), c.listen, c.nodes.strategy == "sni")
            for index, c in enumerate(self.clusters)
        ]
        if self.admin:
            listeners.append((("admin", "listen"), self.admin.listen, False))
        nodes = [
            Claim(("clusters", index, "nodes", "first_port"), c.listen.host, c.first_port, c.last_port)
            for index, c in enumerate(self.clusters)
            if c.nodes.strategy != "sni"
        ]
        bound = (Claim(path, listen.host, listen.port, listen.port, by_name) for path, listen, by_name in listeners)
        return (*bound, *nodes)
