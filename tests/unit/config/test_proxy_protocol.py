"""Settings of the PROXY protocol."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from kproxy.config.proxy_protocol import ProxyProtocol


@pytest.mark.parametrize(
    ("written", "networks"),
    [
        ([], ()),
        ("10.0.0.0/8, 2001:DB8::/32", ("10.0.0.0/8", "2001:db8::/32")),
        (["192.0.2.1"], ("192.0.2.1/32",)),
    ],
)
def test_networks(written: object, networks: tuple[str, ...]) -> None:
    """A list, or one string; a single address is a network of one."""
    assert ProxyProtocol.model_validate({"networks": written}).networks == networks


@pytest.mark.parametrize(
    "written", ["10.0.0.1/8", "10.0.0.0/33", "balancer.example.com", "10.0.0.0/8,", "all", "::ffff:10.0.0.0/104"]
)
def test_what_is_no_network(written: str) -> None:
    """The reason says what is wrong with it, and how one is written."""
    with pytest.raises(ValidationError, match=r"write for instance 10\.0\.0\.0/8"):
        ProxyProtocol.model_validate({"networks": [written]})
