"""How many series a client and an address may have, what they cost in memory, and when they are given back."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Callable
from typing import Final

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData

from kproxy.telemetry.payload import Losses
from kproxy.telemetry.quotas import Pusher
from kproxy.telemetry.receivers.accumulate import Accumulator
from kproxy.telemetry.receivers.labels import DEFAULT_LABELS
from kproxy.telemetry.receivers.series import Holding
from kproxy.telemetry.receivers.shares import Limits
from kproxy.telemetry.subscription import ClientInfo
from tests.unit.telemetry.receivers.pushes import CUMULATIVE, DELTA, client, gauge, histogram, metrics, summary, total

HALF: Final = Limits(clients=20, series=200, client_series=80)
"""One address may have 10 clients and 100 series."""


def at(address: str, number: int = 1) -> ClientInfo:
    """A client of an address."""
    return client(number)._replace(source_address=address)


def take(
    accumulator: Accumulator,
    data: MetricsData,
    info: ClientInfo,
    now: float = 0.0,
    pusher: Pusher | None = None,
    losses: Losses | None = None,
) -> int:
    """Add up one push; return in how many steps."""
    return len(list(accumulator.steps(info, data, now, pusher=pusher, losses=losses)))


def gauges(count: int, name: str = "g") -> MetricsData:
    """A push of this many series of one family."""
    return metrics(*[gauge(name, 1.0, topic=f"t{number}") for number in range(count)])


def holdings(accumulator: Accumulator) -> dict[str, Holding]:
    """What each address has."""
    return accumulator._registry.holdings


def test_one_address_does_not_fill_everything() -> None:
    """Row 4: fresh instances fill the share of their address, and a client elsewhere is exported as before."""
    accumulator = Accumulator(limits=HALF)
    for number in range(20):
        take(accumulator, gauges(60, f"g{number}"), at("10.0.0.1", number))
    assert (accumulator.tally.series, accumulator.tally.full) == (100, 0)
    assert accumulator.tally.address_share > 0
    losses = Losses()
    take(accumulator, gauges(60), at("10.0.0.2", 99), losses=losses)
    assert (accumulator.tally.series, losses.points) == (160, 0)


def test_a_client_that_is_left_out_can_be_told_from_others() -> None:
    """The points that are missing are counted for the client whose they are, with the reason."""
    accumulator = Accumulator(limits=HALF)
    take(accumulator, gauges(60), at("10.0.0.1", 1))
    late, excess, unseen = Losses(), Losses(), Losses()
    take(accumulator, gauges(60, "late"), at("10.0.0.1", 2), losses=late)
    take(accumulator, gauges(90, "excess"), at("10.0.0.2", 3), losses=excess)
    take(accumulator, gauges(5), at("10.0.0.1", 4), losses=unseen)
    assert (late.points, late.reason) == (20, "address_share")
    assert (excess.points, excess.reason) == (10, "client_share")
    assert (unseen.points, unseen.reason) == (1, "address_share")
    assert (accumulator.tally.address_share, accumulator.tally.client_share) == (21, 10)


def test_an_address_has_its_part_of_the_clients() -> None:
    """The eleventh client of an address is left out, however few series there are."""
    accumulator = Accumulator(limits=HALF)
    for number in range(12):
        take(accumulator, gauges(1), at("2001:db8::" + str(number), number))
    assert (accumulator.sources, accumulator.tally.address_share) == (10, 2)
    assert list(holdings(accumulator)) == ["2001:db8::/64"]


def test_clients_in_all_are_bounded() -> None:
    """By how many there are, whatever their addresses."""
    accumulator = Accumulator(limits=Limits(clients=3))
    for number in range(5):
        take(accumulator, gauges(1), at(f"10.0.0.{number}", number))
    assert (accumulator.sources, accumulator.tally.full) == (3, 2)


def test_a_fleet_behind_one_address() -> None:
    """2,000 honest clients of 100 series each, all at one address, lose nothing by the default limits."""
    accumulator = Accumulator()
    data = metrics(*[total(f"org.apache.kafka.producer.metric.{number}.total", 1.5) for number in range(100)])
    for number in range(2000):
        take(accumulator, data, at("127.0.0.1", number))
    assert (accumulator.tally.series, accumulator.tally.address_share) == (200_000, 0)
    assert holdings(accumulator)["127.0.0.1"].bytes < Limits().address_bytes


def test_memory_is_bounded_in_bytes_too() -> None:
    """Series with long attributes are fewer; one more value of a known series needs no room."""
    accumulator = Accumulator(limits=Limits(address_bytes=1 << 20))
    data = metrics(*[gauge("g", 1.0, text=str(number).ljust(2000, "x")) for number in range(1000)])
    take(accumulator, data, client())
    held = accumulator.tally.series
    assert 150 < held < 250
    assert (1 << 20) <= holdings(accumulator)["10.0.0.1"].bytes < (1 << 20) + 8000
    losses = Losses()
    take(accumulator, metrics(*list(data.resource_metrics[0].scope_metrics[0].metrics)[:held]), client(), losses=losses)
    assert losses.points == 0


def test_a_value_that_grows_needs_room() -> None:
    """A histogram that comes back with more buckets is left out where there is no room; its last value stays."""
    accumulator = Accumulator(limits=Limits(address_bytes=40_000))
    small = [histogram("h", [1.0], [1, 2], 1.5, k=str(number)) for number in range(10)]
    take(accumulator, metrics(*small), client())
    before = holdings(accumulator)["10.0.0.1"].bytes
    bounds = [float(number) for number in range(200)]
    large = [histogram("h", bounds, [1] * 201, 1.5, temporality=CUMULATIVE, k=str(number)) for number in range(10)]
    losses = Losses()
    take(accumulator, metrics(*large), client(), losses=losses)
    assert before < 40_000 < holdings(accumulator)["10.0.0.1"].bytes
    assert (losses.points, losses.reason) == (9, "address_share")


def crowd(accumulator: Accumulator, pusher: Pusher, now: float = 0.0) -> None:
    """Use more than half of what one address may have, in two clients."""
    take(accumulator, gauges(60), at("10.0.0.1", 1), now, pusher)
    take(accumulator, gauges(10, "h"), at("10.0.0.1", 2), now, Pusher())


def test_what_a_client_had_that_is_gone_is_given_back_within_a_minute() -> None:
    """Row 4: where its address is crowded. Before, after a quarter of an hour. Who is connected keeps all."""
    accumulator, pusher = Accumulator(limits=HALF), Pusher()
    crowd(accumulator, pusher)
    accumulator.expire(40.0)
    assert accumulator.tally.series == 70
    pusher.gone = True
    accumulator.expire(50.0)
    assert accumulator.tally.series == 10
    assert holdings(accumulator)["10.0.0.1"].series == 10


def test_a_client_that_is_gone_keeps_its_series_for_a_scrape() -> None:
    """For 30 s after its last push."""
    accumulator, pusher = Accumulator(limits=HALF), Pusher()
    crowd(accumulator, pusher, 100.0)
    pusher.gone = True
    accumulator.expire(130.0)
    assert accumulator.tally.series == 70
    accumulator.expire(136.0)
    assert accumulator.tally.series == 10


def test_where_there_is_room_series_outlive_their_connection() -> None:
    """A counter that a short-lived client pushed stays on the page until it expires."""
    accumulator, pusher = Accumulator(), Pusher()
    take(accumulator, gauges(60), client(), pusher=pusher)
    pusher.gone = True
    accumulator.expire(890.0)
    assert accumulator.tally.series == 60


def test_a_client_that_comes_back_by_another_connection_is_not_gone() -> None:
    """What counts is the connection of its last push."""
    accumulator, first = Accumulator(limits=HALF), Pusher()
    crowd(accumulator, first)
    first.gone = True
    take(accumulator, gauges(60), at("10.0.0.1", 1), 10.0, Pusher())
    accumulator.expire(60.0)
    assert accumulator.tally.series == 70


def test_forgetting_lets_others_have_their_turn() -> None:
    """20,000 series are removed in steps of 50."""
    accumulator = Accumulator()
    take(accumulator, gauges(5_000), client())
    assert len(list(accumulator.expiring(901.0))) == 99
    assert (accumulator.tally.series, accumulator.sources) == (0, 0)


def test_a_crowd_of_clients_is_looked_at_in_steps() -> None:
    """The sweep lets others have their turn while it looks at clients that stay."""
    accumulator = Accumulator(limits=Limits(clients=300))
    for number in range(120):
        take(accumulator, gauges(1), at("10.0.0.1", number), 0.0, Pusher())
    assert len(list(accumulator.expiring(50.0))) == 2


def spread(number: int, *, temporality: int = DELTA) -> Metric:
    """One point of a histogram with 21 buckets, whose numbers no other point has."""
    bounds = [number + each + 0.5 for each in range(20)]
    return histogram("h", bounds, [number + 999] * 21, 1.5, temporality=temporality, k=str(number))


def thirds(number: int) -> Metric:
    """One point of a summary with 30 quantiles."""
    return summary("s", 3, 1.5, {each / 31: number + each + 0.5 for each in range(30)}, k=str(number))


def many(number: int) -> Metric:
    """One point of 60 attributes."""
    return gauge("g", 1.5, **{f"a{each}": str(number) for each in range(60)})


SHAPES: Final[dict[str, Callable[[], list[MetricsData]]]] = {
    "a fleet": lambda: [metrics(*[total(f"m.{n}.total", n + 0.5) for n in range(30)])] * 200,
    "totals": lambda: [metrics(*[total(f"m.{n}", n + 0.5, temporality=CUMULATIVE) for n in range(30)])] * 200,
    "points": lambda: [gauges(3000)],
    "long attributes": lambda: [metrics(*[gauge("g", 1.5, a=str(n).ljust(1900, "x")) for n in range(500)])],
    "wide attributes": lambda: [metrics(*[gauge("g", 1.5, a=str(n).ljust(1900, "\U0001f600")) for n in range(300)])],
    "many attributes": lambda: [metrics(*[many(n) for n in range(300)])],
    "families": lambda: [metrics(*[gauge(f"g{n}q".ljust(200, "z"), 1.5) for n in range(1500)])],
    "clients": lambda: [gauges(1)] * 1500,
    "histograms": lambda: [metrics(*[spread(n) for n in range(400)])],
    "cumulative histograms": lambda: [metrics(*[spread(n, temporality=CUMULATIVE) for n in range(400)])],
    "summaries": lambda: [metrics(*[thirds(n) for n in range(300)])],
}
"""Pushes that take memory in different ways."""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_estimate_is_not_below_what_it_takes(shape: str) -> None:
    """As tracemalloc counts: what is charged to an address is what it takes, or more, but not ten times as much."""
    pushes = SHAPES[shape]()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        accumulator = Accumulator()
        for number, data in enumerate(pushes):
            take(accumulator, data, client(number))
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    [holding] = holdings(accumulator).values()
    assert taken < holding.bytes < 10 * taken


@pytest.mark.parametrize("labels", [DEFAULT_LABELS, ("client_software_version",)])
@pytest.mark.parametrize("seed", range(3))
def test_all_that_was_charged_is_refunded(labels: tuple[str, ...], seed: int) -> None:
    """Whatever was pushed, refused, expired and departed: nothing is charged for nothing, and never less than that."""
    rng = random.Random(seed)
    limits = Limits(clients=12, series=150, client_series=40, address_bytes=60_000)
    accumulator = Accumulator(labels=labels, expiry=50.0, limits=limits)
    pushers = [Pusher() for _ in range(6)]
    for now in range(300):
        info = at(f"10.0.0.{rng.randrange(3)}", rng.randrange(15))
        pusher = rng.choice(pushers)
        take(accumulator, metrics(*[random_metric(rng) for _ in range(rng.randrange(8))]), info, float(now), pusher)
        pusher.gone = rng.random() < 0.3
        held = holdings(accumulator).values()
        assert sum(each.series for each in held) == accumulator.tally.series
        assert all(each.bytes > 0 and each.series >= 0 for each in held)
    accumulator.expire(1000.0)
    assert (accumulator.tally.series, accumulator.sources) == (0, 0)
    assert (holdings(accumulator), dict(accumulator.families)) == ({}, {})


def random_metric(rng: random.Random) -> Metric:
    """A metric of any kind, of few names and few attributes."""
    name, topic = rng.choice("abcd"), str(rng.randrange(12))
    temporality = rng.choice([1, 2])
    kind = rng.randrange(4)
    if kind == 0:
        return gauge(f"g.{name}", rng.random(), topic=topic)
    if kind == 1:
        return total(f"t.{name}", rng.random(), temporality=temporality, topic=topic)
    bounds = [float(number) for number in range(rng.randrange(30))]
    if kind == 2:
        return histogram(f"h.{name}", bounds, [1] * (len(bounds) + 1), 1.5, temporality=temporality, topic=topic)
    return summary(f"s.{name}", 3, 1.5, {0.5: 1.0}, topic=topic)
