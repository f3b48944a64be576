"""`/api/v1`: the virtual clusters, their recent events, the connected clients and their connections, as JSON.

The admin port calls one of these handlers for each request to its path.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict, fields
from heapq import nsmallest
from http import HTTPStatus
from itertools import dropwhile, islice
from typing import Final, TypeAlias

from kproxy.admin.message import HttpError, Request, Response, choice, integer, json_response
from kproxy.admin.models import ClientView, ConnectionView, Rebootstrap
from kproxy.admin.view import View, cluster_not_found

DEFAULT_LIMIT: Final = 100
MAX_LIMIT: Final = 1000  # about 400 kB and 5 ms

Identity: TypeAlias = tuple[str, ...]
"""Cluster, host, client id, principal, software name, software version. Each of the last four is "" when it is unknown,
otherwise it begins with "=".
"""

_IDENTITY_PARTS: Final = 6
_CLIENT_FIELDS: Final = tuple(field.name for field in fields(ClientView))
_CONNECTION_FIELDS: Final = tuple(field.name for field in fields(ConnectionView))


async def clusters(_request: Request, view: View) -> Response:
    """All virtual clusters."""
    return json_response({"clusters": [asdict(cluster) for cluster in view.clusters()]})


async def cluster(request: Request, view: View) -> Response:
    """One virtual cluster."""
    return json_response(asdict(view.cluster(request.segments["cluster"])))


async def events(request: Request, view: View) -> Response:
    """The last events of a virtual cluster, newest last."""
    name = cluster_name(request, view)
    return json_response({"events": [asdict(event) for event in view.events(name)]})


async def connections(request: Request, view: View) -> Response:
    """A page of connections by rising id; `next` is the `after` of the next page, null on the last.

    Pages stay right while connections come and go, since ids only rise.
    """
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    after = integer(request, "after", 0, 0, 2**63 - 1)
    name = cluster_filter(request, view)
    later = dropwhile(lambda connection: connection.id <= after, view.connections(name))
    page = list(islice(later, limit + 1))
    # Not asdict(): it copies deeply, at ten times the price.
    shown = [{field: getattr(connection, field) for field in _CONNECTION_FIELDS} for connection in page[:limit]]
    return json_response({"connections": shown, "next": shown[-1]["id"] if len(page) > limit else None})


async def clients(request: Request, view: View) -> Response:
    """A page of clients by identity; `next` is the `after` of the next page, null on the last."""
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    wanted = choice(request, "rebootstrap", tuple(Rebootstrap))
    after = request.query.get("after")
    cursor = None if after is None else decode_cursor(after)
    name = cluster_filter(request, view)
    found = ((identity(client), client) for client in view.clients(name) if wanted in (None, client.rebootstrap))
    later = (pair for pair in found if cursor is None or pair[0] > cursor)
    page = nsmallest(limit + 1, later, key=lambda pair: pair[0])
    # Not asdict(): it copies deeply, at ten times the price.
    shown = [{field: getattr(client, field) for field in _CLIENT_FIELDS} for _, client in page[:limit]]
    return json_response({"clients": shown, "next": encode_cursor(page[limit - 1][0]) if len(page) > limit else None})


def cluster_name(request: Request, view: View) -> str:
    """The virtual cluster that the path names; raises `NotFoundError` when it does not exist."""
    return _existing(view, request.segments["cluster"])


def cluster_filter(request: Request, view: View) -> str | None:
    """The virtual cluster of `?cluster=NAME`, None without it; raises `NotFoundError` when it does not exist."""
    name = request.query.get("cluster")
    return None if name is None else _existing(view, name)


def _existing(view: View, name: str) -> str:
    names = view.cluster_names()
    if name not in names:
        raise cluster_not_found(name, names)
    return name


def identity(client: ClientView) -> Identity:
    """The sort key of pages: unlike a position, it stays right while clients come and go."""
    optional = (client.client_id, client.principal, client.software_name, client.software_version)
    return client.cluster, client.host, *("" if part is None else f"={part}" for part in optional)


def encode_cursor(place: Identity) -> str:
    """An identity as text for `after`. A client id may hold characters that a URL may not."""
    return urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def decode_cursor(after: str) -> Identity:
    """The identity in an `after`; raises `HttpError` 400 for text that was never a `next`."""
    try:
        parts = json.loads(urlsafe_b64decode(after + "=" * (-len(after) % 4)))
    except (ValueError, RecursionError):
        parts = None
    if not (isinstance(parts, list) and len(parts) == _IDENTITY_PARTS and all(isinstance(part, str) for part in parts)):
        raise HttpError(HTTPStatus.BAD_REQUEST, f"after={after!r}: what `next` of the page before said is expected")
    return tuple(parts)
