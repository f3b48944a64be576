"""The known instances: which are evicted or expire, and when."""

from __future__ import annotations

from uuid import UUID

import pytest

from kproxy.telemetry.instances import CAPACITY, Instance, Instances
from kproxy.telemetry.subscription import Subscription
from kproxy.telemetry.subscriptions import Subscriptions
from tests.unit.telemetry.clients import JAVA, NOW


def instance(number: int, interval_ms: int = 300_000) -> Instance:
    info = JAVA._replace(client_instance_id=UUID(int=number))
    return Instance(info, Subscriptions([Subscription("s", interval_ms=interval_ms)]).of(info), 1)


def ids(instances: Instances) -> list[int]:
    return [one.info.client_instance_id.int for one in instances]


def test_statement_least_recently_seen_out_first() -> None:
    """telemetry.md: instance cache: LRU of 16,384."""
    assert CAPACITY == 16_384
    instances = Instances(capacity=3)
    for number in (1, 2, 3):
        instances.see(instance(number), NOW)
    first = instances.get(UUID(int=1))
    assert first is not None
    instances.see(first, NOW)
    instances.see(instance(4), NOW)
    assert (ids(instances), instances.evicted, len(instances)) == ([3, 1, 4], 1, 3)
    assert instances.get(UUID(int=2)) is None


@pytest.mark.parametrize(("interval_ms", "seconds"), [(100, 60), (20_000, 60), (20_001, 60.003), (300_000, 900)])
def test_statement_expiry_is_60_s_or_three_intervals(interval_ms: int, seconds: float) -> None:
    """telemetry.md: expiry max(60 s, 3 × interval), from when it was seen last."""
    instances = Instances()
    one = instance(1, interval_ms)
    instances.see(one, NOW - 1)
    instances.see(one, NOW)
    assert instances.expired(NOW + seconds - 0.001) == []
    assert instances.expired(NOW + seconds) == [one]
    assert (len(instances), instances.evicted) == (0, 0)


def test_expiry_is_each_ones_own() -> None:
    """An instance that pushes rarely outlives one that pushes often and was seen after it."""
    instances = Instances()
    instances.see(instance(1, 300_000), NOW)
    instances.see(instance(2, 100), NOW + 30)
    assert [one.info.client_instance_id.int for one in instances.expired(NOW + 100)] == [2]
    assert ids(instances) == [1]


def test_the_least_recently_seen_of_all_goes_where_no_address_has_too_many() -> None:
    """Two of each address are allowed, and three in all."""
    instances = Instances(capacity=3)
    for number, address in enumerate(("10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2")):
        one = instance(number + 2)
        one.address = address
        instances.see(one, NOW, 0.7)
    assert ids(instances) == [3, 4, 5]
