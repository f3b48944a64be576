"""Neutralised tails as clients' own parsers read them; kafka-clients does so in tests/clients/test_wire_oracle.py."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from kio.index import load_entity_schema
from kio.serial import entity_reader
from kio.static.constants import EntityType

from kproxy.wire.skim import response_stream
from tests.property import wire_contents as contents

with warnings.catch_warnings():  # kafka-python's own imports warn
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.protocol.consumer import FetchResponse

OLD = "broker-1.kafka"
SAME_LENGTH = "proxy-22.kafka"
ONE_SHORTER = "proxy-1.kafka"


def neutralised(key: int, version: int, host: str, **fields: object) -> bytes:
    """Return a response with one endpoint, as it leaves the proxy when it was too large to be held."""
    content = fields | {
        "ThrottleTimeMs": 0,
        "ErrorCode": 0,
        "Responses": [],
        "NodeEndpoints": [{"NodeId": 7, "Host": OLD, "Port": 9092, "Rack": None}],
    }
    body = contents.encode(key, version, content)
    stream = response_stream(key, version)
    assert stream is not None
    tail = stream.feed(body, 0, len(body))
    return body[:tail] + stream.neutralise(body[tail:], lambda node_id, old, port: (host, 19092))


@pytest.mark.parametrize("host", [SAME_LENGTH, ONE_SHORTER, "proxy", "k", "kproxy.example.org"])
@pytest.mark.parametrize("version", [16, 17, 18])
def test_kafka_python(version: int, host: str) -> None:
    """It skips the padding, and reads the endpoints that fit."""
    response = FetchResponse.decode(neutralised(1, version, host, SessionId=0), version=version)
    endpoints = [(node.node_id, node.host, node.port) for node in response.node_endpoints]
    assert endpoints == ([(7, host, 19092)] if len(host) <= len(OLD) else [])


@pytest.mark.parametrize(("key", "name", "version"), [(1, "fetch", 17), (78, "share_fetch", 1)])
@pytest.mark.parametrize("host", [SAME_LENGTH, ONE_SHORTER])
def test_kio(key: int, name: str, version: int, host: str) -> None:
    """It reads what needs no padding; against KIP-482 it refuses any unknown tagged field."""
    reader = entity_reader(load_entity_schema(name, version, EntityType.response))
    extra = {"SessionId": 0} if key == 1 else {"ErrorMessage": None, "AcquisitionLockTimeoutMs": 0}
    response: Any
    response, _ = reader(neutralised(key, version, host, **extra), 0)
    assert [(node.node_id, node.host, node.port) for node in response.node_endpoints] == [(7, host, 19092)]
    with pytest.raises(KeyError, match="Unknown tagged field"):
        reader(neutralised(key, version, "k", **extra), 0)
