"""`/api/v1/clusters/{cluster}/telemetry/…`: the subscriptions of a virtual cluster, and the clients that push.

The admin port calls one of these handlers for each such request, for instance of `kproxy telemetry`.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from dataclasses import fields
from http import HTTPStatus
from typing import Final
from uuid import UUID

from kproxy.admin.api import DEFAULT_LIMIT, MAX_LIMIT, cluster_name
from kproxy.admin.message import HttpError, Request, Response, integer, json_fields, json_response
from kproxy.admin.models import InstanceView, SubscriptionView
from kproxy.admin.view import View

_ID_BYTES: Final = 16
_INSTANCE_FIELDS: Final = tuple(field.name for field in fields(InstanceView))


async def subscriptions(request: Request, view: View) -> Response:
    """All subscriptions, by name."""
    found = view.subscriptions(cluster_name(request, view))
    return json_response({"subscriptions": [_subscription_fields(subscription) for subscription in found]})


async def subscribe(request: Request, view: View) -> Response:
    """Make the subscription, or replace it as a whole: an omitted field gets its default."""
    name = cluster_name(request, view)
    given = json_fields(request, {"metrics": list, "interval_ms": int, "match": dict})
    if not given.get("metrics"):
        raise HttpError(HTTPStatus.BAD_REQUEST, 'metrics: prefixes of names are required, ["*"] is all')
    metrics = [prefix or "*" for prefix in given["metrics"]]  # every name has the empty prefix
    subscription = request.segments["name"]
    made = await view.subscribe(name, subscription, metrics, given.get("interval_ms"), given.get("match", {}))
    return json_response(_subscription_fields(made))


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
    page = view.instances(name, None if after is None else instance_id(after), limit + 1)
    # Not asdict(): it copies deeply, at ten times the price.
    shown = [{field: getattr(instance, field) for field in _INSTANCE_FIELDS} for instance in page[:limit]]
    return json_response({"instances": shown, "next": shown[-1]["id"] if len(page) > limit else None})


def _subscription_fields(subscription: SubscriptionView) -> dict[str, object]:
    return {
        "name": subscription.name,
        "metrics": list(subscription.metrics),
        "interval_ms": subscription.interval_ms,
        "match": dict(subscription.match),
        "fixed": subscription.fixed,
    }


def instance_id(text: str) -> UUID:
    """Parse an id as Kafka prints it, base64url without padding; raises `HttpError` 400 for any other text."""
    try:
        decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        decoded = b""
    if len(decoded) != _ID_BYTES:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"after={text!r}: what `next` of the page before said is expected")
    return UUID(bytes=decoded)
