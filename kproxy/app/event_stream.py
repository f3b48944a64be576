"""The process' event stream: writes the events of clients and virtual clusters to files and topics.

There is one if `events.destinations` are configured. It collects from the start, and delivers until the drain ends.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import trio

from kproxy.app.client_events import ClientEvents
from kproxy.config.events import EventFiles, EventTopic
from kproxy.delivery import factory as delivering
from kproxy.delivery.destinations import Destination, Fanout
from kproxy.delivery.files import Files
from kproxy.delivery.kafka import Kafka
from kproxy.observe.events import (
    ClientEvent,
    ClientsRebootstrap,
    EncodedEvent,
    Event,
    Report,
    TopologyEvent,
    encode,
)
from kproxy.observe.faults import supervised
from kproxy.observe.troubles import Troubles, Where
from kproxy.wire.records import Record

if TYPE_CHECKING:
    from kproxy.cluster.cluster import Cluster
    from kproxy.config.events import Events
    from kproxy.observe.counters import Queue
    from kproxy.relay.relay import Relay

_JSON: Final = ("content-type", b"application/json")


class EventStream:
    """Collects events from its creation on; `run` delivers them, and must start after the clusters' `remember`."""

    def __init__(self, settings: Events, clusters: Sequence[Cluster], relay: Relay, troubles: Troubles) -> None:
        self._troubles = troubles
        self._proxy = settings.proxy
        self._numbers = itertools.count(1)
        self._clusters = {cluster.settings.name: cluster for cluster in clusters}
        first = clusters[0]
        self._fanout: Fanout[EncodedEvent] = Fanout(
            [_made(each, first) for each in settings.destinations], troubles=troubles
        )
        self._topics = {
            each.name: each.cluster or first.settings.name
            for each in settings.destinations
            if isinstance(each, EventTopic) and not each.bootstrap_servers
        }
        self._client_events = ClientEvents(relay.connections, self._of_client, settings.interval, troubles)
        relay.on_end(self._client_events.ended)
        for cluster in clusters:
            self.follow(cluster)

    @property
    def queues(self) -> Mapping[str, Queue]:
        """The counters of each destination, by its name."""
        return {destination.name: destination.counters for destination in self._fanout.destinations}

    def follow(self, cluster: Cluster) -> None:
        """Collect the events of a virtual cluster, too."""
        cluster.events.publish = self._of_cluster

    async def run(self) -> None:
        """Deliver until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervised, self._troubles, Where.DELIVERY, self._fanout.run)
            nursery.start_soon(self._client_events.run)

    async def flush(self, limit: float) -> None:
        """Wait until everything has been delivered or dropped, `limit` seconds at most."""
        await self._fanout.flush(limit)

    def _of_client(self, cluster: str, event: ClientEvent) -> None:
        self._offer(event, time.time(), cluster)

    def _of_cluster(self, cluster: str, at: float, event: TopologyEvent | Report) -> None:
        self._offer(event, at, cluster)
        if isinstance(event, ClientsRebootstrap) and event.previous_upstream is not None:
            self._moved(cluster)

    def _offer(self, event: Event, at: float, cluster: str) -> None:
        self._fanout.offer(encode(event, at, self._proxy, cluster, next(self._numbers)))

    def _moved(self, cluster: str) -> None:
        """Restart destinations with topics at this virtual cluster: its backend is another cluster now."""
        for destination in self._fanout.destinations:
            if self._topics.get(destination.name) == cluster:
                self._fanout.again(destination)


def _made(settings: EventFiles | EventTopic, cluster: Cluster) -> Destination[EncodedEvent]:
    """Return the destination; `cluster` knows its siblings, and so where a topic is."""
    if isinstance(settings, EventFiles):
        return delivering.files(Files[EncodedEvent], settings, settings.prefix, lines, settings.max_events)
    return delivering.topic(Kafka[EncodedEvent], settings, cluster.connected, record, settings.max_events)


def lines(event: EncodedEvent) -> Iterator[bytes]:
    """Yield one line for each event."""
    yield event.payload + b"\n"


def record(event: EncodedEvent) -> Record:
    """Return one record for each event, at the event's own time."""
    return Record(event.key, event.payload, event.at_ms, (_JSON, ("event", event.name.encode())))
