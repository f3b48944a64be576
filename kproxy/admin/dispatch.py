# This module is pure.
"""From a request to its handler: routes are a table; what is not in it is a 404, the wrong method a 405. Pure.

Whatever changes something is refused to pages of other sites that a browser shows (403): the port asks for no password.
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
    """`path` may hold a {name} as a whole segment; GET serves HEAD too; `help` is shown on the index page."""

    method: str
    path: str
    handler: Handler
    help: str

    def match(self, path: str) -> dict[str, str] | None:
        """What stands in the {name}s of the path, or None when this is not its route."""
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
    """The handler, and the request with its segments; raises `HttpError` 403, 404 or 405 (with Allow)."""
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
    """Browsers say which site a page that sends something is of; curl and `kproxy` say nothing."""
    origin, host = request.headers.get("origin"), request.headers.get("host")
    if origin is not None and (not host or origin.partition("://")[2].lower() != host.lower()):
        raise HttpError(HTTPStatus.FORBIDDEN, f"a page of {origin} may not do this")
