"""DescribeQuorum (55): the controllers' listeners are masked, for no controller can be reached through kproxy.

Told a broker's port instead, a tool would talk to a broker as if it were a controller. The masked name says whose
address it stands for and resolves nowhere (RFC 2606); the port stays.

Version notes: v2 adds the nodes with their listeners (KIP-853).
"""

from collections.abc import Sequence
from typing import Final

from kproxy.relay.apis.addresses import skimmed
from kproxy.relay.context import Context
from kproxy.relay.routes import Chunk, Offer, OnResponse, Route
from kproxy.wire.skim import replace_addresses

KEY: Final = 55


def mask(context: Context, route: Route, frame: memoryview) -> Sequence[Chunk] | None:
    """Each listener's host becomes controller-ID.invalid."""
    body, found = skimmed(route, frame)
    if not found.addresses:
        return None
    told = [(f"controller-{address.node_id}.invalid", address.port) for address in found.addresses]
    return [frame[:body], *replace_addresses(frame, body, len(frame), found.addresses, told)]


OFFER: Final = Offer(on_response=OnResponse.WHOLE, response=mask, response_from=2)
