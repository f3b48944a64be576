"""`/api/v1/clusters/{cluster}/telemetry/…`: what clients are to push, who may be asked to push it, and who pushes."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from dataclasses import fields
from http import HTTPStatus
from typing import Final
from uuid import UUID

from kproxy.admin.api import DEFAULT_LIMIT, MAX_LIMIT, cluster_of
from kproxy.admin.commands import carried_out, refusals
from kproxy.admin.message import HttpError, Request, Response, integer, json_fields, json_response
from kproxy.admin.models import InstanceView, SubscriptionView
from kproxy.admin.view import View

_ID_BYTES: Final = 16
_INSTANCE_FIELDS: Final = tuple(field.name for field in fields(InstanceView))


async def subscriptions(request: Request, view: View) -> Response:
    name = cluster_of(view, request.segments["cluster"]).name
    with refusals():
        found = view.subscriptions(name)
    return json_response({"subscriptions": [_shown(subscription) for subscription in found]})


async def subscribe(request: Request, view: View) -> Response:
    """Makes the subscription, or replaces it as a whole: what is not given has its default."""
    name = cluster_of(view, request.segments["cluster"]).name
    given = json_fields(request, {"metrics": list, "interval_ms": int, "match": dict})
    if not given.get("metrics"):
        raise HttpError(HTTPStatus.BAD_REQUEST, 'metrics: prefixes of names are required, ["*"] is all')
    metrics = [prefix or "*" for prefix in given["metrics"]]  # every name has the empty prefix
    order = view.subscribe(name, request.segments["name"], metrics, given.get("interval_ms"), given.get("match", {}))
    return json_response(_shown(await carried_out(order)))


async def unsubscribe(request: Request, view: View) -> Response:
    name = cluster_of(view, request.segments["cluster"]).name
    json_fields(request, {})
    subscription = request.segments["name"]
    await carried_out(view.unsubscribe(name, subscription))
    return json_response({"cluster": name, "name": subscription})


async def instances(request: Request, view: View) -> Response:
    """A page of client instances by rising id; `next` is the `after` of the page that follows, null on the last."""
    name = cluster_of(view, request.segments["cluster"]).name
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    after = request.query.get("after")
    with refusals():
        page = view.instances(name, None if after is None else instance_id(after), limit + 1)
    # Not asdict(): it copies deeply, at ten times the price.
    shown = [{field: getattr(instance, field) for field in _INSTANCE_FIELDS} for instance in page[:limit]]
    return json_response({"instances": shown, "next": shown[-1]["id"] if len(page) > limit else None})


def _shown(subscription: SubscriptionView) -> dict[str, object]:
    return {
        "name": subscription.name,
        "metrics": list(subscription.metrics),
        "interval_ms": subscription.interval_ms,
        "match": dict(subscription.match),
        "fixed": subscription.fixed,
    }


def instance_id(text: str) -> UUID:
    """The id that Kafka prints so: base64url without padding. Raises `HttpError` 400 for what is none."""
    try:
        decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        decoded = b""
    if len(decoded) != _ID_BYTES:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"after={text!r}: what `next` of the page before said is expected")
    return UUID(bytes=decoded)
