# This module is pure (no I/O, no clock).
"""Find the handler of an HTTP request to the admin port: an unknown path is a 404, the wrong method a 405.

`Connection` looks up each request here. A request that changes something is refused (403) if a browser sent it for a
page of another site (`origin`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from http import HTTPStatus
from typing import TypeAlias
from urllib.parse import unquote

from kproxy.admin.message import HttpError, Request, Response
from kproxy.admin.origin import check_page
from kproxy.admin.view import View

Handler: TypeAlias = Callable[[Request, View], Awaitable[Response]]


class Room(Enum):
    """What a request takes the room of: each kind has its own, so that none keeps another out."""

    PROBE = "a probe"
    """Answered at once, whatever else goes on."""
    PAGE = "a page"
    COMMAND = "a command"


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path, and the handler that answers them."""

    method: str
    """A GET route serves HEAD too."""
    path: str
    """A whole segment may be a {name}."""
    handler: Handler
    help: str
    """One line for the index page."""
    probe: bool = False

    @property
    def room(self) -> Room:
        """The kind of its requests."""
        if self.probe:
            return Room.PROBE
        return Room.PAGE if self.method == "GET" else Room.COMMAND

    def match(self, path: str) -> dict[str, str] | None:
        """The segments at the {name}s of this route, or None when the path does not match; one may hold a `/` (%2F)."""
        wanted, given = self.path.split("/"), [unquote(segment) for segment in path.split("/")]
        if len(wanted) != len(given):
            return None
        segments = {}
        for pattern, segment in zip(wanted, given, strict=True):
            if pattern.startswith("{") and segment:
                segments[pattern[1:-1]] = segment
            elif pattern != segment:
                return None
        return segments


def find(routes: Sequence[Route], request: Request, hosts: Collection[str] = ()) -> tuple[Route, Request]:
    """The route, and the request with its segments filled in; raises `HttpError` 403, 404 or 405 (with Allow).

    `hosts` are kproxy's own names, as for `check_page`.
    """
    method = "GET" if request.method == "HEAD" else request.method
    allowed = set()
    for route in routes:
        segments = route.match(request.path)
        if segments is None:
            continue
        if route.method == method:
            if route.room is Room.COMMAND:
                check_page(request, hosts)
            return route, replace(request, segments=segments)
        allowed |= {"GET", "HEAD"} if route.method == "GET" else {route.method}
    if allowed:
        allow = ", ".join(sorted(allowed))
        raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, f"{unquote(request.path)} allows {allow}", {"Allow": allow})
    raise HttpError(HTTPStatus.NOT_FOUND, f"there is no {unquote(request.path)}; GET / lists what there is")
