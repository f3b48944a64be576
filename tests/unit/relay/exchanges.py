"""Requests with their responses, and what a client reads from the bytes it got."""

from __future__ import annotations

from typing import Any

from kproxy.wire.primitives import INT32
from tests.property.wire_contents import Content
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Script

API_VERSIONS, FETCH, SHARE_FETCH = 18, 1, 78


def asked(key: int, version: int, correlation_id: int) -> bytes:
    """A request whose response is `key` v`version`."""
    return frames.produce(version, correlation_id) if key == 0 else frames.request(key, version, correlation_id)


def exchange(key: int, version: int, response: bytes, correlation_id: int = 1) -> Script:
    return [("client", asked(key, version, correlation_id)), ("broker", response)]


def fetched(key: int, version: int, correlation_id: int, *args: Any) -> bytes:
    make = frames.fetched if key == FETCH else frames.share_fetched
    return make(version, correlation_id, *args)


def ends(content: Content) -> list[frames.Endpoint]:
    """The node endpoints that a client read."""
    return frames.named(content.get("NodeEndpoints", []))


def own(correlation_id: int) -> bytes:
    """A request that the proxy answers itself."""
    return frames.raw_request(API_VERSIONS, 99, correlation_id)


def ids(relay: Relay) -> list[int]:
    """Correlation ids of the frames that the client got, in order."""
    return [INT32.unpack_from(one)[0] for one in frames.split(bytes(relay.client.data))]


def ids_behind(relay: Relay, start: int) -> list[int]:
    """As `ids`, from a position on."""
    return [INT32.unpack_from(one)[0] for one in frames.split(bytes(relay.client.data[start:]))]
