"""kproxy.protocol.hello: what a client's first request says of it."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.protocol.context import Context
from kproxy.protocol.hello import NEWEST, hello
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.header import RequestHeader, encode_request_header
from tests.unit.relay.flows import Cluster


def context() -> Context:
    return Context(Cluster(), 7, "client:1", "10.9.8.7")


def say(to: Context, version: int, **fields: Any) -> None:
    """Have a client send ApiVersions."""
    header = encode_request_header(RequestHeader(ApiKey.API_VERSIONS, version, 1, "app"))
    hello(to, memoryview(header + ApiVersionsRequest(**fields).encode(version)), version)


def test_its_software() -> None:
    """From v3 on (KIP-511)."""
    found = context()
    say(found, 3, client_software_name="librdkafka", client_software_version="2.12.0")
    assert found.software == ("librdkafka", "2.12.0")


@pytest.mark.parametrize(
    ("version", "fields", "known"),
    [
        (0, {}, False),
        (NEWEST - 1, {}, False),
        (NEWEST, {}, None),
        (NEWEST, {"node_id": 0}, True),
        (NEWEST, {"cluster_id": "c"}, True),
    ],
)
def test_whether_it_names_what_it_means(version: int, fields: dict[str, Any], known: bool | None) -> None:
    """KIP-1242: yes where it does, no where its version cannot; at a bootstrap server it knows nothing to name."""
    found = context()
    assert found.kip_1242 is None
    say(found, version, **fields)
    assert found.kip_1242 is known


def test_what_it_has_named_once() -> None:
    """A client that falls back to an older version, as after UNSUPPORTED_VERSION, can do what it did."""
    found = context()
    say(found, NEWEST, node_id=3)
    say(found, 0)
    assert found.kip_1242 is True
