"""Which client may connect: limits in all, for an address, and of an address's rate."""

from __future__ import annotations

import pytest

from kproxy.config import Limits
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.connection_quotas import MOST, ConnectionQuotas, connections_possible

PLENTY = 1 << 30


def refused(quotas: ConnectionQuotas, host: str, others: int = 0, now: float = 0.0) -> Reason | None:
    """Return the reason for which a client is refused, None if it is counted."""
    try:
        quotas.open(host, others, now)
    except Fault as fault:
        return fault.reason
    return None


@pytest.mark.parametrize(
    ("descriptors", "possible"), [(1, 1), (3, 1), (1024, 384), (4096, 1536), (20_000, 9488), (65_536, 32_256)]
)
def test_connections_follow_from_the_limit_of_open_files(descriptors: int, possible: int) -> None:
    """Two descriptors for each, and up to 1,024 are kept back, a quarter where there are few."""
    assert connections_possible(descriptors) == possible
    assert ConnectionQuotas(Limits(), descriptors).most == min(possible, MOST)


def test_a_limit_of_open_files_that_is_none() -> None:
    """A system without such a limit does not mean that there is none of connections."""
    assert ConnectionQuotas(Limits(), PLENTY).most == MOST


@pytest.mark.parametrize(("wanted", "most"), [(5, 5), (9488, 9488), (60_000, 9488)])
def test_a_setting_does_not_use_up_the_descriptors(wanted: int, most: int) -> None:
    """Those kept back for the admin port and kproxy's own connections stay, whatever is set."""
    assert ConnectionQuotas(Limits(max_connections=wanted), 20_000).most == most


def test_the_limit_in_all() -> None:
    """It does not matter from where."""
    quotas = ConnectionQuotas(Limits(max_connections=2), PLENTY)
    assert refused(quotas, "10.0.0.1", others=1) is None
    assert refused(quotas, "10.0.0.2", others=2) is Reason.CLIENT_LIMIT
    quotas.closed("10.0.0.1")
    assert len(quotas) == 0


def test_the_limit_of_an_address() -> None:
    """Its connections count, not those of others; one that ends makes room."""
    quotas = ConnectionQuotas(Limits(max_connections_per_address=2), PLENTY)
    assert [refused(quotas, "10.0.0.1") for _ in range(3)] == [None, None, Reason.ADDRESS_LIMIT]
    assert refused(quotas, "10.0.0.2") is None
    quotas.closed("10.0.0.1")
    assert [refused(quotas, "10.0.0.1") for _ in range(2)] == [None, Reason.ADDRESS_LIMIT]


def test_other_limits() -> None:
    """Connections that there are count against lower ones; an address gets no second burst unless its rate changes."""
    limits = Limits(max_connections=40, connections_per_second_per_address=1)
    quotas = ConnectionQuotas(limits, PLENTY)
    assert [refused(quotas, "10.0.0.1") for _ in range(20)] == [None] * 20
    quotas.limit(limits.model_copy(update={"max_connections_per_address": 30}), PLENTY)
    assert refused(quotas, "10.0.0.1") is Reason.ADDRESS_RATE
    quotas.limit(limits.model_copy(update={"connections_per_second_per_address": 2}), PLENTY)
    assert refused(quotas, "10.0.0.1") is None
    quotas.limit(Limits(max_connections=40, max_connections_per_address=5), PLENTY)
    assert refused(quotas, "10.0.0.1") is Reason.ADDRESS_LIMIT
    assert refused(quotas, "10.0.0.2", others=39) is None
    quotas.limit(Limits(max_connections=30), PLENTY)
    assert refused(quotas, "10.0.0.2", others=30) is Reason.CLIENT_LIMIT


@pytest.mark.parametrize(("most", "of_one"), [(1, 1), (9, 9), (100, 90), (9488, 8540)])
def test_one_address_leaves_a_tenth_to_others(most: int, of_one: int) -> None:
    """A sidecar and a load balancer have one address for all clients: by default that may have nine tenths."""
    quotas = ConnectionQuotas(Limits(max_connections=most, connections_per_second_per_address=10_000), PLENTY)
    assert sum(refused(quotas, "127.0.0.1") is None for _ in range(most)) == of_one
    assert refused(quotas, "10.0.0.1", others=most - 1) is None


def test_the_rate_of_an_address() -> None:
    """By default 10,000 at once, for a fleet that comes back behind one address, and 500 a second after that."""
    quotas = ConnectionQuotas(Limits(max_connections=20_000), PLENTY)
    assert sum(refused(quotas, "127.0.0.1") is None for _ in range(10_100)) == 10_000
    assert refused(quotas, "127.0.0.1") is Reason.ADDRESS_RATE
    assert refused(quotas, "10.0.0.1") is None
    assert sum(refused(quotas, "127.0.0.1", now=1.0) is None for _ in range(600)) == 500


def test_nothing_is_kept_of_addresses_that_left() -> None:
    """Each address that has a connection is one entry; one that was refused is none."""
    quotas = ConnectionQuotas(Limits(max_connections=10_000), PLENTY)
    hosts = [f"10.0.{number >> 8}.{number & 255}" for number in range(5000)]
    for host in hosts:
        assert refused(quotas, host) is None
    assert refused(quotas, "10.1.0.0", others=10_000) is Reason.CLIENT_LIMIT
    assert len(quotas) == 5000
    for host in hosts:
        quotas.closed(host)
    assert len(quotas) == 0
