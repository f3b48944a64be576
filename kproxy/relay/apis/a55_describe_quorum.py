"""DescribeQuorum (55): the controllers' listeners are masked, for no controller can be reached through kproxy.

Told a broker's port instead, a tool would talk to a broker as if it were a controller. The masked name says whose
address it stands for and resolves nowhere (RFC 2606); the port stays.

Version notes: v2 adds the nodes with their listeners (KIP-853).
"""

from collections.abc import Sequence
from typing import Final

from kproxy.relay.apis.addresses import each
from kproxy.relay.context import Context
from kproxy.relay.routes import Chunk, Offer, OnResponse, Respond, Route
from kproxy.wire.skim import Address, replace_addresses

KEY: Final = 55


def mask(route: Route) -> Respond:
    """Each listener's host becomes controller-ID.invalid."""
    return each(route, _mask)


def _mask(context: Context, frame: memoryview, body: int, addresses: list[Address]) -> Sequence[Chunk]:
    del context
    told = [(f"controller-{address.node_id}.invalid", address.port) for address in addresses]
    return [frame[:body], *replace_addresses(frame, body, len(frame), addresses, told)]


OFFER: Final = Offer(on_response=OnResponse.WHOLE, response=mask, response_from=2)
