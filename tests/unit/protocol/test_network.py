"""What limits take for one address."""

from __future__ import annotations

import pytest

from kproxy.protocol.network import Networks, network


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("not:an:address", "not:an:address"),
        ("", ""),
    ],
)
def test_what_counts_as_one_address(address: str, expected: str) -> None:
    """An IPv6 host can take any address of its /64."""
    assert network(address).partition("%")[0] == expected


@pytest.mark.parametrize(
    ("host", "same", "other"),
    [
        ("10.0.0.1", "10.0.0.1", "10.0.0.2"),
        ("::ffff:10.0.0.1", "10.0.0.1", "::ffff:10.0.0.2"),
        ("2001:db8:0:7::1", "2001:db8:0:7:ffff::2", "2001:db8:0:8::1"),
        ("fe80::1%eth0", "fe80::2%eth1", "fe80:0:0:1::1"),
        ("not:an:address", "not:an:address", "not:another"),
        ("", "", "10.0.0.1"),
    ],
)
def test_what_is_the_same_and_what_is_not(host: str, same: str, other: str) -> None:
    """An IPv4 address also when it comes in IPv6's form; of IPv6 a /64, of which one machine has all addresses."""
    assert network(host) == network(same)
    assert network(host) != network(other)


@pytest.mark.parametrize(
    ("host", "share"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::"),
        ("::1", "::"),
        ("fe80::1%eth0", "fe80::"),
    ],
)
def test_whose_share_of_the_admin_port(host: str, share: str) -> None:
    """One host of IPv6 has as many addresses as it likes."""
    assert network(host).partition("/")[0] == share


@pytest.mark.parametrize(
    ("address", "had"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("192.0.2.1", True),
        ("192.0.2.2", False),
        ("2001:db8::9", True),
        ("2001:db9::9", False),
        ("unknown", False),
        ("", False),
    ],
)
def test_some_networks(address: str, had: bool) -> None:
    """Networks and single addresses of both families; what is no address is in none."""
    networks = Networks(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"])
    assert bool(networks)
    assert networks.have(address) is had
    assert not Networks().have(address)
    assert not Networks()
