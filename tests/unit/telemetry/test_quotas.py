"""Quotas by connection and by address: who is over one is answered before anything is decompressed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final
from uuid import UUID

import pytest

from kproxy.telemetry.errors import TelemetryError
from kproxy.telemetry.instances import CAPACITY
from kproxy.telemetry.quotas import ADDRESSES, BURST, DecodeTime, Pusher, Quotas, Use
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscription import ClientInfo
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from tests.unit.telemetry.clients import INTERVAL, JAVA, NOW, ZERO_UUID, metrics, request, telemetry, wide
from tests.unit.telemetry.compressed import COMPRESS

NONE, THROTTLED, UNAUTHORIZED = 0, 89, 31
ANY_NUMBER: Final = Quotas(connection_instances=1_000_000)


def slow(seconds: float) -> Callable[[], float]:
    """A clock that shows this many seconds for each step of decoding: decompressing, and decoding."""
    ticks = count()
    return lambda: next(ticks) * seconds


def invented(number: int) -> ClientInfo:
    """A client instance that nobody has seen."""
    return JAVA._replace(client_instance_id=UUID(int=100 + number))


def push(server: Telemetry, number: int, pusher: Pusher, now: float = NOW, **parts: str) -> int:
    """The error code of the first push of an invented instance; its subscription id is computed."""
    info = invented(number)._replace(**parts)  # type: ignore[arg-type]
    return server.push(info, request(server, info), now, pusher)[0].error_code


def test_pushes_of_invented_instances_are_not_decoded_for_ever() -> None:
    """Row 2: 950 pushes on one connection, 10 ms each. Before, all were decoded; now those of 0.4 s, then 89."""
    server = telemetry(clock=slow(0.005), quotas=ANY_NUMBER)
    pusher = Pusher()
    codes = [push(server, number, pusher) for number in range(950)]
    assert codes == [NONE] * 40 + [THROTTLED] * 910
    assert server.tally.decode_seconds == pytest.approx(0.4)
    assert server.tally.refused["connection_time"] == 910
    assert push(server, 0, pusher, NOW + 1 + INTERVAL) == NONE


def test_more_connections_do_not_give_more_time_than_an_address_has() -> None:
    """A connection for each push: two seconds' worth for the address, then a quarter of each second."""
    server = telemetry(clock=slow(0.005), quotas=ANY_NUMBER)
    codes = [push(server, number, Pusher()) for number in range(950)]
    assert (codes.count(NONE), codes.count(THROTTLED)) == (200, 750)
    assert server.tally.refused["address_time"] == 750
    later = [push(server, number, Pusher(), NOW + 1) for number in range(1000, 1100)]
    assert later.count(NONE) == 25


def test_other_addresses_have_time_of_their_own() -> None:
    """One that has used up its time changes nothing for others."""
    server = telemetry(clock=slow(0.005), quotas=ANY_NUMBER)
    assert {push(server, number, Pusher()) for number in range(950)} == {NONE, THROTTLED}
    assert push(server, 2000, Pusher(), source_address="10.0.0.2") == NONE


def test_what_is_over_a_quota_is_not_decompressed() -> None:
    """89 comes before any error that only decompressing or decoding could find."""
    server = telemetry(clock=slow(1.0))
    pusher = Pusher()
    assert push(server, 1, pusher) == NONE
    info = invented(2)
    answer, _ = server.push(info, request(server, info, codec=COMPRESS["zstd"][0], payload=b"noise"), NOW, pusher)
    assert answer.error_code == THROTTLED
    assert server.tally.decode_seconds == 2.0
    known = server.instances.get(info.client_instance_id)
    assert known is not None
    assert (known.last_error, known.last_error_reason) == (
        THROTTLED,
        "this connection's pushes take too long to decode",
    )


def test_a_fleet_behind_one_address_comes_back_at_once() -> None:
    """5,000 clients, each on its connection, with first pushes of 200 µs: none is throttled."""
    server = telemetry(clock=slow(0.0001))
    codes = {push(server, number, Pusher(), NOW + number / 5000) for number in range(5000)}
    assert codes == {NONE}


def test_a_clock_that_was_set_back_gives_and_takes_nothing() -> None:
    """What was used stays used until time has passed again."""
    use = Use()
    use.seconds, use.at = 1.0, NOW
    assert use.over(0.1, NOW)
    assert use.over(0.1, NOW - 3600)
    assert not use.over(0.1, NOW - 3600 + 3)
    assert use.seconds == pytest.approx(0.7)
    assert BURST * 0.1 == 0.8


def test_addresses_are_remembered_in_bounded_memory() -> None:
    """The address that came first is forgotten, and begins anew."""
    times = DecodeTime()
    for number in range(ADDRESSES + 10):
        times.charge(Pusher(), f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", 9.0)
    assert len(times) == ADDRESSES
    times.admit(Pusher(), "10.0.0.0", Quotas(), NOW)
    with pytest.raises(TelemetryError) as caught:
        times.admit(Pusher(), "10.0.64.0", Quotas(address_decode=0.001), 0.0)
    assert (caught.value.code, caught.value.reason) == (ErrorCode.THROTTLING_QUOTA_EXCEEDED, "address_time")


def test_a_connection_has_few_instances() -> None:
    """A client has one. More than eight are throttled, at a push and when they ask; those that came first go on."""
    server = telemetry()
    pusher = Pusher()
    assert [push(server, number, pusher) for number in range(10)] == [NONE] * 8 + [THROTTLED] * 2
    assert push(server, 0, pusher, NOW + INTERVAL) == NONE
    asked = GetTelemetrySubscriptionsRequest(client_instance_id=ZERO_UUID)
    answer = server.get(JAVA, asked, NOW, pusher)
    assert answer.error_code == THROTTLED
    assert answer.client_instance_id != ZERO_UUID
    assert server.tally.refused["connection_instances"] == 3
    assert len(server.instances) == 8


def test_only_who_is_authenticated() -> None:
    """`require_principal`: 31 CLUSTER_AUTHORIZATION_FAILED, at a get and at a push, without a principal."""
    server = telemetry(quotas=Quotas(require_principal=True))
    pusher = Pusher()
    asked = GetTelemetrySubscriptionsRequest(client_instance_id=JAVA.client_instance_id)
    refused = server.get(JAVA, asked, NOW, pusher)
    assert (refused.error_code, refused.client_instance_id) == (UNAUTHORIZED, JAVA.client_instance_id)
    assert push(server, 1, pusher) == UNAUTHORIZED
    assert (len(server.instances), server.tally.refused["principal"]) == (0, 2)
    pusher.principal = "User:alice"
    assert server.get(JAVA, asked, NOW, pusher).error_code == NONE
    assert push(server, 1, pusher) == NONE


def test_one_address_does_not_evict_the_instances_of_others() -> None:
    """Row 4: it has half of all; what it invents beyond that takes the place of its own."""
    server = telemetry()
    other = JAVA._replace(source_address="10.0.0.2")
    server.get(other, GetTelemetrySubscriptionsRequest(client_instance_id=JAVA.client_instance_id), NOW)
    for number in range(CAPACITY + 1):
        asked = GetTelemetrySubscriptionsRequest(client_instance_id=UUID(int=100 + number))
        server.get(JAVA._replace(source_address="10.0.0.1"), asked, NOW + 1)
    assert server.instances.get(JAVA.client_instance_id) is not None
    assert len(server.instances) == 1 + CAPACITY // 2


@pytest.mark.parametrize(("payload", "steps"), [(metrics(30), 0), (metrics(3000), 1), (wide(2000), 51)])
def test_a_large_push_takes_steps(payload: bytes, steps: int) -> None:
    """Others have their turn between decompressing it, and counting and decoding each of its parts."""
    server = telemetry()
    pushing = server.pushing(JAVA, request(server, codec=4, payload=COMPRESS["zstd"][1](payload)), NOW)
    taken = 0
    while True:
        try:
            next(pushing)
        except StopIteration as over:
            answer, push = over.value
            break
        taken += 1
    assert (taken, answer.error_code, push is not None) == (steps, NONE, True)
