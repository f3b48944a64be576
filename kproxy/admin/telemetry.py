"""`/api/v1/clusters/{cluster}/telemetry/…`: the subscriptions of a virtual cluster, and the clients that push.

The admin port calls one of these handlers for each such request, for instance of `kproxy telemetry`.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from http import HTTPStatus
from typing import Final
from uuid import UUID

from kproxy.admin.api import DEFAULT_LIMIT, MAX_LIMIT, cluster_name
from kproxy.admin.listing import first_rows, list_body, page_body
from kproxy.admin.message import HttpError, Request, Response, integer, json_fields, json_pieces, json_response
from kproxy.admin.models import InstanceView
from kproxy.admin.view import View

_ID_BYTES: Final = 16


async def subscriptions(request: Request, view: View) -> Response:
    """All subscriptions, by name."""
    found = view.subscriptions(cluster_name(request, view))
    return json_pieces(list_body("subscriptions", found))


async def subscribe(request: Request, view: View) -> Response:
    """Make the subscription, or replace it as a whole: an omitted field gets its default."""
    name = cluster_name(request, view)
    given = json_fields(request, {"metrics": list, "interval_ms": int, "match": dict})
    if not given.get("metrics"):
        raise HttpError(HTTPStatus.BAD_REQUEST, 'metrics: prefixes of names are required, ["*"] is all')
    metrics = [prefix or "*" for prefix in given["metrics"]]  # every name has the empty prefix
    subscription = request.segments["name"]
    made = await view.subscribe(name, subscription, metrics, given.get("interval_ms"), given.get("match", {}))
    return json_response(made)


async def unsubscribe(request: Request, view: View) -> Response:
    """Delete a subscription."""
    name = cluster_name(request, view)
    json_fields(request, {})
    subscription = request.segments["name"]
    await view.unsubscribe(name, subscription)
    return json_response({"cluster": name, "name": subscription})


async def instances(request: Request, view: View) -> Response:
    """A page of client instances by rising id; `next` is the `after` of the next page, null on the last."""
    name = cluster_name(request, view)
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    after = request.query.get("after")
    found = await view.instances(name, None if after is None else instance_id(after), limit + 1)
    rows = first_rows(found, limit, _place)
    return json_pieces(page_body("instances", rows))


def _place(instance: InstanceView) -> str:
    return instance.id


def instance_id(text: str) -> UUID:
    """Parse an id as Kafka prints it, base64url without padding; raises `HttpError` 400 for any other text."""
    try:
        decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        decoded = b""
    if len(decoded) != _ID_BYTES:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"after={text!r}: what `next` of the page before said is expected")
    return UUID(bytes=decoded)
