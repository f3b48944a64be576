"""kproxy.config.address: host and port as Kafka writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from kproxy.config import HostPort
from kproxy.config.address import Host, is_wildcard, split_host_port
from tests.unit.config.problems import problems_of


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("broker-1:9092", "broker-1", 9092),
        ("broker-1.example.com.:1", "broker-1.example.com.", 1),
        ("kafka_1:65535", "kafka_1", 65535),
        ("0.0.0.0:0", "0.0.0.0", 0),
        ("[::1]:9092", "::1", 9092),
        ("[fe80::1%eth0]:9092", "fe80::1%eth0", 9092),
        ("3com.example:80", "3com.example", 80),
    ],
)
def test_parses_and_writes_back(text: str, host: str, port: int) -> None:
    """Names, IPv4 and IPv6 addresses are parsed and written back."""
    address = HostPort.parse(text)
    assert (address.host, address.port, str(address)) == (host, port, text)


def test_white_space_around_is_not_part_of_it() -> None:
    """A list with commas may have spaces."""
    assert HostPort.parse(" a:1\n") == HostPort(host="a", port=1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "lacks a host or a port"),
        ("broker", "lacks a host or a port"),
        (":9092", "the host is missing"),
        ("a:", "'' is not a port"),
        ("a:x", "'x' is not a port"),
        ("a:-1", "'-1' is not a port"),
        ("a:٣", "'٣' is not a port"),
        ("a:65536", "'65536' is not a port (0 to 65535)"),
        ("a:999999999999", "is not a port"),
        ("::1:9092", "an IPv6 address needs brackets"),
        ("[::1:9092", "an IPv6 address needs brackets"),
        ("[broker]:9092", "in brackets is not an IPv6 address"),
        ("[10.0.0.1]:9092", "in brackets is not an IPv6 address"),
        ("PLAINTEXT://a:9092", "has a scheme"),
        ("a b:1", "neither a host name nor an IP address"),
        ("a:1;b:2", "'a:1;b:2' is not one address; separate several by commas: a:1,b:2"),
        ("a:1 [::1]:2", "separate several by commas: a:1,[::1]:2"),
        ("a..b:1", "neither a host name nor an IP address"),
        ("-a:1", "neither a host name nor an IP address"),
        (f"{'a' * 64}:1", "neither a host name nor an IP address"),
        (f"{'a.' * 127}com:1", "neither a host name nor an IP address"),
        ("10.0.0.256:1", "is not an IPv4 address"),
        ("10.0.1:1", "is not an IPv4 address"),
        ("bröker:1", "its xn-- form"),
    ],
)
def test_refuses_with_a_reason(text: str, why: str) -> None:
    """Text that is not an address is refused, in one sentence."""
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z") as caught:
        split_host_port(text)
    assert why in str(caught.value)


@pytest.mark.parametrize("value", [9092, True, None, 1.5, ["a:1"]])
def test_refuses_what_is_no_text(value: object) -> None:
    """YAML may yield any type; the error shows the right form."""
    (problem,) = problems_of(HostPort, value)
    assert "is not an address; write host:port" in problem


def test_takes_a_mapping_and_itself() -> None:
    """The long form, and an address made in code."""
    address = HostPort.model_validate({"host": "::1", "port": 9092})
    assert HostPort.model_validate(address) == address
    dumped: object = address.model_dump()
    assert dumped == "[::1]:9092"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"host": "a:b", "port": 1}, "host: 'a:b' is not an IPv6 address"),
        ({"host": "", "port": 1}, "host: the host is missing"),
        ({"host": "a", "port": 70000}, "port: must be at most 65535, not 70000"),
        ({"host": "a", "port": True}, "port: True is not a whole number"),
        ({"host": "a"}, "port: is required"),
    ],
)
def test_refuses_a_bad_mapping(data: object, problem: str) -> None:
    """The long form is checked as strictly as the short one."""
    (line,) = problems_of(HostPort, data)
    assert line.startswith(problem)


def test_is_frozen_and_hashable() -> None:
    """Addresses are keys of address maps."""
    address = HostPort.parse("a:1")
    with pytest.raises(ValidationError):
        address.port = 2
    assert {address: 1}[HostPort.parse("a:1")] == 1


@pytest.mark.parametrize(("host", "wild"), [("0.0.0.0", True), ("::", True), ("::1", False), ("any", False)])
def test_wildcards(host: str, wild: bool) -> None:
    """0.0.0.0 and :: mean every address, a name never does."""
    assert is_wildcard(host) is wild


@given(st.text())
def test_any_text_is_an_address_or_a_value_error(text: str) -> None:
    """No text raises anything but ValueError; an accepted text is written back unchanged."""
    try:
        address = HostPort.parse(text)
    except ValueError:
        return
    assert HostPort.parse(str(address)) == address


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kafka.example.com:9092", "has a port; write the host alone: kafka.example.com"),
        ("[::1]:9092", "has a port; write the host alone: ::1"),
        ("https://kafka.example.com", "has a scheme; write the host alone: kafka.example.com"),
        ("SASL_SSL://kafka:9092", "has a scheme; write the host alone: kafka"),
        ("https://kafka/path", "has a scheme; write the host alone"),
        ("[::1]", "has brackets; write an IPv6 address without them: ::1"),
        ("[kafka]", "has brackets; write an IPv6 address without them: kafka"),
        ("kafka:x", "is not an IPv6 address"),
    ],
)
def test_a_host_alone(text: str, why: str) -> None:
    """Where no port belongs, as in `advertised_host`, what is too much is named, and what is to stay."""
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Host).validate_python(text)
    (problem,) = caught.value.errors()
    assert f"{text!r} {why}" in problem["msg"]


@pytest.mark.parametrize("host", ["kafka", "10.0.0.1", "::1", "fe80::1%eth0", "2001:db8::9092"])
def test_hosts_alone(host: str) -> None:
    """Names and addresses, also where the end looks like a port."""
    assert TypeAdapter(Host).validate_python(host) == host
