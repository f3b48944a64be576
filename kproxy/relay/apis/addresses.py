"""Broker addresses in a response, replaced by what the client is to use; all else stays as the broker wrote it."""

from __future__ import annotations

from collections.abc import Sequence

from kproxy.relay.context import Context
from kproxy.relay.routes import Chunk, Route
from kproxy.wire.header import decode_response_header
from kproxy.wire.skim import Address, Skimmed, replace_addresses, response_skim


def skimmed(route: Route, frame: memoryview) -> tuple[int, Skimmed]:
    """Where the body begins and what is in it; its error codes are counted."""
    _, body = decode_response_header(frame, 0, len(frame), route.api_key, route.version)
    skim = response_skim(route.api_key, route.version)
    assert skim is not None, f"api {route.api_key} v{route.version} carries no address"
    found = skim(frame, body, len(frame))
    for code in found.errors:
        route.counters.count_error(code)
    return body, found


def replaced(context: Context, frame: memoryview, body: int, addresses: Sequence[Address]) -> Sequence[Chunk] | None:
    """The frame with each address as the client is told; None when nothing changes."""
    if not addresses:
        return None
    told = [context.advertise(address.node_id, address.host, address.port) for address in addresses]
    return [frame[:body], *replace_addresses(frame, body, len(frame), addresses, told)]


def replace_all(context: Context, route: Route, frame: memoryview) -> Sequence[Chunk] | None:
    """The response handler for every API of which only the brokers' addresses change."""
    body, found = skimmed(route, frame)
    return replaced(context, frame, body, found.addresses)


def replace_and_learn(context: Context, route: Route, frame: memoryview) -> Sequence[Chunk] | None:
    """As `replace_all`, for responses that name all nodes: what they say is learnt before a client can act on it."""
    body, found = skimmed(route, frame)
    if found.addresses:
        context.backend.learn([(address.node_id, address.host, address.port) for address in found.addresses])
    return replaced(context, frame, body, found.addresses)
