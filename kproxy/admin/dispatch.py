# This module is pure (no I/O, no clock).
"""Find the handler of an HTTP request to the admin port: an unknown path is a 404, the wrong method a 405.

`Connection` looks up each request here. The admin port asks for no password. A page of another site could make a
visitor's browser send commands to it, so requests that change something are refused (403) if they come from such a
page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TypeAlias

from kproxy.admin.message import HttpError, Request, Response
from kproxy.admin.view import View

Handler: TypeAlias = Callable[[Request, View], Awaitable[Response]]


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

    def match(self, path: str) -> dict[str, str] | None:
        """The segments at the {name}s of this route, or None when the path does not match."""
        wanted, given = self.path.split("/"), path.split("/")
        if len(wanted) != len(given):
            return None
        segments = {}
        for pattern, segment in zip(wanted, given, strict=True):
            if pattern.startswith("{") and segment:
                segments[pattern[1:-1]] = segment
            elif pattern != segment:
                return None
        return segments


def find(routes: Sequence[Route], request: Request) -> tuple[Handler, Request]:
    """The handler, and the request with its segments filled in; raises `HttpError` 403, 404 or 405 (with Allow)."""
    method = "GET" if request.method == "HEAD" else request.method
    allowed = set()
    for route in routes:
        segments = route.match(request.path)
        if segments is None:
            continue
        if route.method == method:
            if method != "GET":
                _check_origin(request)
            return route.handler, replace(request, segments=segments)
        allowed |= {"GET", "HEAD"} if route.method == "GET" else {route.method}
    if allowed:
        allow = ", ".join(sorted(allowed))
        raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, f"{request.path} allows {allow}", {"Allow": allow})
    raise HttpError(HTTPStatus.NOT_FOUND, f"there is no {request.path}; GET / lists what there is")


def _check_origin(request: Request) -> None:
    """Browsers name the site of the page that sends a request; curl and `kproxy` send no Origin."""
    origin, host = request.headers.get("origin"), request.headers.get("host")
    if origin is not None and (not host or origin.partition("://")[2].lower() != host.lower()):
        raise HttpError(HTTPStatus.FORBIDDEN, f"a page of {origin} may not do this")
