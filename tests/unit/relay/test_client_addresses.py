"""What is kept of client addresses, and for how long."""

from __future__ import annotations

import pytest

from kproxy.relay.client_addresses import ClientAddresses


def test_as_long_as_it_has_a_client() -> None:
    """The clients of an address share what is kept of it; of IPv6 a /64 is one."""
    addresses = ClientAddresses(list[str])
    with addresses.of("2001:db8::1") as first:
        with addresses.of("2001:db8::2") as second, addresses.of("192.0.2.1") as other:
            assert first is second
            assert other is not first
            assert len(addresses) == 2
        with addresses.of("2001:db8::3") as third:
            assert third is first
        assert len(addresses) == 1
    assert len(addresses) == 0
    with addresses.of("2001:db8::1") as anew:
        assert anew is not first


def test_a_failure_is_an_end() -> None:
    """As every other one."""
    addresses = ClientAddresses(list[str])
    with pytest.raises(ZeroDivisionError), addresses.of("192.0.2.1"):
        raise ZeroDivisionError
    assert len(addresses) == 0
