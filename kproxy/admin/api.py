"""`/api/v1`: the virtual clusters, what happened to them, and the client connections, as JSON."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict, fields
from heapq import nsmallest
from http import HTTPStatus
from itertools import dropwhile, islice
from typing import Final, TypeAlias

from kproxy.admin.message import HttpError, Request, Response, choice, integer, json_response
from kproxy.admin.models import ClientView, ClusterView, ConnectionView, Rebootstrap
from kproxy.admin.view import View

DEFAULT_LIMIT: Final = 100
MAX_LIMIT: Final = 1000  # about 400 kB and 5 ms

_CONNECTION_FIELDS: Final = tuple(field.name for field in fields(ConnectionView))


def cluster_of(view: View, name: str) -> ClusterView:
    """The virtual cluster of this name; raises `HttpError` 404 that names those there are."""
    clusters = {cluster.name: cluster for cluster in view.clusters()}
    if name not in clusters:
        known = ", ".join(sorted(clusters)) or "none"
        raise HttpError(HTTPStatus.NOT_FOUND, f"there is no cluster {name!r}; there are: {known}")
    return clusters[name]


async def clusters(_request: Request, view: View) -> Response:
    return json_response({"clusters": [asdict(cluster) for cluster in view.clusters()]})


async def cluster(request: Request, view: View) -> Response:
    return json_response(asdict(cluster_of(view, request.segments["cluster"])))


async def events(request: Request, view: View) -> Response:
    name = cluster_of(view, request.segments["cluster"]).name
    return json_response({"events": [asdict(event) for event in view.events(name)]})


async def connections(request: Request, view: View) -> Response:
    """A page of connections by rising id; `next` is the `after` of the page that follows, null on the last.

    Pages stay right while connections come and go, since ids only rise.
    """
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    after = integer(request, "after", 0, 0, 2**63 - 1)
    name = request.query.get("cluster")
    if name is not None:
        cluster_of(view, name)
    later = dropwhile(lambda connection: connection.id <= after, view.connections(name))
    page = list(islice(later, limit + 1))
    # Not asdict(): it copies deeply, at ten times the price.
    shown = [{field: getattr(connection, field) for field in _CONNECTION_FIELDS} for connection in page[:limit]]
    return json_response({"connections": shown, "next": shown[-1]["id"] if len(page) > limit else None})


Identity: TypeAlias = tuple[str, ...]
"""Cluster, host, client id, principal, software name and version; each of the last four marked as there."""

_PARTS: Final = 6
_FIELDS: Final = tuple(field.name for field in fields(ClientView))


def identity(client: ClientView) -> Identity:
    """What pages are sorted by: unlike positions it stays right while clients come and go."""
    said = (client.client_id, client.principal, client.software_name, client.software_version)
    return client.cluster, client.host, *("" if part is None else f"={part}" for part in said)


def written(place: Identity) -> str:
    """An identity as `after` takes it: client ids may hold anything, which a URL may not."""
    return urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def read(after: str) -> Identity:
    """The identity of an `after`; raises `HttpError` 400 for text that never was a `next`."""
    try:
        parts = json.loads(urlsafe_b64decode(after + "=" * (-len(after) % 4)))
    except (ValueError, RecursionError):
        parts = None
    if not (isinstance(parts, list) and len(parts) == _PARTS and all(isinstance(part, str) for part in parts)):
        raise HttpError(HTTPStatus.BAD_REQUEST, f"after={after!r}: what `next` of the page before said is expected")
    return tuple(parts)


async def clients(request: Request, view: View) -> Response:
    """A page of clients by identity; `next` is the `after` of the page that follows, null on the last."""
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    wanted = choice(request, "rebootstrap", tuple(Rebootstrap))
    after = request.query.get("after")
    place = None if after is None else read(after)
    name = request.query.get("cluster")
    if name is not None:
        cluster_of(view, name)
    found = ((identity(client), client) for client in view.clients(name) if wanted in (None, client.rebootstrap))
    later = (pair for pair in found if place is None or pair[0] > place)
    page = nsmallest(limit + 1, later, key=lambda pair: pair[0])
    # Not asdict(): it copies deeply, at ten times the price.
    shown = [{field: getattr(client, field) for field in _FIELDS} for _, client in page[:limit]]
    return json_response({"clients": shown, "next": written(page[limit - 1][0]) if len(page) > limit else None})
