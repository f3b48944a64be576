"""`/api/v1`: the virtual clusters, what happened to them, and the client connections, as JSON."""

from __future__ import annotations

from dataclasses import asdict, fields
from http import HTTPStatus
from itertools import dropwhile, islice
from typing import Final

from kproxy.admin.message import HttpError, Request, Response, json_response
from kproxy.admin.models import ClusterView, ConnectionView
from kproxy.admin.parameters import integer
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
