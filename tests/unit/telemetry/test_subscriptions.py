"""All subscriptions together: their union for a client, and its id."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations
from uuid import UUID

import pytest

from kproxy.telemetry.subscription import Subscription
from kproxy.telemetry.subscriptions import EVERYTHING, Subscriptions
from tests.unit.telemetry.clients import ID, JAVA, LIBRDKAFKA, UNKNOWN

A = Subscription("a", metrics=("org.a.", "org.b."), interval_ms=60_000)
B = Subscription("b", metrics=("org.b.", "org.c."), interval_ms=5_000, match=(("client_software_name", "librdkafka"),))


def test_statement_interval_is_the_lowest_and_metrics_are_the_union() -> None:
    """telemetry.md: interval = the lowest of the matching subscriptions; metrics = their union."""
    subscriptions = Subscriptions([A, B])
    assert subscriptions.of(JAVA)[:2] == (("org.a.", "org.b."), 60_000)
    assert subscriptions.of(LIBRDKAFKA)[:2] == (("org.a.", "org.b.", "org.c."), 5_000)


def test_statement_300_000_ms_at_most_by_default() -> None:
    """telemetry.md: 300,000 ms at most by default, as a broker; another default is another bound."""
    slow = [Subscription("s", metrics=("m",), interval_ms=3_600_000)]
    assert Subscriptions(slow).of(JAVA).interval_ms == 300_000
    assert Subscriptions(slow, default_interval_ms=3_600_000).of(JAVA).interval_ms == 3_600_000


def test_the_default_interval_may_change() -> None:
    """For example by a reload: clients learn of it at their next push. The same interval again is no change."""
    subscriptions = Subscriptions([Subscription("s", metrics=("m",), interval_ms=3_600_000)])
    before = subscriptions.version
    subscriptions.pace(300_000)
    assert subscriptions.version == before
    subscriptions.pace(60_000)
    assert (subscriptions.version, subscriptions.of(JAVA).interval_ms) == (before + 1, 60_000)


@pytest.mark.parametrize("metrics", [("*",), ("",), ("org.a.", "*"), ("", "*")])
def test_statement_all_metrics_is_one_empty_prefix(metrics: tuple[str, ...]) -> None:
    """telemetry.md: all metrics: answer `[""]`, since `["*"]` makes franz-go send nothing; others add nothing."""
    assert Subscriptions([A, Subscription("s", metrics=metrics)]).of(JAVA).metrics == EVERYTHING == ("",)


def test_statement_none_match_is_an_empty_array() -> None:
    """telemetry.md: none match → empty array; so says also a subscription without metrics."""
    assert Subscriptions([B]).of(JAVA)[:2] == ((), 300_000)
    assert Subscriptions([Subscription("s", interval_ms=1000)]).of(JAVA)[:2] == ((), 1000)


def test_statement_the_id_does_not_depend_on_the_order() -> None:
    """telemetry.md: SubscriptionId: order-independent."""
    three = [Subscription(name, metrics=(f"m.{name}",)) for name in "abc"]
    ids = {Subscriptions(order).of(JAVA).subscription_id(ID) for order in permutations(three)}
    assert len(ids) == 1


def test_statement_the_id_depends_on_metrics_interval_and_instance() -> None:
    """telemetry.md: CRC32C over the matching set with the interval, XOR a hash of the instance id."""
    base = Subscription("s", metrics=("m",), interval_ms=1000)
    others = [
        base,
        Subscription("s", metrics=("n",), interval_ms=1000),
        Subscription("s", metrics=("m",), interval_ms=1001),
    ]
    ids = [Subscriptions([one]).of(JAVA).subscription_id(instance) for one in others for instance in (ID, UUID(int=7))]
    assert len(set(ids)) == len(ids)
    assert ids[0] ^ ids[1] == ids[2] ^ ids[3]  # the instance's part is the same whatever the subscriptions
    renamed = Subscriptions([Subscription("t", metrics=("m",), interval_ms=1000)])
    assert renamed.of(JAVA).subscription_id(ID) == ids[0]  # a client does not care what it is called


def test_statement_the_id_is_the_same_after_a_restart() -> None:
    """telemetry.md: deterministic: in another process, whatever its hash seed, and from now on."""
    program = (
        "from tests.unit.telemetry.test_subscriptions import *;"
        "print(Subscriptions([B, A]).of(LIBRDKAFKA).subscription_id(ID))"
    )
    ids = {
        int(
            subprocess.run(
                [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
            ).stdout
        )
        for seed in ("1", "2")
    }
    assert ids == {Subscriptions([A, B]).of(LIBRDKAFKA).subscription_id(ID)} == {KNOWN_ID}


KNOWN_ID = 1317874400
"""Of A and B for this instance. Were it another in a later release, an upgrade would show clients a 117."""


@pytest.mark.parametrize("instance", [UUID(int=0), UUID(int=2**128 - 1), UUID(int=2**31), UUID(int=2**127)])
def test_an_id_is_an_int32(instance: UUID) -> None:
    """Whatever the instance id, it can be encoded."""
    assert -(2**31) <= Subscriptions([A]).of(JAVA).subscription_id(instance) < 2**31


def test_metrics_cannot_run_into_each_other() -> None:
    """["a", "b"] and ["ab"], and a prefix that looks like the interval, are different sets."""
    sets = [("a", "b"), ("ab",), ("a", "b", "1000"), ("b", "a,b")]
    sums = {Subscriptions([Subscription("s", metrics=metrics)]).of(JAVA).checksum for metrics in sets}
    assert len(sums) == len(sets)


def test_a_change_is_seen_at_once() -> None:
    """A cached result is not used after a change; the version rises."""
    subscriptions = Subscriptions([])
    before = subscriptions.version, subscriptions.of(JAVA)
    subscriptions.put(A)
    assert subscriptions.of(JAVA).metrics == A.metrics
    assert subscriptions.version > before[0]
    subscriptions.remove("a")
    assert subscriptions.of(JAVA) == before[1]


def test_what_changes_nothing_is_no_change() -> None:
    """Putting the same subscription again, or removing an absent one, leaves the version: no instance is checked."""
    subscriptions = Subscriptions([B])
    subscriptions.put(A)
    version = subscriptions.version
    subscriptions.put(Subscription("a", metrics=("org.a.", "org.b."), interval_ms=60_000))
    subscriptions.remove("nobody")
    subscriptions.fix([B])
    assert subscriptions.version == version


def test_those_of_the_configuration_hide_others() -> None:
    """A name in the configuration file hides a stored subscription, which is back when the name leaves the file."""
    subscriptions = Subscriptions([A])
    subscriptions.put(Subscription("a", metrics=("kept",)))
    subscriptions.put(B)
    assert [one.name for one in subscriptions] == ["a", "b"]
    assert (len(subscriptions), subscriptions.get("a"), subscriptions.is_fixed("a")) == (2, A, True)
    subscriptions.fix([])
    assert subscriptions.of(UNKNOWN).metrics == ("kept",)
    assert not subscriptions.is_fixed("a")


def test_clients_that_no_subscription_distinguishes_share_the_work() -> None:
    """They get the same object; with a pattern on what differs they do not."""
    subscriptions = Subscriptions([A, B])
    assert subscriptions.of(JAVA) is subscriptions.of(JAVA._replace(client_id="other", source_port=1))
    subscriptions.put(Subscription("c", match=(("client_id", "x"),)))
    assert subscriptions.of(JAVA) is not subscriptions.of(JAVA._replace(client_id="other"))


def test_what_is_worked_out_takes_bounded_memory() -> None:
    """A client that comes with another id each time costs no more than those of 4,096 ids."""
    subscriptions = Subscriptions([Subscription("c", match=(("client_id", "never"),))])
    for number in range(10_000):
        subscriptions.of(JAVA._replace(client_id=str(number)))
    assert len(subscriptions._cache) <= 4096
