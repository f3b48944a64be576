"""The healthy part of the fleet: what it usually does, and what looks like a trouble and is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kproxy.demo.fleet.curves import DAY, HOUR, Curve, flat
from kproxy.demo.fleet.model import BROKERS, Client, Fleet, Incident, Mistake, Role
from kproxy.demo.fleet.software import HEALTHY, JAVA, LIBRDKAFKA, SARAMA, java

_SERVICES: Final = (
    *("orders", "payments", "checkout", "inventory", "shipping", "catalog", "search", "pricing", "billing", "fraud"),
    *("profiles", "sessions", "clicks", "mail", "reviews", "loyalty", "returns", "warehouse", "ads", "reports"),
    *("ledger", "coupons", "tracking", "support", "suppliers", "images", "audit", "taxes", "alerts", "geo"),
)
_JOBS: Final = ("api", "worker", "sink", "etl", "sync", "cache", "export", "events", "index", "stats")
_INSTANCES: Final = {1: 70, 2: 20, 3: 6, 4: 3, 6: 1}
"""How many instances a client has, and how frequently."""


def names(fleet_size: int, seed_order: Callable[[list[str]], None]) -> list[str]:
    """Return as many different names as there are clients, in an order of the caller's."""
    every = [f"{service}-{job}" for job in _JOBS for service in _SERVICES]
    every += [f"{name}-{number}" for number in range(2, 2 + fleet_size // len(every)) for name in every]
    seed_order(every)
    return every[:fleet_size]


def incidents(fleet: Fleet) -> list[Incident]:
    """A failover to another cluster in the night, and a broker's restart in the evening: all reconnect, and retry."""
    rng = fleet.rng("incidents")
    failover = Incident(rng.uniform(2, 4) * HOUR, rng.uniform(20, 60), BROKERS, "rebootstrap", failover=True)
    return [failover, Incident(rng.uniform(19.5, 21.5) * HOUR, rng.uniform(15, 40), (1,), "broker_closed")]


def deploys(fleet: Fleet) -> None:
    """All instances at once; once with a new version, which is no worse."""
    rng = fleet.rng("deploys")
    for number in range(5):
        role = rng.choice(list(Role))
        client = fleet.client(role, java("4.2.0") if number else java("4.1.2"), rng.randrange(2, 5), rate=100.0)
        at = rng.uniform(9, 17) * HOUR
        fleet.redeploy(client, at, None if number else JAVA)


def scaled_for_the_evening(fleet: Fleet) -> None:
    """Instances come for the peak, and go; a Java producer says nothing when it goes."""
    for software, role in ((java("4.2.0"), Role.PRODUCER), (LIBRDKAFKA, Role.CONSUMER)):
        client = fleet.client(role, software, 3, rate=200.0)
        rng = fleet.rng("scaled", client.id)
        for _ in range(3):
            made = fleet.instance(client, rng.uniform(16.5, 18) * HOUR)
            made.ended = rng.uniform(21.5, 22.5) * HOUR


def replaced(fleet: Fleet) -> None:
    """An instance is killed, and another one takes its place."""
    client = fleet.client(Role.CONSUMER, java("4.2.0"), 3)
    killed, at = client.instances[1], fleet.rng("replaced").uniform(8, 20) * HOUR
    killed.ended, killed.closes = at, False
    fleet.instance(client, at + 40)


def newcomer(fleet: Fleet) -> None:
    """It begins an hour before midnight, slow and with retries while it warms up: too few data points for a trend."""
    client = fleet.client(Role.PRODUCER, JAVA, 1, slowness=flat(6.0), retried=flat(0.05))
    client.instances[0].began = DAY - fleet.rng("newcomer").uniform(0.6, 1.0) * HOUR


def shut_down(fleet: Fleet) -> None:
    """For good, in the afternoon."""
    client = fleet.client(Role.CONSUMER, JAVA, 1)
    client.instances[0].ended = fleet.rng("shut down").uniform(13, 17) * HOUR


def slow_once(fleet: Fleet) -> None:
    """For a quarter of an hour, as in a long garbage collection."""
    client = fleet.client(Role.PRODUCER, JAVA, 1)
    begin = fleet.rng("slow once").uniform(18.5, 23)
    client.does.slowness = lambda hour: 25.0 if begin <= hour < begin + 0.25 else 1.0


def sawtooth(fleet: Fleet) -> None:
    """A consumer in batches: its lag grows to thousands of records and is gone, all day long."""
    client = fleet.client(Role.CONSUMER, java("4.2.0"), 1, rate=400.0, poll=flat(120.0))
    client.does.lag = lambda hour: 60 + 900 * ((hour * 1.7) % 1)


def large_in_the_evening(fleet: Fleet) -> None:
    """Much is read in the evening, so as much is under way; none of it waits for long."""
    for software in (JAVA, java("4.2.0")):
        fleet.client(Role.CONSUMER, software, 2, rate=12_000.0, record_bytes=300.0, lag=flat(0.4), idle=flat(0.7))


def catching_up(fleet: Fleet) -> None:
    """It begins the day with a backlog, which shrinks."""
    client = fleet.client(Role.CONSUMER, java("4.2.0"), 2, rate=200.0)
    client.instances[0].behind = _shrinks(80_000.0)


def _shrinks(most: float) -> Curve:
    return lambda hour: 50 + most * max(1 - hour / 20, 0.0)


def one_broker(fleet: Fleet) -> None:
    """Producers of small topics with one partition each, which one broker leads."""
    for node in BROKERS:
        for software in (java("4.2.0"), LIBRDKAFKA):
            fleet.client(Role.PRODUCER, software, 1, nodes={node: 1.0}, rate=8.0)


def cron(fleet: Fleet) -> None:
    """A job each five minutes: short connections, but few."""
    client = fleet.client(Role.PRODUCER, SARAMA, 1)
    client.connects = False
    fleet.jobs(client, [number * 300.0 + 1 for number in range(288)], 3.0)


def rightly_refused(fleet: Fleet) -> None:
    """Somebody asks, all day, for a topic that he may not read; nothing changed."""
    client = fleet.client(Role.CONSUMER, java("4.1.2"), 1)
    topic = "payments-private"
    fleet.mistakes.append(
        Mistake(client, client.software, "Metadata", 12, "TOPIC_AUTHORIZATION_FAILED", topic, 0, DAY, 6.0)
    )


def small_clock_errors(fleet: Fleet) -> None:
    """Of seconds, on some machines."""
    for client in fleet.clients[::7]:
        for instance in client.instances:
            instance.clock = instance.clock or fleet.rng("clocks", instance.id).uniform(-4, 4)


LOOKS_ILL: Final[tuple[Callable[[Fleet], None], ...]] = (
    deploys,
    scaled_for_the_evening,
    replaced,
    newcomer,
    shut_down,
    slow_once,
    sawtooth,
    large_in_the_evening,
    catching_up,
    one_broker,
    cron,
    rightly_refused,
)
"""Each is what a simpler rule would take for a trouble."""


def ordinary(fleet: Fleet) -> Client:
    """Add a client that does what most do."""
    rng = fleet.rng("ordinary", len(fleet.clients))
    (software,) = rng.choices(list(HEALTHY), list(HEALTHY.values()))
    (instances,) = rng.choices(list(_INSTANCES), list(_INSTANCES.values()))
    return fleet.client(rng.choice(list(Role)), software, instances)
