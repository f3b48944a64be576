"""The connections of the fleet, and the events in which kproxy tells of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from kproxy.demo.fleet.curves import DAY, done
from kproxy.demo.fleet.model import PROXIES, Client, Connection, Fleet, Instance, Role, principal
from kproxy.observe.events import ClientConnected, ClientDisconnected, ClientPresent, Event, iso

_INTRODUCED: Final = 1.5
"""Seconds until kproxy tells of a new connection."""
_LOST: Final = 75.0
"""Seconds until kproxy's keepalive finds that a machine is gone."""
_RESETS: Final = 0.15
"""Connections that a network breaks, by connection and day."""


class Timed(NamedTuple):
    """An event, when it happened in seconds of the day, and which kproxy wrote it."""

    at: float
    proxy: str
    event: Event


def every(fleet: Fleet) -> list[Connection]:
    """Return the connections of all clients, numbered by each proxy in the order in which they came."""
    made = [one for client in fleet.clients for one in _of_client(fleet, client)]
    made.sort(key=lambda one: (one.since, one.address, one.port))
    for proxy in PROXIES:
        for number, one in enumerate((each for each in made if each.proxy == proxy), 90_000):
            one.number = number
    return made


def _of_client(fleet: Fleet, client: Client) -> Iterator[Connection]:
    yield from client.extra
    if client.connects:
        for number, instance in enumerate(client.instances):
            yield from _of_instance(fleet, client, instance, fleet.rng("connections", client.id, number))


def _of_instance(fleet: Fleet, client: Client, instance: Instance, rng: random.Random) -> Iterator[Connection]:
    """One to each broker that it needs, again after each incident; one to its coordinator; one to bootstrap by."""
    ports = iter(rng.sample(range(32_768, 60_999), 60))
    for began in (instance.began, *(one.at + 1 for one in fleet.incidents if one.failover and instance.alive(one.at))):
        idle = began + rng.uniform(120, 540)
        if idle > 0:
            yield _connection(client, instance, next(ports), None, rng, began, min(idle, instance.until))
    for node in client.does.nodes:
        for since, ended, reason in _spans(fleet, instance, node, rng):
            yield _connection(client, instance, next(ports), node, rng, since, ended, reason)
    if client.group is not None:
        for since, ended, reason in _spans(fleet, instance, _coordinator(client), rng):
            yield _connection(client, instance, next(ports), _coordinator(client), rng, since, ended, reason, 0.4)


def _coordinator(client: Client) -> int:
    return sorted(client.does.nodes)[sum(map(ord, client.group or "")) % len(client.does.nodes)]


def _spans(
    fleet: Fleet, instance: Instance, node: int, rng: random.Random
) -> Iterator[tuple[float, float | None, str]]:
    """Yield from when until when, and why it ended, for the connections to a broker in turn."""
    cuts = [(one.at + rng.uniform(0, 20), one.reason, one.seconds) for one in fleet.incidents if node in one.nodes]
    if rng.random() < _RESETS:
        cuts.append((rng.uniform(0, DAY), "client_reset", 1.0))
    inside = sorted(cut for cut in cuts if instance.began < cut[0] and cut[0] + cut[2] < instance.until - 5)
    begins = [instance.began + rng.uniform(0.1, 3), *(at + rng.uniform(0.1, seconds) for at, _, seconds in inside)]
    ends: list[tuple[float | None, str]] = [(at, reason) for at, reason, _ in inside]
    for since, (ended, reason) in zip(begins, [*ends, _end(instance)], strict=True):
        yield since, ended, reason


def _end(instance: Instance) -> tuple[float | None, str]:
    if instance.ended is None:
        return None, ""
    return (instance.ended + _LOST, "client_reset") if instance.machine_lost else (instance.ended, "client_closed")


def _connection(
    client: Client,
    instance: Instance,
    port: int,
    node: int | None,
    rng: random.Random,
    since: float,
    ended: float | None,
    reason: str = "client_closed",
    heartbeats: float | None = None,
) -> Connection:
    does = client.does
    part = does.rate / max(len(client.instances), 1) * does.nodes.get(node or 0, 0.0)
    requests = max(part / 25, 0.4) if heartbeats is None else heartbeats
    payload = (part * does.record_bytes / requests if node is not None and heartbeats is None else 0.0) + 90.0
    into, out = (payload, 70.0) if client.role is Role.PRODUCER else (110.0, payload)
    return Connection(
        *(client.id, instance.software, instance.address, port, node, rng.choice(PROXIES), since, ended, reason),
        detail="no answer to keepalive" if instance.machine_lost and reason == "client_reset" else None,
        of=instance,
        requests=requests,
        bytes_in=into,
        bytes_out=out,
    )


def events(connection: Connection, epoch: float, failovers: Iterable[float], interval: float) -> Iterator[Timed]:
    """Yield what kproxy tells of a connection on the day, in order.

    `epoch` is the day's begin in Unix seconds; every `interval` seconds kproxy says what is there.
    """
    upstream = "standby" if any(connection.since > at for at in failovers) else "main"
    about = (
        connection.number,
        iso(epoch + connection.since),
        connection.address,
        connection.port,
        connection.node,
        f"broker-{connection.node or 1}.{upstream}:9092",
        connection.client_id,
        connection.software.name,
        connection.software.version,
        principal(connection.client_id),
        connection.software.metadata_version,
        connection.software.rebootstrap,
        None if connection.node is None else connection.software.names_its_cluster,
    )
    until = DAY if connection.ended is None else min(connection.ended, DAY)
    introduced = min(connection.since + _INTRODUCED, until)
    if introduced >= 0:
        yield Timed(introduced, connection.proxy, ClientConnected(*about))
    look = (PROXIES.index(connection.proxy) + 1) * interval / (len(PROXIES) + 1)
    while look < until:
        if look > introduced:
            yield Timed(look, connection.proxy, ClientPresent(*about, *_passed(connection, look)))
        look += interval
    if connection.ended is not None and 0 <= connection.ended < DAY:
        lived = round(connection.ended - connection.since, 3)
        end = (connection.reason, connection.detail, lived)
        yield Timed(until, connection.proxy, ClientDisconnected(*about, *_passed(connection, until), *end))


def _passed(connection: Connection, time: float) -> tuple[int, int, int, int]:
    """Requests, responses, bytes in and out until then."""
    requests = 3 + int(done(connection.since, time) * connection.requests)
    return requests, requests, int(requests * connection.bytes_in), int(requests * connection.bytes_out)
