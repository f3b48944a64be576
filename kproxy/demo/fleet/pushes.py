"""What the instances of the fleet push, in order of time: their metrics follow from what their client does."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kproxy.demo.fleet.curves import DAY, HOUR, busy
from kproxy.demo.fleet.metrics import Lately, readings
from kproxy.demo.fleet.model import Client, Connection, Fleet, Group, Instance, Role, principal
from kproxy.demo.fleet.otlp import Encoder
from kproxy.demo.fleet.software import Dialect
from kproxy.telemetry.payload import Push
from kproxy.telemetry.subscription import ClientInfo

_ON_ITS_WAY: Final = 0.02
"""Seconds from a client's clock to kproxy's."""
_PARTITIONS: Final = 12
"""Of a topic."""
_LONG_POLL: Final = 0.5
"""Seconds that a fetch waits at most for records: fetch.max.wait.ms."""


@dataclass(slots=True)
class Pusher:
    """Makes the pushes of an instance."""

    fleet: Fleet
    client: Client
    instance: Instance
    connections: Sequence[Connection]
    """Its own, in the order in which they began."""
    group: Group | None
    epoch: float
    """The day's begin in Unix seconds."""
    interval: float

    def pushes(self) -> Iterator[Push]:
        """Yield the pushes of the day in order; none for software that does not push."""
        dialect = self.instance.software.dialect
        if dialect is None:
            return
        rng = self.fleet.rng("pushes", self.instance.id)
        encoder = Encoder(dialect, _scope(self.instance), self._attributes(rng))
        last = max(self.instance.began, -self.interval)
        for time, terminating in self._times(rng, last):
            done = readings(dialect, self.client.role, self._lately(rng, last, time))
            start, now = (int((self.epoch + self.instance.clock + each) * 1e9) for each in (last, time))
            payload = encoder.encode(done, start, now)
            received = self.epoch + time + rng.uniform(0.2, 2) * _ON_ITS_WAY
            yield Push(self._info(time), received, payload, terminating=terminating)
            last = time

    def _times(self, rng: random.Random, begin: float) -> Iterator[tuple[float, bool]]:
        """Yield when it pushes, and whether for the last time."""
        first = rng.uniform(0.5, 1.5) * self.interval
        time = begin + first if self.instance.began >= 0 else rng.uniform(0, self.interval)
        silent = min(self.instance.until, self.instance.silent_from or DAY)
        while time < silent:
            yield time, False
            time += self.interval + rng.uniform(0, 0.2)
        if self.instance.ended is not None and self._says_so():
            yield self.instance.ended - 0.3, True

    def _says_so(self) -> bool:
        """A Java producer pushes no last time when it has nothing left to send."""
        instance = self.instance
        quiet = instance.software.dialect is Dialect.JAVA and self.client.role is Role.PRODUCER
        return instance.closes and not instance.machine_lost and instance.silent_from is None and not quiet

    def _info(self, time: float) -> ClientInfo:
        """By way of the first of its connections to brokers that is there."""
        there = (one for one in self.connections if one.node is not None and one.since <= time)
        port = next((one.port for one in there if one.ended is None or one.ended >= time), self.connections[-1].port)
        it, client_id = self.instance, self.client.id
        software = (it.software.name, it.software.version)
        return ClientInfo(it.id, client_id, *software, it.address, port, principal(client_id))

    def _attributes(self, rng: random.Random) -> Mapping[str, str]:
        rack = {"client_rack": f"zone-{'abc'[rng.randrange(3)]}"}
        return rack if self.group is None else {**rack, "group_id": self.group.id}

    def _lately(self, rng: random.Random, last: float, time: float) -> Lately:
        does, hour, load, seconds = self.client.does, time / HOUR, busy(time / HOUR), time - last
        rate = does.rate / max(self.client.alive(time), 1) * load
        records = _whole(rng, rate * seconds * rng.uniform(0.9, 1.1))
        shaken = [
            one for one in self.fleet.incidents if last < one.at <= time and not does.nodes.keys().isdisjoint(one.nodes)
        ]
        again = sum(rate * one.seconds * rng.uniform(2, 8) * _part(does.nodes, one.nodes) for one in shaken)
        rebalances = self._rebalances(last, time)
        unsettled = rng.uniform(2, 8) if shaken or rebalances else 1.0
        latency = {node: self._latency(rng, node, time) for node in does.nodes}
        if shaken:
            latency = {node: value * rng.uniform(1, 3) for node, value in latency.items()}
        lag = self.instance.behind(hour) if self.instance.behind else does.lag(hour) * rate * unsettled
        return Lately(
            seconds=seconds,
            latency=latency,
            by_second={node: max(rate * share / 25, 0.05) for node, share in does.nodes.items()},
            connects=sum(last < one.since <= time for one in self.connections),
            records=records,
            record_bytes=does.record_bytes,
            retried=_whole(rng, records * does.retried(hour) + again),
            failed=_whole(rng, records * does.failed(hour)),
            queued=rng.uniform(2, 6),
            lag=lag * rng.lognormvariate(0, 0.3),
            idle=min(max(does.idle(hour) * (1 - 0.4 * load) * rng.uniform(0.93, 1.07), 0.004), 0.99),
            poll=does.poll(hour) * rng.lognormvariate(0, 0.15),
            rebalances=len(rebalances),
            rebalance_seconds=sum(rebalances),
            partitions=_PARTITIONS // max(self.client.alive(time), 1),
            coordinator=min(does.nodes),
        )

    def _latency(self, rng: random.Random, node: int, time: float) -> float:
        """Milliseconds that a request takes; a fetch waits for records, too."""
        hour, load, does = time / HOUR, busy(time / HOUR), self.client.does
        broker = self.fleet.latency[node](hour) * (1 + 0.5 * load) * does.slowness(hour)
        wait = 1000 * _LONG_POLL * (1 - load) * 0.5 if self.client.role is Role.CONSUMER else 0.0
        return (broker + does.distance) * rng.lognormvariate(0, 0.1) + wait

    def _rebalances(self, last: float, time: float) -> list[float]:
        """How long each rebalance took that it was part of."""
        if self.group is None:
            return []
        every = self.group.rebalances
        first, end = (bisect_right(every, each, key=lambda one: one.at + one.seconds) for each in (last, time))
        return [one.seconds for one in every[first:end]]


def _scope(instance: Instance) -> tuple[str, str] | None:
    if instance.software.dialect is Dialect.JAVA:
        return None
    return instance.software.name or "", instance.software.version or ""


def _whole(rng: random.Random, value: float) -> int:
    """A whole number that is in the mean the value."""
    return int(value + rng.random())


def _part(nodes: Mapping[int, float], of: Sequence[int]) -> float:
    return sum(share for node, share in nodes.items() if node in of)
