# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Replaces broker addresses in a response by those the client is to use; all else stays as the broker wrote it.

`address_policies` makes its handlers with it. They run for each response of an API whose responses name brokers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kproxy.protocol.api_table import Chunk, Respond, Route
from kproxy.protocol.context import Context
from kproxy.wire.apis import response_header_version
from kproxy.wire.header import decode_response_header
from kproxy.wire.skim import CONTROLLER, Address, Skimmed, replace_addresses, response_skim

Replace = Callable[[Context, memoryview, int, Skimmed], Sequence[Chunk] | None]
"""Takes the frame, the position of its body, and what was found in it; returns the chunks to send, None to leave it."""


def each(route: Route, replace: Replace, *, always: bool = False) -> Respond:
    """Return a handler that has the addresses replaced.

    With `always`, `replace` is also called for a response without addresses.
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
        return replace(context, frame, body, found) if found.addresses or always else None

    return respond


def replace_all(route: Route) -> Respond:
    """Make the handler of an API whose responses change only in the brokers' addresses."""
    return each(route, replaced)


def _advertised(context: Context, address: Address) -> tuple[str, int]:
    """Return the host and port that the client gets in place of an address.

    No controller can be reached through kproxy. With a broker's port in its place, a tool would talk to a broker as
    if it were a controller. So its host becomes a name that says which controller it is and resolves nowhere
    (RFC 2606); the port stays.
    """
    if address.kind == CONTROLLER:
        return f"controller-{address.node_id}.invalid", address.port
    return context.advertise(address.node_id, address.host, address.port)


def replaced(context: Context, frame: memoryview, body: int, found: Skimmed) -> list[Chunk]:
    """Return the frame with the addresses that the client is to use."""
    advertised = [_advertised(context, address) for address in found.addresses]
    return [frame[:body], *replace_addresses(frame, body, len(frame), found.addresses, advertised)]
