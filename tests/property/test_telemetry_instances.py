"""Clients that behave well and clients that do not, in any order: what holds for every one of them."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from kproxy.telemetry.instances import CAPACITY
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscription import Subscription
from tests.unit.telemetry.clients import JAVA, NOW, Parts, get, metrics, pushed, telemetry

INVENTED = 160_000
KIB_AN_INSTANCE = 20


def test_ten_times_as_many_instances_as_are_kept() -> None:
    """The LRU holds half of 16,384, all of one address, with the longest texts; a well-behaved client is served."""
    server = telemetry()
    held = get(server).subscription_id
    mean = JAVA._replace(client_id="i" * 30_000, software_name="n" * 30_000)
    interval = server.subscriptions.of(JAVA).interval_ms / 1000
    for number in range(INVENTED // 1000):
        for each in range(1000):
            get(server, NOW, info=mean._replace(client_instance_id=UUID(int=1 + number * 1000 + each)))
        assert pushed(server, NOW + number * interval, subscription_id=held) == 0
    assert len(server.instances) == CAPACITY // 2
    assert server.instances.evicted > INVENTED - CAPACITY


def test_what_an_instance_costs() -> None:
    """An instance takes 20 KiB at most, with the longest texts that are kept, in characters of four bytes."""
    server = telemetry()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(2000):
        text = "\U0001f600" * 200 + f"{number:05}"
        info = JAVA._replace(client_id=text, software_name=text + "n", software_version=text + "v")
        get(server, info=info._replace(client_instance_id=UUID(int=2 + number)))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (after - before) / 2000 < KIB_AN_INSTANCE * 1024


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["get", "push", "wrong id", "wrong codec", "garbage", "terminating", "change", "forget"]),
        st.integers(0, 400),
    ),
    max_size=60,
)


@dataclass
class Accepted:
    """When pushes were decoded, and how often one was allowed before its time."""

    times: list[float]
    early: int = 0


def play(server: Telemetry, steps: list[tuple[str, int]]) -> Accepted:
    """Play a client that does anything; each step's number is the milliseconds before it."""
    now, accepted, changes = NOW, Accepted([]), 0
    parts: dict[str, Parts] = {
        "wrong id": {"subscription_id": 1},
        "wrong codec": {"codec": 7},
        "garbage": {"payload": b"noise"},
        "terminating": {"terminating": True},
    }
    for what, pause in steps:
        now += pause / 1000
        if what == "get":
            accepted.early += get(server, now).error_code == 0
        elif what == "change":
            changes += 1
            server.subscriptions.fix([Subscription("s", metrics=(f"m{changes}",), interval_ms=1000)])
            accepted.early += 1
        elif what == "forget":
            server.instances.expired(now + 10_000)
            accepted.early += 1
        else:
            code = pushed(server, now, **parts.get(what, {}))
            if code == 0:
                accepted.times.append(now)
            accepted.early += what == "terminating" and code == 0
    return accepted


@given(STEPS)
@settings(max_examples=300)
def test_no_more_pushes_than_intervals_and_occasions(steps: list[tuple[str, int]]) -> None:
    """Whatever a client does, its pushes are decoded once an interval, and once more for each answered get, each
    change of subscriptions, each time the instance is forgotten, and each terminating push.
    """
    server = telemetry([Subscription("s", metrics=("m0",), interval_ms=1000)])
    accepted = play(server, steps)
    span = sum(pause for _, pause in steps) / 1000
    assert len(accepted.times) <= 1 + span + accepted.early
    assert set(server.tally.pushes) <= {0, 42, 76, 87, 89, 117}
    assert set(server.tally.gets) <= {0, 89}


@given(STEPS, st.integers(0, 500))
@settings(max_examples=300)
def test_a_client_that_behaves_again_is_served(steps: list[tuple[str, int]], jitter: int) -> None:
    """After anything at all, an interval's silence and a get allow a push at once, and then one each interval."""
    server = telemetry([Subscription("s", metrics=("m0",), interval_ms=1000)])
    play(server, steps)
    now = NOW + sum(pause for _, pause in steps) / 1000 + 1
    subscribed = get(server, now)
    assert subscribed.error_code == 0
    first = now + 0.5 + jitter / 1000
    codes = [pushed(server, first + number, subscription_id=subscribed.subscription_id) for number in range(3)]
    last_was_terminating = codes[0] == 42  # one of the steps was terminating: reported once, then forgotten
    assert codes == ([42, 0, 0] if last_was_terminating else [0, 0, 0])
    assert not last_was_terminating or any(what == "terminating" for what, _ in steps)


@given(st.integers(0, 2**128 - 1), st.lists(st.text(max_size=8), max_size=5), st.integers(100, 3_600_000))
def test_replicas_agree(number: int, prefixes: list[str], interval_ms: int) -> None:
    """Two proxies that learnt the same subscriptions, in any order, give one id."""
    parts = [Subscription(f"s{at}", metrics=(prefix,), interval_ms=interval_ms) for at, prefix in enumerate(prefixes)]
    info = JAVA._replace(client_instance_id=UUID(int=number))
    there, here = telemetry(parts), telemetry([])
    for subscription in reversed(parts):
        here.subscriptions.put(subscription)
    assert there.subscriptions.of(info) == here.subscriptions.of(info)


def test_payload_sizes_of_these_tests() -> None:
    """A push of these tests is a real one: kproxy does not take it for an empty one."""
    assert len(metrics()) > 50
