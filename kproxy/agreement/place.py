"""The interface of a place where orders are kept: a topic of an upstream cluster, or an object of Kubernetes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kproxy.agreement.order import Order


class Place(Protocol):
    """Keeps the orders of one virtual cluster. Each method raises UpstreamError, and no other error."""

    async def follow(self, take: Callable[[Order], None], read: Callable[[], None]) -> None:
        """Hand the highest order that is there to `take`, call `read`, and hand on each that comes, until cancelled.

        An order may come again, and an older one after a newer one.
        """

    async def write(self, order: Order) -> None:
        """Keep an order; an error does not say that it is not there."""
