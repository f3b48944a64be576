"""Shows to the admin port what a virtual cluster's replicas agree on, as this one has read it.

`ProcessView` calls it for /api/v1/clusters and /metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproxy.admin.inventory import time_shown
from kproxy.admin.models import AgreementView, PlaceView
from kproxy.observe.counters import OrderCounters

if TYPE_CHECKING:
    from kproxy.cluster.agreement import Agreement


def agreement_view(agreement: Agreement | None) -> AgreementView | None:
    """Return the newest order, and what is known of the places that keep it."""
    if agreement is None:
        return None
    order = agreement.agreed.newest
    return AgreementView(
        order=None if order is None else order.number,
        upstream=None if order is None else order.upstream,
        replica=None if order is None else order.replica,
        this_replica=agreement.replica,
        at=None if order is None else time_shown(order.at),
        cause=None if order is None else order.cause,
        pending=agreement.pending is not None,
        places=[
            PlaceView(name, copy.read, copy.error, None if copy.newest is None else copy.newest.number)
            for name, copy in agreement.agreed.copies.items()
        ],
    )


def order_counters(agreement: Agreement | None) -> OrderCounters | None:
    """Return the numbers for /metrics."""
    if agreement is None:
        return None
    newest = agreement.agreed.newest
    places = {name: copy.read for name, copy in agreement.agreed.copies.items()}
    return OrderCounters(0 if newest is None else newest.number, agreement.pending is not None, places)
