"""A day of the fleet: who is there, what happens to it, and what kproxy would write of that, in order of time."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Final
from uuid import UUID

from kproxy.demo.fleet import connections, groups, healthy, troubles
from kproxy.demo.fleet.connections import Timed
from kproxy.demo.fleet.curves import HOUR
from kproxy.demo.fleet.model import PROXIES, Connection, Fleet, Mistake, principal
from kproxy.demo.fleet.pushes import Pusher
from kproxy.demo.fleet.troubles import Planted
from kproxy.observe.events import ClientsRebootstrap, ErrorAnswered, TopologyChanged, iso
from kproxy.telemetry.payload import Push
from kproxy.wire.generated.error_codes import ErrorCode

INTERVAL: Final = 600.0
"""Seconds between two pushes of an instance."""
LOOKS: Final = 900.0
"""Seconds between two inventories of kproxy (`events.interval`): as long as rules take what was there for present."""
_REPORTED: Final = 600.0
"""Seconds of errors alike of which one is written, and the others are counted."""


@dataclass(frozen=True, slots=True)
class Day:
    """What kproxy writes on a day, and the troubles that are planted in it."""

    fleet: Fleet
    planted: tuple[Planted, ...]
    connections: tuple[Connection, ...]
    epoch: float
    """Its begin in Unix seconds."""
    interval: float
    """Seconds between two pushes of an instance: the interval of the subscription."""
    looks: float
    """Seconds between two inventories of kproxy: its `events.interval`."""

    def pushes(self) -> Iterator[tuple[str, Push]]:
        """Yield the pushes of all instances, each with the kproxy that got it."""
        of: defaultdict[UUID, list[Connection]] = defaultdict(list)
        for one in self.connections:
            if one.of is not None:
                of[one.of.id].append(one)
        every = [
            Pusher(self.fleet, client, instance, of[instance.id], group, self.epoch, self.interval).pushes()
            for client in self.fleet.clients
            for group in [self.fleet.groups.get(client.group or "")]
            for instance in client.instances
        ]
        ports = {(one.address, one.port): one.proxy for one in self.connections}
        for push in merge(*every, key=lambda push: push.received_at):
            yield ports[push.info.source_address, push.info.source_port], push

    def events(self) -> Iterator[Timed]:
        """Yield all events in order."""
        failovers = [one.at for one in self.fleet.incidents if one.failover]
        every = [connections.events(one, self.epoch, failovers, self.looks) for one in self.connections]
        every += [groups.events(group) for group in self.fleet.groups.values()]
        every += [self._errors(mistake) for mistake in self.fleet.mistakes]
        every.append(self._topology())
        every.append(iter(sorted((Timed(*each) for each in self.fleet.refused), key=lambda timed: timed.at)))
        return merge(*every, key=lambda timed: timed.at)

    def _errors(self, mistake: Mistake) -> Iterator[Timed]:
        code, client = ErrorCode[mistake.error], mistake.client
        theirs = [one for one in self.connections if one.client_id == client.id and one.software == mistake.software]
        each = max(_REPORTED, HOUR / mistake.an_hour)
        at = mistake.began
        while at < mistake.ended:
            there = [one for one in theirs if one.since < at and (one.ended is None or one.ended > at) and one.node]
            if there:
                one = there[int(at) % len(there)]
                event = ErrorAnswered(
                    connection=one.number,
                    since=iso(self.epoch + one.since),
                    address=one.address,
                    client_id=client.id,
                    software_name=one.software.name,
                    software_version=one.software.version,
                    principal=principal(client.id),
                    api=mistake.api,
                    api_version=mistake.api_version,
                    error_code=int(code),
                    error=code.name,
                    error_class=code.error_class.value,
                    topic=mistake.topic,
                    group=None,
                    left_out=round(mistake.an_hour * each / HOUR) - 1,
                )
                yield Timed(at, one.proxy, event)
            at += each

    def _topology(self) -> Iterator[Timed]:
        """A failover, as each kproxy tells of it."""
        ids = ("mFZ1-primary-AAAAAAAAAA", "k9Qw-standby-AAAAAAAAAA")
        for incident in self.fleet.incidents:
            if incident.failover:
                for late, proxy in enumerate(PROXIES):
                    held = sum(one.proxy == proxy and one.since < incident.at for one in self.connections)
                    at = incident.at + 0.4 * late
                    yield Timed(at, proxy, TopologyChanged(ids[1], (), (), incident.nodes))
                    told = ClientsRebootstrap("failover", 2, held, "standby", "main", ids[1], ids[0])
                    yield Timed(at + 0.1, proxy, told)


def day(seed: int, cluster: str, epoch: float, clients: int, interval: float = INTERVAL, looks: float = LOOKS) -> Day:
    """Make a day; the same arguments make the same one. `epoch` is its begin in Unix seconds."""
    fleet = Fleet(seed, cluster, healthy.names(clients, random.Random(seed).shuffle))
    fleet.incidents = healthy.incidents(fleet)
    planted = [plant(fleet) for plant in (*troubles.OF_BROKERS, *troubles.OF_CLIENTS)]
    for add in healthy.LOOKS_ILL:
        add(fleet)
    while len(fleet.clients) < clients:
        healthy.ordinary(fleet)
    healthy.small_clock_errors(fleet)
    for group in fleet.groups.values():
        group.rebalances = groups.in_turn([*group.rebalances, *groups.usual(fleet, group)])
    return Day(fleet, tuple(planted), tuple(connections.every(fleet)), epoch, interval, looks)
