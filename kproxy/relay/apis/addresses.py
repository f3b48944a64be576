"""Broker addresses in a response, replaced by what the client is to use; all else stays as the broker wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kproxy.relay.context import Context
from kproxy.relay.routes import Chunk, Respond, Route
from kproxy.wire.apis import response_header_version
from kproxy.wire.header import decode_response_header
from kproxy.wire.skim import BROKER, CONTROLLER, Address, replace_addresses, response_skim

Replace = Callable[[Context, memoryview, int, list[Address]], Sequence[Chunk] | None]
"""Takes the frame, where its body begins, and the addresses in it, of which there is at least one."""


def each(route: Route, replace: Replace) -> Respond:
    """A handler that counts the error codes on the way to the addresses, and has these replaced."""
    skim = response_skim(route.api_key, route.version)
    assert skim is not None, f"api {route.api_key} v{route.version} carries no address"
    flexible = response_header_version(route.api_key, route.version) == 1
    plain_body = 5 if flexible else 4

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        body = plain_body
        if flexible and (len(frame) < body or frame[4]):
            _, body = decode_response_header(frame, 0, len(frame), route.api_key, route.version)
        found = skim(frame, body, len(frame))
        for code in found.errors:
            route.counters.count_error(code)
        return replace(context, frame, body, found.addresses) if found.addresses else None

    return respond


def replace_all(route: Route) -> Respond:
    """For every API of which only the brokers' addresses change."""
    return each(route, _replace)


def replace_and_learn(route: Route) -> Respond:
    """For responses that name all nodes: what they say is learnt before a client can act on it."""
    return each(route, _learn)


def _told(context: Context, address: Address) -> tuple[str, int]:
    """What the client is told in place of an address.

    No controller can be reached through kproxy, and told a broker's port a tool would talk to a broker as if it were
    one. So its name says whose address it stands for and resolves nowhere (RFC 2606); the port stays.
    """
    if address.kind == CONTROLLER:
        return f"controller-{address.node_id}.invalid", address.port
    return context.advertise(address.node_id, address.host, address.port)


def _replace(context: Context, frame: memoryview, body: int, addresses: list[Address]) -> Sequence[Chunk]:
    told = [_told(context, address) for address in addresses]
    return [frame[:body], *replace_addresses(frame, body, len(frame), addresses, told)]


def _learn(context: Context, frame: memoryview, body: int, addresses: list[Address]) -> Sequence[Chunk]:
    brokers = [(address.node_id, address.host, address.port) for address in addresses if address.kind == BROKER]
    if brokers:
        context.backend.learn(None, brokers)
    return _replace(context, frame, body, addresses)
