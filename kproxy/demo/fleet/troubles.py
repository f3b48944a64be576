"""The troubles that are planted in the fleet, each with the rules that must find it and its subject."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from kproxy.demo.fleet.curves import DAY, HOUR, Curve, ramp
from kproxy.demo.fleet.groups import rebalance
from kproxy.demo.fleet.model import PROXIES, Fleet, Mistake, Rebalance, Role
from kproxy.demo.fleet.software import FRANZ_GO, JAVA, LIBRDKAFKA, SARAMA, java, librdkafka
from kproxy.observe.events import AdmissionRefused


@dataclass(frozen=True, slots=True)
class Planted:
    """A trouble of the day."""

    what: str
    expected: tuple[tuple[str, str], ...]
    """Rule and subject of each finding that there must be."""


Plant = Callable[[Fleet], Planted]


def slow_broker(fleet: Fleet) -> Planted:
    """All day, from the failover on."""
    slow = 8 * fleet.rng("slow broker").uniform(4, 6)
    begin = fleet.incidents[0].at / HOUR
    fleet.latency[2] = ramp(8.0, slow, begin, begin + 0.1)
    return Planted(f"broker 2 takes {slow:.0f} ms where the others take 8", (("broker-slow", "2"),))


def rising_broker(fleet: Fleet) -> Planted:
    """In the evening, by more than what the load explains."""
    begin, high = fleet.rng("rising broker").uniform(15.5, 16.5), 8 * fleet.rng("rising broker").uniform(7, 9)
    fleet.latency[3] = ramp(8.0, high, begin, begin + 1.5)
    return Planted(f"broker 3 gets slower from {_clock(begin)} on", (("broker-latency-rising", "3"),))


def leaders_on_one_broker(fleet: Fleet) -> Planted:
    """Of most partitions."""
    fleet.shares = {1: 0.7, 2: 0.15, 3: 0.15}
    return Planted("broker 1 leads most partitions", (("broker-traffic-skew", "1"),))


def slow_requests(fleet: Fleet) -> Planted:
    """Of one client to all brokers."""
    begin = fleet.rng("slow requests").uniform(12, 15)
    client = fleet.client(Role.PRODUCER, JAVA, 2, slowness=ramp(1.0, 8.0, begin, begin + 2))
    return Planted(f"requests of {client.id} take ever longer", (("producer-latency-rising", client.id),))


def retries(fleet: Fleet) -> Planted:
    """As after a network that loses packets."""
    share = fleet.rng("retries").uniform(0.05, 0.1)
    client = fleet.client(Role.PRODUCER, java("4.2.0"), 2, retried=ramp(0.0005, share, 13, 14), rate=150.0)
    return Planted(f"{client.id} sends {share:.0%} of its records again", (("producer-retries-rising", client.id),))


def lost_records(fleet: Fleet) -> Planted:
    """Too large for their topic, say."""
    share = fleet.rng("lost records").uniform(0.008, 0.02)
    client = fleet.client(Role.PRODUCER, JAVA, 1, failed=ramp(0.0, share, 14, 14.1), rate=150.0)
    return Planted(f"{client.id} loses {share:.1%} of its records", (("producer-errors-rising", client.id),))


def growing_lag(fleet: Fleet) -> Planted:
    """Of one member, which has the hot partition."""
    client = fleet.client(Role.CONSUMER, JAVA, 3, rate=300.0)
    most = fleet.rng("growing lag").uniform(100_000, 400_000)
    client.instances[1].behind = _grows(200.0, most)
    return Planted(f"a member of {client.id} falls behind", (("consumer-lag-growing", client.id),))


def _grows(begin: float, most: float) -> Curve:
    return lambda hour: begin + most * max(hour - 6, 0.0) / 18


def rare_polls(fleet: Fleet) -> Planted:
    """A member does too much with what it polled."""
    seconds = fleet.rng("rare polls").uniform(240, 280)
    client = fleet.client(Role.CONSUMER, java("4.1.2"), 2, poll=ramp(30.0, seconds, 10, 12))
    return Planted(f"{client.id} polls once in {seconds:.0f} s", (("consumer-poll-near-limit", client.id),))


def saturated(fleet: Fleet) -> Planted:
    """Each record takes longer."""
    client = fleet.client(Role.CONSUMER, LIBRDKAFKA, 2, idle=ramp(0.8, 0.04, 12, 15))
    return Planted(f"{client.id} waits no more for records", (("consumer-saturated", client.id),))


def restless_group(fleet: Fleet) -> Planted:
    """All day long, by its members' count and by kproxy's."""
    client = fleet.client(Role.CONSUMER, java("4.2.0"), 4)
    rng, group = fleet.rng("restless group"), fleet.groups[str(client.group)]
    for number in range(24 * 12):
        at = (number + rng.uniform(0.1, 0.7)) * DAY / 288
        group.rebalances.append(rebalance(group, rng, at, "session_timeout", client.id))
    found = (("rebalance-storm", group.id), ("consumer-rebalances-often", client.id))
    return Planted(f"group {group.id} rebalances every few minutes", found)


def storm(fleet: Fleet) -> Planted:
    """An hour long."""
    client = fleet.client(Role.CONSUMER, FRANZ_GO, 3)
    rng, group = fleet.rng("storm"), fleet.groups[str(client.group)]
    hour = rng.randrange(9, 20)
    for number in range(40):
        at = hour * HOUR + 60 + 85 * number
        group.rebalances.append(rebalance(group, rng, at, rng.choice(("member_left", "member_joined")), client.id))
    return Planted(f"group {group.id} rebalances 40 times in an hour", (("rebalance-storm", group.id),))


def late_member(fleet: Fleet) -> Planted:
    """The others wait for one client at each rebalance."""
    client = fleet.client(Role.CONSUMER, java("4.2.0"), 3)
    rng, group = fleet.rng("late member"), fleet.groups[str(client.group)]
    late = fleet.client(Role.CONSUMER, SARAMA, 1, group=group)
    for number in range(7):
        at = (2 + 3 * number + rng.random()) * HOUR
        group.rebalances.append(Rebalance(at, rng.uniform(30, 55), "metadata_changed", client.id, 4, late.id))
    return Planted(f"group {group.id} waits for {late.id}", (("rebalance-waits-for-member", group.id),))


def old_versions(fleet: Fleet) -> Planted:
    """With a known trouble; some of them do not come back by themselves, either."""
    wrong_topic = java("4.1.1")
    fleet.client(Role.PRODUCER, wrong_topic, 2)
    fleet.client(Role.CONSUMER, wrong_topic, 1)
    aborts = librdkafka("2.5.0", "python")
    client = fleet.client(Role.CONSUMER, aborts, 1)
    known = tuple(("version-known-trouble", f"{one.name} {one.version}") for one in (wrong_topic, aborts))
    return Planted("versions with known troubles", (*known, ("client-cannot-rebootstrap", client.id)))


def cannot_rebootstrap(fleet: Fleet) -> Planted:
    """Of no version with a known trouble."""
    old = [fleet.client(role, librdkafka(version), 1) for role, version in _OLD]
    return Planted(
        "clients that a replacement of all brokers would strand",
        tuple(("client-cannot-rebootstrap", one.id) for one in old),
    )


_OLD: Final = ((Role.PRODUCER, "2.8.0"), (Role.CONSUMER, "2.9.1"), (Role.CONSUMER, "2.8.0"))


def bad_upgrade(fleet: Fleet) -> Planted:
    """A deploy with a newer library, whose records are refused."""
    old, new = java("4.1.2"), JAVA
    client = fleet.client(Role.PRODUCER, old, 2, rate=120.0)
    at = fleet.rng("bad upgrade").uniform(10, 14) * HOUR
    fleet.redeploy(client, at, new)
    fleet.mistakes.append(Mistake(client, new, "Produce", 12, "INVALID_RECORD", "orders", at + 60, DAY, 90.0))
    return Planted(
        f"{client.id} gets errors since its upgrade to {new.version}", (("errors-after-version-change", client.id),)
    )


def churn(fleet: Fleet) -> Planted:
    """A client is made for each job."""
    client = fleet.client(Role.PRODUCER, SARAMA, 1)
    client.connects = False
    rng = fleet.rng("churn")
    fleet.jobs(client, [rng.uniform(0, 24) * HOUR for _ in range(24 * rng.randrange(50, 80))], 2.0)
    return Planted(f"{client.id} connects anew for each job", (("connection-churn", client.id),))


def leak(fleet: Fleet) -> Planted:
    """Clients are made and not closed."""
    client = fleet.client(Role.PRODUCER, FRANZ_GO, 1)
    every = fleet.rng("leak").uniform(12, 20) * 60
    restart = fleet.incidents[1]
    for number in range(int((DAY - 5 * HOUR) / every)):
        since, node = 5 * HOUR + every * number, number % 3 + 1
        cut = restart.at if node in restart.nodes and since < restart.at else None
        client.extra.append(fleet.extra(client, since, cut, node, restart.reason))
    return Planted(f"{client.id} opens connections and closes none", (("connection-leak", client.id),))


def cut_off(fleet: Fleet) -> Planted:
    """It stands still while it sends."""
    client = fleet.client(Role.PRODUCER, SARAMA, 1)
    client.connects = False
    rng = fleet.rng("cut off")
    for number in range(16):
        since = (1.4 * number + rng.random()) * HOUR
        stalled = {"detail": "a frame of 1048576 bytes stopped after 131072"}
        ended = since + rng.uniform(900, 2400)
        client.extra.append(fleet.extra(client, since, ended, number % 3 + 1, "stalled_frame", **stalled))
    return Planted(f"requests of {client.id} stop halfway", (("connections-cut-off", client.id),))


def short_of_memory(fleet: Fleet) -> Planted:
    """One replica has too little of it for the evening."""
    at = fleet.rng("memory").uniform(19, 21) * HOUR
    client = fleet.client(Role.CONSUMER, java("4.2.0"), 1)
    for number in range(8):
        one = fleet.extra(client, at - 1800 - 60 * number, at + 20 * number, number % 3 + 1, "memory_limit")
        client.extra.append(replace(one, proxy=PROXIES[1], detail="512 MiB held for slow peers"))
    return Planted(f"{PROXIES[1]} runs out of memory", (("proxy-short-of-resources", PROXIES[1]),))


def not_admitted(fleet: Fleet) -> Planted:
    """Somebody has forgotten that there is TLS, and tries all day."""
    address, rng = fleet.address(), fleet.rng("not admitted")
    for number in range(24):
        _refuse(fleet, (number + rng.random()) * HOUR, rng.choice(PROXIES), address, "plaintext_on_tls")
    return Planted(f"{address} speaks plaintext to a port that has TLS", (("clients-not-admitted", address),))


def turned_away(fleet: Fleet) -> Planted:
    """After the failover all come at once, and one replica has no room for them."""
    at, proxy = fleet.incidents[0].at, PROXIES[0]
    detail = "there are 600 connections, the most (limits.max_connections)"
    for number in range(20):
        left_out = 0 if number % 9 else 3
        _refuse(fleet, at + 2 + number / 9, proxy, fleet.address(), "client_limit", detail, left_out)
    return Planted(f"{proxy} has no room for all clients after the failover", (("clients-turned-away", proxy),))


def _refuse(
    fleet: Fleet, at: float, proxy: str, address: str, reason: str, detail: str | None = None, left_out: int = 0
) -> None:
    fleet.refused.append((at, proxy, AdmissionRefused(address, None, None, reason, detail, left_out)))


def telemetry_stopped(fleet: Fleet) -> Planted:
    """Of one instance, which goes on otherwise."""
    client = fleet.client(Role.PRODUCER, java("4.2.0"), 2)
    client.instances[1].silent_from = fleet.rng("silent").uniform(8, 16) * HOUR
    return Planted(f"an instance of {client.id} pushes no more", (("instance-stopped-pushing", client.id),))


def machine_lost(fleet: Fleet) -> Planted:
    """And nothing comes in its place."""
    client = fleet.client(Role.CONSUMER, LIBRDKAFKA, 4)
    lost = client.instances[2]
    lost.ended, lost.machine_lost = fleet.rng("machine").uniform(9, 18) * HOUR, True
    return Planted(f"a machine of {client.id} is lost", (("instance-stopped-pushing", client.id),))


def wrong_clock(fleet: Fleet) -> Planted:
    """On one of its machines."""
    client = fleet.client(Role.PRODUCER, java("4.2.0"), 3)
    client.instances[1].clock = fleet.rng("clock").choice((-1, 1)) * fleet.rng("clock").uniform(200, 900)
    return Planted(f"a clock of {client.id} is wrong", (("clock-wrong", client.id),))


def _clock(hour: float) -> str:
    return f"{int(hour):02}:{int(hour * 60 % 60):02}"


OF_BROKERS: Final[tuple[Plant, ...]] = (slow_broker, rising_broker, leaders_on_one_broker)
"""These come before there are clients."""
OF_CLIENTS: Final[tuple[Plant, ...]] = (
    slow_requests,
    retries,
    lost_records,
    growing_lag,
    rare_polls,
    saturated,
    restless_group,
    storm,
    late_member,
    old_versions,
    cannot_rebootstrap,
    bad_upgrade,
    churn,
    leak,
    cut_off,
    short_of_memory,
    not_admitted,
    turned_away,
    telemetry_stopped,
    machine_lost,
    wrong_clock,
)
