"""`/api/v1/transactions`: the transactional ids that are at work, as JSON.

The admin port calls this handler for each such request, for instance of `kproxy transactions`.
"""

from __future__ import annotations

from typing import Final

from kproxy.admin.api import cluster_filter, page_by_key
from kproxy.admin.message import Request, Response, choice, flag
from kproxy.admin.models import TransactionalIdView
from kproxy.admin.view import View
from kproxy.transactions.transactional_id import State

_KEY_PARTS: Final = 2


async def transactions(request: Request, view: View) -> Response:
    """A page by virtual cluster and id; `next` is the `after` of the next page, null on the last."""
    state, fenced = choice(request, "state", tuple(State)), flag(request, "fenced")
    return await page_by_key(
        request,
        "transactions",
        lambda: view.transactions(cluster_filter(request, view)),
        _key,
        lambda one: state in (None, one.state) and bool(one.fencings or not fenced),
        _KEY_PARTS,
    )


def _key(one: TransactionalIdView) -> tuple[str, str]:
    return one.cluster, one.transactional_id
