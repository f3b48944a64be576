# This module is pure and compiled.
"""Broker addresses in a response, replaced by what the client is to use; all else stays as the broker wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kproxy.protocol.api_table import Chunk, Respond, Route
from kproxy.protocol.context import Context
from kproxy.wire.apis import response_header_version
from kproxy.wire.header import decode_response_header
from kproxy.wire.skim import CONTROLLER, Address, Skimmed, replace_addresses, response_skim

Replace = Callable[[Context, memoryview, int, Skimmed], Sequence[Chunk] | None]
"""Takes the frame, where its body begins, and what was found in it."""


def each(route: Route, replace: Replace, *, always: bool = False) -> Respond:
    """A handler that counts the error codes on the way to the addresses, and has these replaced.

    `always` also where there is none.
    """
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
        return replace(context, frame, body, found) if found.addresses or always else None

    return respond


def replace_all(route: Route) -> Respond:
    """For every API of which only the brokers' addresses change."""
    return each(route, replaced)


def _told(context: Context, address: Address) -> tuple[str, int]:
    """What the client is told in place of an address.

    No controller can be reached through kproxy, and told a broker's port a tool would talk to a broker as if it were
    one. So its name says whose address it stands for and resolves nowhere (RFC 2606); the port stays.
    """
    if address.kind == CONTROLLER:
        return f"controller-{address.node_id}.invalid", address.port
    return context.advertise(address.node_id, address.host, address.port)


def replaced(context: Context, frame: memoryview, body: int, found: Skimmed) -> list[Chunk]:
    """The frame, its addresses as the client is told them."""
    told = [_told(context, address) for address in found.addresses]
    return [frame[:body], *replace_addresses(frame, body, len(frame), found.addresses, told)]
