"""Settings of the event stream: its destinations and its interval.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP. At start
`kproxy.app.event_stream` makes the destinations from them.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from kproxy.config.base import Path, Settings
from kproxy.config.delivery import ByType, Late, Prefix, Text, ToFiles, ToTopic, names_twice, unknown_cluster
from kproxy.config.process import Count, FrameBytes, Interval
from kproxy.config.upstreams import Label


class _Queued(Late):
    name: Label = Field(description="Its name in metrics: a DNS label.")
    max_events: Count = Field(default=20_000, description="Events that may wait for it; further ones are dropped.")
    max_bytes: FrameBytes = Field(
        default=64 * 2**20, description="Bytes of events that may wait for it, likewise. Bytes, or as 64MiB."
    )


class EventFiles(ToFiles, _Queued):
    """To gzip files of JSON lines in a directory: each appears when it is complete. Spark reads them as they are."""

    type: Literal["files"] = Field(description="`files`.")
    prefix: Prefix = Field(default="events", description="What the files' names begin with.")


class EventTopic(ToTopic, _Queued):
    """To a topic, a record for each event: of a virtual cluster's upstream, or of another cluster."""

    type: Literal["kafka"] = Field(description="`kafka`.")


Destination: TypeAlias = EventFiles | EventTopic
DESTINATIONS: Final[Mapping[str, type[Destination]]] = {"files": EventFiles, "kafka": EventTopic}


class Events(Settings):
    """The event stream: clients that connect, stay and leave, and changes of the topology. Needs a destination."""

    destinations: tuple[Annotated[Destination, ByType(DESTINATIONS)], ...] = Field(
        default=(), description="Where events go, each with a queue of its own. As a variable: YAML."
    )
    interval: Interval = Field(
        default=300.0,
        description="How often every connected client is reported again, for readers that begin later. Seconds, or as "
        "5m.",
    )
    instance: Text | None = Field(
        default=None,
        description="The name of this kproxy in events, and in the telemetry of receivers of types `files` and "
        "`kafka`; without it the name of its host, or pod.",
    )

    @property
    def proxy(self) -> str:
        """The name of this kproxy in all that it writes."""
        return self.instance or socket.gethostname()


def event_problems(events: Events, clusters: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield duplicate names, and topics without a known cluster; keys are relative to the root."""
    place = ("events", "destinations")
    yield from names_twice(place, [destination.name for destination in events.destinations])
    for index, destination in enumerate(events.destinations):
        if not isinstance(destination, EventTopic):
            continue
        if destination.cluster and destination.cluster not in clusters:
            yield (*place, index, "cluster"), unknown_cluster(destination.cluster, clusters)
        if not destination.cluster and not destination.bootstrap_servers and len(clusters) > 1:
            reason = f"is required, or bootstrap_servers, since there are several: {', '.join(clusters)}"
            yield (*place, index, "cluster"), reason
