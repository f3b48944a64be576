"""Follows the orders of other replicas: switches a virtual cluster to the upstream that they have agreed on.

`Cluster` runs it where replicas agree, see `kproxy.cluster.agreement`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.errors import UpstreamError

if TYPE_CHECKING:
    from kproxy.agreement.failover_record import FailoverRecord
    from kproxy.agreement.order import Order
    from kproxy.cluster.switches import Orders, Switches
    from kproxy.cluster.upstreams import Upstream, Upstreams

_LOOK_SECONDS: Final = 3.0
"""For a look at the upstream that is ordered: the switch comes, whatever it shows."""
_AGAIN: Final = 0.2
"""Seconds until an order is looked at again that cannot be followed now."""

log = structlog.get_logger("kproxy.cluster")


class OrderFollower:
    """Has the newest order in force as soon as the epoch's floor allows it."""

    def __init__(
        self,
        cluster: str,
        upstreams: Upstreams,
        switches: Switches,
        orders: Orders,
        adopt: Callable[[FailoverRecord], None],
    ) -> None:
        """`adopt` takes the count of the moves that replicas agree on."""
        self._cluster = cluster
        self._upstreams = upstreams
        self._switches = switches
        self._orders = orders
        self._adopt = adopt

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            order = await self._orders.order_pending()
            upstream = self._upstreams.all.get(order.upstream)
            if upstream is None or self._switches.under_way:
                await trio.sleep(_AGAIN)
            elif upstream is self._upstreams.active:
                self._adopt(order.stay)
                await self._orders.follow(order)
            else:
                with self._switches.alone(at_once=False):
                    await self._obey(order, upstream)

    async def _obey(self, order: Order, upstream: Upstream) -> None:
        snapshot = None
        with trio.move_on_after(_LOOK_SECONDS):
            try:
                snapshot = await upstream.look()
            except UpstreamError as error:
                log.warning("ordered by another replica", cluster=self._cluster, to=upstream.name, reason=str(error))
        await trio.sleep(self._switches.wait)
        if self._orders.pending is order and self._switches.is_known(upstream) and not self._switches.wait:
            await self._switches.switch(upstream, snapshot, order)
