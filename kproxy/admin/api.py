"""`/api/v1`: the virtual clusters, their recent events, the connected clients and their connections, as JSON.

The admin port calls one of these handlers for each request to its path.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Generator, Iterable
from http import HTTPStatus
from typing import Final, TypeAlias

from kproxy.admin.listing import Row, Smallest, list_body, page_body
from kproxy.admin.message import HttpError, Request, Response, choice, integer, json_pieces, json_response
from kproxy.admin.models import ClientView, ConnectionView, Rebootstrap
from kproxy.admin.turns import Turn
from kproxy.admin.view import View, cluster_not_found

DEFAULT_LIMIT: Final = 100
MAX_LIMIT: Final = 1000  # about 400 kB; 12 MB if names are hostile

Identity: TypeAlias = tuple[str, ...]
"""Cluster, host, client id, principal, software name, software version. Each of the last four is "" when it is unknown,
otherwise it begins with "=".
"""

_IDENTITY_PARTS: Final = 6


async def clusters(_request: Request, view: View) -> Response:
    """All virtual clusters."""
    return json_pieces(list_body("clusters", await view.clusters()))


async def cluster(request: Request, view: View) -> Response:
    """One virtual cluster."""
    return json_response(await view.cluster(request.segments["cluster"]))


async def events(request: Request, view: View) -> Response:
    """The last events of a virtual cluster, newest last."""
    name = cluster_name(request, view)
    return json_pieces(list_body("events", view.events(name)))


async def connections(request: Request, view: View) -> Response:
    """A page of connections by rising id; `next` is the `after` of the next page, null on the last.

    Pages stay right while connections come and go, since ids only rise.
    """
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    after = integer(request, "after", 0, 0, 2**63 - 1)
    name = cluster_filter(request, view)
    return json_pieces(page_body("connections", _connection_rows(view.connections(name, after), limit)))


def _connection_rows(
    found: Iterable[ConnectionView | None], limit: int
) -> Generator[ConnectionView | None, None, int | None]:
    last, shown = 0, 0
    for connection in found:
        if connection is not None and shown == limit:
            return last
        if connection is not None:
            last, shown = connection.id, shown + 1
        yield connection
    return None


async def clients(request: Request, view: View) -> Response:
    """A page of clients by identity; `next` is the `after` of the next page, null on the last."""
    wanted = choice(request, "rebootstrap", tuple(Rebootstrap))
    return await page_by_key(
        request,
        "clients",
        lambda: view.clients(cluster_filter(request, view)),
        identity,
        lambda client: wanted in (None, client.rebootstrap),
    )


async def page_by_key(
    request: Request,
    name: str,
    rows: Callable[[], Awaitable[Iterable[Row]]],
    key: Callable[[Row], tuple[str, ...]],
    wanted: Callable[[Row], bool],
    parts_of_key: int = _IDENTITY_PARTS,
) -> Response:
    """A page of the rows that are wanted, by rising key. `rows` is called once `limit` and `after` are known.

    Raises `HttpError` 400 for a `limit` or an `after` that cannot be.
    """
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    after = request.query.get("after")
    cursor = None if after is None else decode_cursor(after, parts_of_key)
    page: Smallest[Row] = Smallest(limit + 1)
    turn = Turn()
    for row in await rows():
        place = key(row)
        if wanted(row) and (cursor is None or place > cursor):
            page.add(place, row)
        await turn.pause()
    first = _page_rows(page, limit)
    return json_pieces(page_body(name, first))


def _page_rows(page: Smallest[Row], limit: int) -> Generator[Row, None, str | None]:
    """The first `limit` of one row more than that; returns the place of the last one if there are more."""
    found = page.sorted()
    for _, row in found[:limit]:
        yield row
    return encode_cursor(found[limit - 1][0]) if len(found) > limit else None


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


def encode_cursor(place: tuple[str, ...]) -> str:
    """An identity, or another sort key, as text for `after`. A client id may hold characters that a URL may not.

    Not in JSON's escapes, of up to twelve bytes a character: a request's head has room for four names of 256.
    """
    text = json.dumps(place, ensure_ascii=False, separators=(",", ":"))
    return urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def decode_cursor(after: str, parts_of_it: int = _IDENTITY_PARTS) -> tuple[str, ...]:
    """The sort key in an `after`; raises `HttpError` 400 for text that was never a `next`."""
    try:
        encoded = urlsafe_b64decode(after + "=" * (-len(after) % 4))
        parts = json.loads(encoded.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        parts = None
    if not (isinstance(parts, list) and len(parts) == parts_of_it and all(isinstance(part, str) for part in parts)):
        raise HttpError(HTTPStatus.BAD_REQUEST, f"after={after!r}: what `next` of the page before said is expected")
    return tuple(parts)
